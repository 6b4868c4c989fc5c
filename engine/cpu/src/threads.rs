//! The threads that share the work of a call: those of a pool, or the caller's alone.
//!
//! Rayon's iterators start threads of their own where the caller is in no pool. So all work that threads may
//! share goes through this file, which looks first whether the caller wants to be alone.

use rayon::iter::plumbing::{Producer, ProducerCallback};
use rayon::prelude::*;
use std::cell::Cell;

thread_local! {
    /// Whether this thread computes all by itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`. If `is_alone`, no other thread takes part in what it shares.
pub(crate) fn run<T>(is_alone: bool, work: impl FnOnce() -> T) -> T {
    /// The state of the thread before. It comes back even after a panic.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(is_alone));
    work()
}

/// The number of threads that share work of the calling thread.
#[must_use]
pub fn count() -> usize {
    if ALONE.get() { 1 } else { rayon::current_num_threads() }
}

/// Runs both functions, side by side if two threads share the work.
pub fn join<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    if ALONE.get() { (first(), second()) } else { rayon::join(first, second) }
}

/// Items that the threads of a call share. An engine that computes on its caller's thread takes one item
/// after the other.
///
/// ```
/// use modmill_cpu::threads::Share;
/// use rayon::prelude::*;
///
/// let squares: Vec<u32> = (1..4u32).into_par_iter().map(|number| number * number).list();
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub trait Share: IndexedParallelIterator {
    /// Does `work` for each item.
    fn each(self, work: impl Fn(Self::Item) + Send + Sync) {
        match ALONE.get() {
            true => alone(self, (), |(), item| work(item)),
            false => self.for_each(work),
        }
    }

    /// Does `work` for each item, with a workspace that a thread keeps for its next item.
    fn each_with<W>(
        self,
        workspace: impl Fn() -> W + Send + Sync,
        work: impl Fn(&mut W, Self::Item) + Send + Sync,
    ) {
        match ALONE.get() {
            true => {
                let mut own = workspace();
                alone(self, (), |(), item| work(&mut own, item));
            }
            false => self.for_each_init(workspace, work),
        }
    }

    /// Does `work` for each item, until it fails for one. The error is that of any item that failed.
    fn try_each<E: Send>(self, work: impl Fn(Self::Item) -> Result<(), E> + Send + Sync) -> Result<(), E> {
        match ALONE.get() {
            true => alone(self, Ok(()), |done: Result<(), E>, item| done.and_then(|()| work(item))),
            false => self.try_for_each(work),
        }
    }

    /// All items in their order.
    fn list<C>(self) -> C
    where
        C: FromIterator<Self::Item> + FromParallelIterator<Self::Item>,
    {
        match ALONE.get() {
            true => {
                let add = |mut items: Vec<Self::Item>, item| {
                    items.push(item);
                    items
                };
                alone(self, Vec::new(), add).into_iter().collect()
            }
            false => self.collect(),
        }
    }

    /// The sum of all items: `add` adds an item to a sum that begins with `zero`, and `join` adds two sums.
    fn sum_by<T: Send>(
        self,
        zero: impl Fn() -> T + Send + Sync,
        add: impl Fn(T, Self::Item) -> T + Send + Sync,
        join: impl Fn(T, T) -> T + Send + Sync,
    ) -> T {
        match ALONE.get() {
            true => alone(self, zero(), add),
            false => self.fold(&zero, add).reduce(&zero, join),
        }
    }
}

impl<I: IndexedParallelIterator> Share for I {}

/// Adds all items to `zero`, one after the other, on the calling thread.
fn alone<I: IndexedParallelIterator, T>(items: I, zero: T, add: impl FnMut(T, I::Item) -> T) -> T {
    /// A sum, and what adds an item to it.
    struct Fold<T, F>(T, F);
    impl<Item, T, F: FnMut(T, Item) -> T> ProducerCallback<Item> for Fold<T, F> {
        type Output = T;

        fn callback<P: Producer<Item = Item>>(self, producer: P) -> T {
            producer.into_iter().fold(self.0, self.1)
        }
    }
    items.with_producer(Fold(zero, add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::thread;

    /// The sum of the numbers below 1000 by every function, and the number of threads that computed it.
    fn sums() -> ([usize; 5], usize) {
        let (threads, total) = (Mutex::new(BTreeSet::new()), Mutex::new(0));
        let seen = |number: usize| {
            threads.lock().unwrap().insert(format!("{:?}", thread::current().id()));
            number
        };
        let items = || (0..1000usize).into_par_iter().map(seen);
        let add = |number: usize| *total.lock().unwrap() += number;
        let take = || std::mem::take(&mut *total.lock().unwrap());
        items().each(add);
        let each = take();
        items().each_with(|| 1, |factor, number| add(*factor * number));
        let each_with = take();
        assert_eq!(
            items().try_each(|number| if number < 1000 {
                add(number);
                Ok(())
            } else {
                Err(number)
            }),
            Ok(())
        );
        let try_each = take();
        assert_eq!(items().try_each(|number| if number < 7 { Ok(()) } else { Err("seven") }), Err("seven"));
        let listed: Vec<usize> = items().list();
        assert!(listed.is_sorted());
        let (first, second) = join(|| items().sum_by(|| 0, |a, b| a + b, |a, b| a + b), || 0);
        let sums = [each, each_with, try_each, listed.iter().sum(), first + second];
        (sums, threads.into_inner().unwrap().len())
    }

    #[test]
    fn whoever_is_alone_computes_the_same_on_one_thread() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let all = [499_500; 5];
        assert_eq!((pool.install(sums).0, pool.install(count)), (all, 3));
        assert_eq!(run(true, || (sums(), count())), ((all, 1), 1));
        // A pool inside of a call that is alone has its threads, and the call is alone again after it.
        let nested =
            run(true, || (pool.install(|| run(false, count)), run(false, || pool.install(count)), count()));
        assert_eq!(nested, (3, 3, 1));
    }
}
