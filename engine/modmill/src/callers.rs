//! Calls of several threads under way at the same time, and the batches that they are joined into.
//!
//! A device takes about as long for some dozen items as for some thousand. So small calls of the same shape
//! that come while others run are joined: one of their threads computes them all as one batch and hands out
//! the answers.
//!
//! A call starts at once if it has at least an eighth of the items that run, so on an idle device always.
//! Otherwise it waits with others until together they have a third, at the latest until what runs has ended.
//! So about four batches share a device, each with a quarter of the items, and a new call waits for a part of
//! a batch's time only.

pub(crate) mod blocks;
pub(crate) mod jobs;
pub(crate) mod load;
pub(crate) mod small;

use modmill_core::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Calls start together when they have at least an eighth of the items that run. Fewer let a device idle, and
/// many more fill its eight queues, of which a batch uses two; measured on an H200 with 64 callers.
const PART_OF_RUNNING: usize = 8;

/// Limbs of the operands of a call that may be joined with others, at most: longer calls fill a device by
/// themselves.
pub(crate) const CALL_LIMBS: usize = 1 << 17;

/// Limbs of the operands of calls that are joined. With more, they start whatever runs.
pub(crate) const JOINED_LIMBS: usize = 1 << 22;

/// Calls under way, by shape: calls of the same shape can be computed as one batch. `Part` is what a call
/// brings, and `Answer` what it gets.
pub(crate) struct Callers<Shape: Hash + Eq + Clone, Part, Answer>(Arc<Lanes<Shape, Part, Answer>>);

struct Lanes<Shape: Hash + Eq + Clone, Part, Answer>(Mutex<HashMap<Shape, Lane<Shape, Part, Answer>>>);

/// The calls of one shape.
struct Lane<Shape: Hash + Eq + Clone, Part, Answer> {
    /// Items that run.
    running: usize,
    /// Items that wait.
    waiting: usize,
    /// Items with which waiting calls start, whatever runs.
    most: usize,
    calls: Vec<Call<Shape, Part, Answer>>,
}

/// A call that waits.
struct Call<Shape: Hash + Eq + Clone, Part, Answer> {
    part: Part,
    sender: Sender<Turn<Shape, Part, Answer>>,
}

/// The answer to a waiting call. A call that gets none, because its leader failed, computes alone.
enum Turn<Shape: Hash + Eq + Clone, Part, Answer> {
    /// It computes this group, in which it is the last call.
    Lead(Group<Shape, Part, Answer>),
    /// Another one computed it.
    Answer(Answer),
}

/// Calls that are computed as one batch.
struct Group<Shape: Hash + Eq + Clone, Part, Answer> {
    calls: Vec<Call<Shape, Part, Answer>>,
    running: Running<Shape, Part, Answer>,
}

/// Items that run. Dropping it starts the calls that waited for their end.
pub(crate) struct Running<Shape: Hash + Eq + Clone, Part, Answer> {
    lanes: Arc<Lanes<Shape, Part, Answer>>,
    shape: Shape,
    items: usize,
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Default for Callers<Shape, Part, Answer> {
    fn default() -> Self {
        Self(Arc::new(Lanes(Mutex::default())))
    }
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Default for Lane<Shape, Part, Answer> {
    fn default() -> Self {
        Self { running: 0, waiting: 0, most: usize::MAX, calls: Vec::new() }
    }
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Callers<Shape, Part, Answer> {
    /// Lets a call of `items` items start alone; `None` if it has to wait.
    pub(crate) fn start(&self, shape: &Shape, items: usize) -> Option<Running<Shape, Part, Answer>> {
        let mut lanes = self.0.lock();
        let lane = lanes.entry(shape.clone()).or_default();
        let starts = lane.calls.is_empty() && lane.is_enough(items);
        starts.then(|| {
            lane.running += items;
            Running { lanes: self.0.clone(), shape: shape.clone(), items }
        })
    }

    /// Computes a call of `items` items together with others, by `compute` of one of them: it takes the parts
    /// of all and returns their answers, in the same order. Calls that have `most` items together do not
    /// wait.
    ///
    /// Returns `None` if `compute` failed. The call then has to be computed alone, and so have the others.
    pub(crate) fn join(
        &self,
        shape: &Shape,
        items: usize,
        most: usize,
        part: Part,
        compute: impl FnOnce(Vec<Part>) -> Option<Vec<Answer>>,
    ) -> Option<Answer> {
        let (sender, receiver) = channel();
        let group = {
            let mut lanes = self.0.lock();
            let lane = lanes.entry(shape.clone()).or_default();
            lane.calls.push(Call { part, sender });
            lane.waiting += items;
            lane.most = most;
            self.0.next_group(shape, lane)
        };
        let Group { calls, running } =
            match group.map_or_else(|| receiver.recv(), |group| Ok(Turn::Lead(group))) {
                Ok(Turn::Lead(group)) => group,
                Ok(Turn::Answer(answer)) => return Some(answer),
                Err(_) => return None,
            };
        let (parts, senders): (Vec<Part>, Vec<_>) =
            calls.into_iter().map(|call| (call.part, call.sender)).unzip();
        let answers = compute(parts);
        drop(running);
        let mut answers = answers?;
        let own = answers.pop();
        for (sender, answer) in senders.into_iter().zip(answers) {
            // A call that does not listen any more needs no answer.
            let _ = sender.send(Turn::Answer(answer));
        }
        own
    }
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Lanes<Shape, Part, Answer> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Shape, Lane<Shape, Part, Answer>>> {
        self.0.lock()
    }

    /// The calls that wait, if they start now.
    fn next_group(
        self: &Arc<Self>,
        shape: &Shape,
        lane: &mut Lane<Shape, Part, Answer>,
    ) -> Option<Group<Shape, Part, Answer>> {
        if lane.calls.is_empty() || !lane.is_enough(lane.waiting) {
            return None;
        }
        let items = std::mem::take(&mut lane.waiting);
        lane.running += items;
        let running = Running { lanes: self.clone(), shape: shape.clone(), items };
        Some(Group { calls: std::mem::take(&mut lane.calls), running })
    }
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Lane<Shape, Part, Answer> {
    /// Whether `items` items are enough to start while others run.
    fn is_enough(&self, items: usize) -> bool {
        items >= self.most || PART_OF_RUNNING.saturating_mul(items) >= self.running
    }
}

impl<Shape: Hash + Eq + Clone, Part, Answer> Drop for Running<Shape, Part, Answer> {
    fn drop(&mut self) {
        let group = {
            let mut lanes = self.lanes.lock();
            let Some(lane) = lanes.get_mut(&self.shape) else { return };
            lane.running -= self.items;
            let group = self.lanes.next_group(&self.shape, lane);
            if lane.running == 0 && lane.calls.is_empty() {
                lanes.remove(&self.shape);
            }
            group
        };
        let Some(group) = group else { return };
        if let Some(leader) = group.calls.last().map(|call| call.sender.clone()) {
            // A group whose leader does not listen is dropped, and each of its calls computes alone.
            let _ = leader.send(Turn::Lead(group));
        }
    }
}

#[cfg(test)]
mod tests;
