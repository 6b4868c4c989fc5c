use super::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

type Numbers = Callers<&'static str, usize, usize>;

/// Waits until `calls` calls of a shape wait.
fn until_waiting(callers: &Numbers, shape: &'static str, calls: usize) {
    while callers.0.lock().get(shape).map_or(0, |lane| lane.calls.len()) < calls {
        thread::sleep(Duration::from_micros(100));
    }
}

fn doubled(parts: Vec<usize>) -> Option<Vec<usize>> {
    Some(parts.into_iter().map(|part| 2 * part).collect())
}

#[test]
fn a_call_starts_at_once_beside_little() {
    let callers = Numbers::default();
    let first = callers.start(&"a", 64).unwrap();
    let second = callers.start(&"a", 64).unwrap();
    let few = 128 / PART_OF_RUNNING - 1;
    let small = callers.start(&"a", few);
    assert!(small.is_none() && callers.start(&"b", 1).is_some(), "{few} items are few beside 128");
    assert_eq!(callers.join(&"a", few, few, 5, doubled), Some(10), "as many as a batch takes");
    drop(first);
    assert!(callers.start(&"a", few).is_some());
    drop(second);
    assert!(callers.0.lock().is_empty());
}

/// Calls that wait start together when what runs has ended, and every one gets its own answer.
#[test]
fn calls_that_wait_are_computed_as_one() {
    let callers = Numbers::default();
    let (groups, running) = (AtomicUsize::new(0), callers.start(&"a", 1000).unwrap());
    thread::scope(|scope| {
        let (callers, groups) = (&callers, &groups);
        let compute = move |parts: Vec<usize>| {
            groups.fetch_add(1, Ordering::SeqCst);
            assert_eq!(parts.len(), 10);
            doubled(parts)
        };
        let call = move |part| callers.join(&"a", 3, usize::MAX, part, compute);
        let calls: Vec<_> = (0..10).map(|part| scope.spawn(move || call(part))).collect();
        until_waiting(callers, "a", 10);
        drop(running);
        for (part, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().unwrap(), Some(2 * part));
        }
    });
    assert_eq!(groups.into_inner(), 1);
    assert!(callers.0.lock().is_empty());
}

/// Calls do not wait for the end of what runs once they have enough items together.
#[test]
fn enough_calls_start_beside_what_runs() {
    let callers = Numbers::default();
    let running = callers.start(&"a", 3 * PART_OF_RUNNING).unwrap();
    thread::scope(|scope| {
        let call = |part| callers.join(&"a", 1, usize::MAX, part, doubled);
        let calls = [1, 2, 3].map(|part| scope.spawn(move || call(part)));
        assert_eq!(calls.map(|call| call.join().unwrap()), [Some(2), Some(4), Some(6)]);
    });
    drop(running);
    assert!(callers.0.lock().is_empty());
}

/// A leader that fails or panics leaves the others to themselves, and nothing waits for it.
#[test]
fn a_leader_that_fails_hangs_nobody() {
    for panics in [false, true] {
        let callers = Numbers::default();
        let running = callers.start(&"a", 100).unwrap();
        thread::scope(|scope| {
            let callers = &callers;
            let fail = move |_| if panics { panic!("the leader panics") } else { None };
            let calls =
                [1, 2, 3, 4].map(|part| scope.spawn(move || callers.join(&"a", 1, usize::MAX, part, fail)));
            until_waiting(callers, "a", 4);
            drop(running);
            let ends = calls.map(|call| call.join());
            let panicked = ends.iter().filter(|end| end.is_err()).count();
            assert_eq!(panicked, usize::from(panics));
            assert!(ends.into_iter().flatten().all(|answer| answer.is_none()));
        });
        assert!(callers.0.lock().is_empty());
        assert_eq!(callers.join(&"a", 1, usize::MAX, 7, doubled), Some(14));
    }
}

/// Many threads, shapes and sizes: every call gets its own answer, and nothing is left behind.
#[test]
fn every_call_of_a_crowd_is_answered() {
    let callers = Numbers::default();
    let together = Barrier::new(64);
    thread::scope(|scope| {
        for thread in 0..64 {
            let (callers, together) = (&callers, &together);
            scope.spawn(move || {
                together.wait();
                for round in 0..200 {
                    let (shape, part) = (["a", "b", "c"][(thread + round) % 3], 1000 * thread + round);
                    let items = 1 + (thread * round) % 50;
                    match callers.start(&shape, items) {
                        Some(_running) => thread::yield_now(),
                        None => {
                            let answer = callers.join(&shape, items, 400, part, |parts| {
                                thread::yield_now();
                                doubled(parts)
                            });
                            assert_eq!(answer, Some(2 * part));
                        }
                    }
                }
            });
        }
    });
    assert!(callers.0.lock().is_empty());
}
