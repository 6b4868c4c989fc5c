//! The waiting operations: a queue for each length of moduli, in it a line for each principal, served in
//! turns.

use crate::turns::Turns;
use crate::{Call, Caller, Class, Piece, Refused};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Seconds of work.
    pub seconds: f64,
    /// Calls.
    pub calls: usize,
}

impl Room {
    /// Room without a bound.
    pub const ENDLESS: Self = Self { seconds: f64::INFINITY, calls: usize::MAX };
}

/// A call of which items wait.
struct Waiting<C: Caller> {
    call: Arc<Call<C>>,
    /// The first item that waits.
    next: usize,
    /// The number of items of the call.
    end: usize,
    /// Seconds of work that the call counts for while it waits.
    charge: f64,
}

/// The queue of one class.
struct Queue<C: Caller> {
    lines: Turns<Waiting<C>>,
    items: usize,
    /// The turn in which the queue was last served.
    served: u64,
    /// Items that are computed.
    computing: usize,
    crowd: Crowd,
    /// Whether the items are left to the GPU.
    is_for_gpu: bool,
}

impl<C: Caller> Default for Queue<C> {
    fn default() -> Self {
        let (lines, items, served, computing, crowd, is_for_gpu) = Default::default();
        Self { lines, items, served, computing, crowd, is_for_gpu }
    }
}

/// Seconds in which a crowd is forgotten. Answered clients ask again within that time.
const FORGOTTEN: f64 = 0.02;

/// The most items of a class that waited or were computed at the same time, of late.
#[derive(Default)]
struct Crowd {
    items: f64,
    last: Option<Instant>,
}

impl Crowd {
    /// Counts `items` that are there now, and returns the most of late.
    fn see(&mut self, items: usize, now: Instant) -> usize {
        let passed = self.last.map_or(f64::INFINITY, |last| (now - last).as_secs_f64());
        self.last = Some(now);
        self.items = (self.items * (-passed / FORGOTTEN).exp()).max(items as f64);
        self.items as usize
    }
}

/// The operations that leave a queue together.
pub struct Taken<C: Caller> {
    /// The operations.
    pub pieces: Vec<Piece<C>>,
    /// Their number.
    pub items: usize,
    /// Calls that are late, and were not taken.
    pub late: Vec<Arc<Call<C>>>,
}

impl<C: Caller> Default for Taken<C> {
    fn default() -> Self {
        Self { pieces: Vec::new(), items: 0, late: Vec::new() }
    }
}

/// All queues.
pub struct Queues<C: Caller> {
    classes: BTreeMap<Class, Queue<C>>,
    /// Seconds of work that each principal has waiting.
    principals: HashMap<String, f64>,
    seconds: f64,
    calls: usize,
    turn: u64,
    /// Whether no more calls are taken.
    pub is_draining: bool,
    /// Threads of the CPU that wait for work.
    pub idle: usize,
    /// Threads of the GPU that wait for work.
    pub idle_gpu: usize,
}

impl<C: Caller> Default for Queues<C> {
    fn default() -> Self {
        Self {
            classes: BTreeMap::new(),
            principals: HashMap::new(),
            seconds: 0.0,
            calls: 0,
            turn: 0,
            is_draining: false,
            idle: 0,
            idle_gpu: 0,
        }
    }
}

impl<C: Caller> Queues<C> {
    /// Adds a call of `charge` seconds of work, or says when to try again.
    ///
    /// Where the room is full, a principal that has less than its share of it may still use as much again:
    /// one that asks for little is served while others ask for too much.
    pub fn push(&mut self, class: Class, call: Arc<Call<C>>, charge: f64, room: Room) -> Result<(), Refused> {
        if self.is_draining {
            return Err(Refused::Draining);
        }
        let principal = call.caller.principal();
        let own = self.principals.get(principal).copied();
        let principals = self.principals.len() + usize::from(own.is_none());
        let is_full = |seconds: f64, calls: usize| self.seconds >= seconds || self.calls >= calls;
        let is_modest = own.unwrap_or(0.0) < room.seconds / principals as f64;
        if is_full(room.seconds, room.calls)
            && (!is_modest || is_full(2.0 * room.seconds, room.calls.saturating_mul(2)))
        {
            let wait = (self.seconds - room.seconds / 2.0).clamp(0.01, 10.0);
            return Err(Refused::Overloaded(Duration::from_millis((1e3 * wait) as u64)));
        }
        let queue = self.classes.entry(class).or_default();
        let end = call.work.items();
        match self.principals.get_mut(principal) {
            Some(own) => *own += charge,
            None => drop(self.principals.insert(principal.to_owned(), charge)),
        }
        queue.lines.line(principal).push_back(Waiting { call: Arc::clone(&call), next: 0, end, charge });
        queue.items += end;
        self.seconds += charge;
        self.calls += 1;
        Ok(())
    }

