//! Teams: threads that stay awake while they share one long number.
//!
//! A long number is computed in many short phases, and threads share each phase. A thread without work soon
//! falls asleep, and waking it takes longer than a phase. So for as long as a number is computed, the other
//! threads of the pool look for work without a pause. A phase then costs less than a microsecond in addition
//! to its work.
//!
//! A thread that finds no work for a while leaves the team. The next phase calls it back. So a thread can
//! never wait forever, whatever it was doing when it joined.

use crate::threads;
use modmill_core::sync::Mutex;
use rayon::ThreadPool;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time after which a thread without work lets other programs run first, or leaves if there is no number.
/// It is longer than most pauses between phases.
const EAGER: Duration = Duration::from_micros(50);

/// The time after which a thread without work leaves although there are numbers.
const PATIENT: Duration = Duration::from_micros(300);

/// The number of times that a thread looks for work before it looks at the clock.
const LOOKS: usize = 16;

/// The number of looks that take as long as telling the pool that a task is done.
const AFTER: usize = 4;

/// The threads of a pool that share long numbers.
#[derive(Default)]
pub(crate) struct Team {
    /// The number of numbers that are being computed.
    numbers: AtomicUsize,
    /// The number of threads that look for work or do it.
    members: AtomicUsize,
    /// The number of threads that were called and have not answered yet.
    called: AtomicUsize,
}

/// The threads of a backend, with their team.
#[derive(Default)]
pub(crate) struct Workers {
    /// `None` if every call is computed by its caller's thread.
    pub(crate) pool: Option<Arc<ThreadPool>>,
    pub(crate) team: Arc<Team>,
}

impl Workers {
    pub(crate) fn new(pool: ThreadPool) -> Self {
        Self { pool: Some(Arc::new(pool)), team: Arc::default() }
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on these threads.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(|| threads::run(false, work)),
            None => threads::run(true, work),
        }
    }
}

/// The role of a thread in a team.
#[derive(Clone)]
enum Role {
    /// It does not know of teams.
    Free,
    /// It looks for the work of its team, or does it.
    Member,
    /// It computes a number that this team shares.
    Leader(Arc<Team>),
}

thread_local! {
    static ROLE: RefCell<Role> = const { RefCell::new(Role::Free) };
}

impl Team {
    /// Runs `work`, which computes a number on a thread of the pool. The phases of `work` call the other
    /// threads.
    pub(crate) fn lead<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        /// A team, and what its leader did before. The leader goes on with that even after a panic.
        struct Leading<'a>(&'a Team, Role);
        impl Drop for Leading<'_> {
            fn drop(&mut self) {
                self.0.numbers.fetch_sub(1, Ordering::Relaxed);
                self.0.members.fetch_add(usize::from(matches!(self.1, Role::Member)), Ordering::Relaxed);
                ROLE.set(self.1.clone());
            }
        }
        let before = ROLE.replace(Role::Leader(self.clone()));
        self.numbers.fetch_add(1, Ordering::Relaxed);
        self.members.fetch_sub(usize::from(matches!(before, Role::Member)), Ordering::Relaxed);
        let _leading = Leading(self, before);
        work()
    }

    /// Takes part until there is no work for a while.
    fn join(&self) {
        self.called.fetch_sub(1, Ordering::Relaxed);
        let is_free = ROLE.with_borrow(|role| matches!(role, Role::Free));
        if !is_free || self.numbers.load(Ordering::Relaxed) == 0 {
            return;
        }
        ROLE.set(Role::Member);
        self.members.fetch_add(1, Ordering::Relaxed);
        let mut idle_since = None;
        loop {
            if (0..LOOKS).any(|_| rayon::yield_now() == Some(rayon::Yield::Executed)) {
                idle_since = None;
                continue;
            }
            let idle = idle_since.get_or_insert_with(Instant::now).elapsed();
            if idle <= EAGER {
                std::hint::spin_loop();
            } else if idle <= PATIENT && self.numbers.load(Ordering::Relaxed) > 0 {
                std::thread::yield_now();
            } else {
                break;
            }
        }
        self.members.fetch_sub(1, Ordering::Relaxed);
        ROLE.set(Role::Free);
    }

    /// Calls the threads of the pool that are not here, unless they are called already.
    fn call(self: &Arc<Self>) {
        let threads = rayon::current_num_threads();
        let is_full = self.members.load(Ordering::Relaxed) + 1 >= threads;
        if is_full || self.called.load(Ordering::Relaxed) >= threads {
            return;
        }
        self.called.fetch_add(threads, Ordering::Relaxed);
        let team = self.clone();
        rayon::spawn_broadcast(move |_| team.join());
    }
}

/// Whether this thread computes a number that a team shares.
pub(crate) fn is_leading() -> bool {
    ROLE.with_borrow(|role| matches!(role, Role::Leader(_)))
}

/// Runs `work` on every task. Half of the threads take tasks from the front, and half of them from the back.
///
/// So phases with the same order of tasks leave most data with the thread that has it in its cache. A thread
/// that is late takes fewer tasks, and nobody waits for a thread that has none.
pub(crate) fn each<T: Send>(tasks: impl DoubleEndedIterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let threads = threads::count().min(tasks.size_hint().1.unwrap_or(usize::MAX));
    if threads <= 1 {
        return tasks.for_each(work);
    }
    let tasks = Mutex::new(tasks);
    let next = |is_front: bool| {
        let mut tasks = tasks.lock();
        if is_front { tasks.next() } else { tasks.next_back() }
    };
    let busy = AtomicUsize::new(0);
    let take = |is_front: bool| {
        {
            let _busy = Busy::new(&busy);
            while let Some(task) = next(is_front) {
                work(task);
            }
        }
        wait_for(&busy);
    };
    from_both_ends(threads, &take);
}

/// Runs `take(true)` on half of `threads` threads and `take(false)` on the others. A leader calls its team.
fn from_both_ends(threads: usize, take: &(dyn Fn(bool) + Sync)) {
    ROLE.with_borrow(|role| {
        if let Role::Leader(team) = role {
            team.call();
        }
    });
    rayon::join(
        || on_threads(threads - threads / 2, &|| take(true)),
        || on_threads(threads / 2, &|| take(false)),
    );
}

/// A thread that takes tasks, for as long as this value lives.
struct Busy<'a>(&'a AtomicUsize);

impl<'a> Busy<'a> {
    fn new(busy: &'a AtomicUsize) -> Self {
        busy.fetch_add(1, Ordering::Relaxed);
        Self(busy)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Waits for the threads that still have tasks. A thread that waits in the pool instead lets other programs
/// run at once, which may take longer than many phases, or falls asleep.
fn wait_for(busy: &AtomicUsize) {
    let mut since = None;
    while busy.load(Ordering::Acquire) > 0 {
        for _ in 0..LOOKS {
            if busy.load(Ordering::Acquire) == 0 {
                break;
            }
            std::hint::spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENT {
            return;
        }
    }
    // The others are about to tell the pool that they are done.
    (0..AFTER).for_each(|_| std::hint::spin_loop());
}

/// Runs `work` on `threads` threads at once, or on fewer if some are busy.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads <= 1 {
        work();
    } else {
        rayon::join(|| on_threads(threads - threads / 2, work), || on_threads(threads / 2, work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn workers(threads: usize) -> Workers {
        Workers::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    }

    #[test]
    fn every_task_is_done_once() {
        for threads in [1, 2, 3, 5] {
            let workers = workers(threads);
            for count in [0, 1, 2, 7, 1000] {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let phase = || each(done.iter(), |task| _ = task.fetch_add(1, Ordering::Relaxed));
                workers.install(|| {
                    phase();
                    workers.team.lead(|| {
                        phase();
                        workers.team.lead(phase);
                    });
                });
                assert!(done.iter().all(|task| task.load(Ordering::Relaxed) == 3), "{threads} {count}");
            }
        }
    }

    #[test]
    fn a_slow_task_is_waited_for() {
        let (workers, done) = (workers(3), AtomicUsize::new(0));
        let work = |task: u32| {
            std::thread::sleep(4 * PATIENT * task);
            done.fetch_add(1, Ordering::Relaxed);
        };
        for rounds in 1..=5 {
            workers.install(|| workers.team.lead(|| each([0, 0, 1, 0, 2].into_iter(), work)));
            assert_eq!(done.load(Ordering::Relaxed), 5 * rounds);
        }
    }

    #[test]
    fn calls_at_the_same_time_end() {
        let workers = workers(2);
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let phases = || {
                            (0..20)
                                .for_each(|_| each(0..9, |task| _ = sum.fetch_add(task, Ordering::Relaxed)))
                        };
                        workers.install(|| workers.team.lead(phases));
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4 * 50 * 20 * 36);
    }

    #[test]
    fn a_panic_ends_a_lead() {
        let workers = workers(2);
        let run = || workers.install(|| workers.team.lead(|| each(0..9, |task| assert!(task != 4))));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(workers.team.numbers.load(Ordering::Relaxed), 0);
        assert!(!workers.install(is_leading));
    }

    #[test]
    fn members_leave_when_there_is_no_work() {
        let workers = workers(3);
        workers
            .install(|| workers.team.lead(|| each(0..99, |_| std::thread::sleep(Duration::from_micros(20)))));
        let start = Instant::now();
        while workers.team.members.load(Ordering::Relaxed) > 0 {
            assert!(start.elapsed() < Duration::from_secs(10), "a member stays");
            std::thread::yield_now();
        }
    }
}