    /// Decides whether the items of a class are left to the GPU, by `is_for_gpu` of how many there are and of
    /// who took them so far. The second answer is whether that changed.
    pub fn decide(
        &mut self,
        class: Class,
        now: Instant,
        is_for_gpu: impl FnOnce(usize, bool) -> bool,
    ) -> (bool, bool) {
        let queue = self.classes.entry(class).or_default();
        let before = queue.is_for_gpu;
        queue.is_for_gpu = is_for_gpu(queue.crowd.see(queue.items + queue.computing, now), before);
        (queue.is_for_gpu, queue.is_for_gpu != before)
    }

    /// Items that were taken are computed.
    pub fn computed(&mut self, class: Class, items: usize) {
        if let Some(queue) = self.classes.get_mut(&class) {
            queue.computing = queue.computing.saturating_sub(items);
        }
    }

    /// Whether the items of a class are left to the GPU. The last ones of a service that ends are not.
    #[must_use]
    pub fn is_for_gpu(&self, class: Class) -> bool {
        !self.is_draining && self.classes.get(&class).is_some_and(|queue| queue.is_for_gpu)
    }

    /// The class that has waited longest for a worker, of those with at least `least(class)` items.
    #[must_use]
    pub fn next_class(&self, least: impl Fn(Class) -> usize) -> Option<Class> {
        let ready = self.classes.iter().filter(|(class, queue)| queue.items >= least(**class).max(1));
        ready.min_by_key(|(_, queue)| queue.served).map(|(class, _)| *class)
    }

    /// Items of a class that wait.
    #[must_use]
    pub fn items(&self, class: Class) -> usize {
        self.classes.get(&class).map_or(0, |queue| queue.items)
    }

    /// The calls that wait, class by class.
    pub fn calls(&self) -> impl Iterator<Item = &Arc<Call<C>>> {
        self.classes.values().flat_map(|queue| queue.lines.items()).map(|waiting| &waiting.call)
    }

    /// The number of calls that wait, and seconds of work.
    #[must_use]
    pub fn depth(&self) -> (usize, f64) {
        (self.calls, self.seconds)
    }

    /// Takes at most `most` items of a class: from every principal in turn `quantum` of them, or its share if
    /// that is more.
    pub fn take(&mut self, class: Class, most: usize, quantum: usize, now: Instant) -> Taken<C> {
        let mut taken = Taken::default();
        self.turn += 1;
        let Some(queue) = self.classes.get_mut(&class) else { return taken };
        queue.served = self.turn;
        let quantum = quantum.max(most / queue.lines.principals().max(1)).max(1);
        let mut left = Vec::new();
        while taken.items < most
            && let Some(mut line) = queue.lines.next_line()
        {
            let before = taken.items;
            let quota = quantum.min(most - taken.items);
            while taken.items - before < quota
                && let Some(waiting) = line.items.front_mut()
            {
                let is_late = waiting.call.caller.is_late(now);
                if is_late || !waiting.call.is_wanted() {
                    queue.items -= waiting.end - waiting.next;
                    waiting.next = waiting.end;
                    if is_late {
                        taken.late.push(Arc::clone(&waiting.call));
                    }
                } else {
                    let count = (waiting.end - waiting.next).min(quota - (taken.items - before));
                    let items = waiting.next..waiting.next + count;
                    taken.pieces.push(Piece { call: Arc::clone(&waiting.call), items });
                    waiting.next += count;
                    taken.items += count;
                    queue.items -= count;
                }
                if waiting.next == waiting.end
                    && let Some(gone) = line.items.pop_front()
                {
                    left.push((line.principal.clone(), gone.charge));
                }
            }
            queue.lines.put_back(line);
        }
        queue.computing += taken.items;
        for (principal, charge) in left {
            self.leave(&principal, charge);
        }
        taken
    }

    fn leave(&mut self, principal: &str, charge: f64) {
        self.calls -= 1;
        // Sums of rounded numbers: nothing is left when nothing waits.
        self.seconds = if self.calls == 0 { 0.0 } else { (self.seconds - charge).max(0.0) };
        if let Some(own) = self.principals.get_mut(principal) {
            *own -= charge;
            if *own <= 1e-9 || self.calls == 0 {
                self.principals.remove(principal);
            }
        }
    }
}

#[cfg(test)]
mod tests;
