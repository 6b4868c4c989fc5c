use super::*;
use crate::{Reply, Work};
use modmill_rsa::{Hash, PrivateKey, PrivateTask, SignatureScheme, Sizes};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

const CLASS: Class = Class { is_private: true, bits: 512 };
const ROOM: Room = Room { seconds: 1.0, calls: 100 };

static KEY: LazyLock<Arc<PrivateKey>> = LazyLock::new(|| {
    let engine = modmill::Engine::builder().backend(modmill::Backend::Cpu).build().unwrap();
    Arc::new(PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap())
});

/// A principal that has until `deadline`.
struct Asker {
    principal: String,
    deadline: Instant,
}

impl Caller for Asker {
    /// Whether somebody waits.
    type Way = Arc<AtomicBool>;

    fn principal(&self) -> &str {
        &self.principal
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline <= now
    }

    fn is_wanted(way: &Self::Way) -> bool {
        way.load(Ordering::Relaxed)
    }

    fn send(_: Self::Way, _: Reply) {}
}

fn call(principal: &str, items: usize, deadline: Instant) -> (Arc<Call<Asker>>, Arc<AtomicBool>) {
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let task = PrivateTask::Sign { scheme, digest: Hash::Sha256.digest(&[b"message"]) };
    let work = Work::Private { key: Arc::clone(&KEY), tasks: vec![task; items] };
    let is_wanted = Arc::new(AtomicBool::new(true));
    (Call::new(Asker { principal: principal.into(), deadline }, work, Arc::clone(&is_wanted)), is_wanted)
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// How many items of each principal were taken, in order.
fn names(taken: &Taken<Asker>) -> Vec<(&str, usize)> {
    taken.pieces.iter().map(|piece| (&piece.call.caller.principal[..], piece.items.len())).collect()
}

#[test]
fn a_crowd_is_left_to_the_gpu_until_it_is_forgotten() {
    let (mut queues, start) = (Queues::default(), Instant::now());
    let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
    let is_for_gpu = |items: usize, has_gpu: bool| items >= if has_gpu { 50 } else { 100 };
    let push = |queues: &mut Queues<Asker>, items: usize| {
        let (call, _) = call("a", items, later());
        queues.push(CLASS, call, 0.001, ROOM).unwrap();
    };
    push(&mut queues, 60);
    assert_eq!(queues.decide(CLASS, at(0), is_for_gpu), (false, false));
    assert_eq!(queues.take(CLASS, 60, 60, at(0)).items, 60);
    push(&mut queues, 40);
    assert_eq!(queues.decide(CLASS, at(1), is_for_gpu), (true, true), "60 are computed, and 40 wait");
    assert!(queues.is_for_gpu(CLASS));
    // All are answered, and ask again little by little.
    assert_eq!(queues.take(CLASS, 40, 40, at(2)).items, 40);
    queues.computed(CLASS, 100);
    push(&mut queues, 1);
    assert_eq!(queues.decide(CLASS, at(10), is_for_gpu), (true, false));
    assert_eq!(queues.decide(CLASS, at(200), is_for_gpu), (false, true));
    push(&mut queues, 99);
    assert_eq!(queues.decide(CLASS, at(201), is_for_gpu), (true, true));
    queues.is_draining = true;
    assert!(!queues.is_for_gpu(CLASS), "all workers answer the last ones");
}

#[test]
fn principals_are_served_in_turns() {
    let mut queues = Queues::default();
    for (principal, items) in [("greedy", 100), ("modest", 2), ("third", 1)] {
        let (call, _) = call(principal, items, later());
        queues.push(CLASS, call, 0.1, ROOM).unwrap();
    }
    let taken = queues.take(CLASS, 12, 4, Instant::now());
    assert_eq!(names(&taken), [("greedy", 4), ("modest", 2), ("third", 1), ("greedy", 4), ("greedy", 1)]);
    assert_eq!((taken.items, queues.items(CLASS)), (12, 91));
    let (late_comer, _) = call("modest", 3, later());
    queues.push(CLASS, late_comer, 0.1, ROOM).unwrap();
    let taken = queues.take(CLASS, 8, 4, Instant::now());
    assert_eq!(names(&taken), [("greedy", 4), ("modest", 3), ("greedy", 1)]);
    let taken = queues.take(CLASS, 1000, 4, Instant::now());
    assert_eq!((taken.items, queues.depth()), (86, (0, 0.0)));
}

#[test]
fn a_full_queue_refuses_but_for_the_modest() {
    let mut queues = Queues::default();
    let push = |queues: &mut Queues<Asker>, principal: &str| {
        let (call, _) = call(principal, 1, later());
        queues.push(CLASS, call, 0.25, ROOM)
    };
    for _ in 0..4 {
        push(&mut queues, "greedy").unwrap();
    }
    let Err(Refused::Overloaded(hint)) = push(&mut queues, "greedy") else { panic!("it is full") };
    assert!((Duration::from_millis(10)..Duration::from_secs(1)).contains(&hint), "{hint:?}");
    push(&mut queues, "modest").unwrap();
    push(&mut queues, "modest").unwrap();
    assert!(push(&mut queues, "modest").is_err(), "it has its share");
    push(&mut queues, "third").unwrap();
    push(&mut queues, "fourth").unwrap();
    assert!(push(&mut queues, "fifth").is_err(), "as much again is waiting");
    queues.take(CLASS, 100, 1, Instant::now());
    push(&mut queues, "greedy").unwrap();
    queues.is_draining = true;
    assert_eq!(push(&mut queues, "greedy"), Err(Refused::Draining));
}

#[test]
fn late_and_cancelled_calls_are_not_computed() {
    let mut queues = Queues::default();
    let (late, _) = call("a", 3, Instant::now());
    let (cancelled, is_wanted) = call("a", 5, later());
    let (wanted, _) = call("a", 2, later());
    is_wanted.store(false, Ordering::Relaxed);
    for call in [late, cancelled, wanted] {
        queues.push(CLASS, call, 0.1, ROOM).unwrap();
    }
    let taken = queues.take(CLASS, 4, 1, Instant::now());
    assert_eq!((names(&taken), taken.late.len()), (vec![("a", 2)], 1));
    assert_eq!((queues.items(CLASS), queues.depth().0), (0, 0));
}

#[test]
fn classes_are_served_in_turns() {
    let other = Class { is_private: false, ..CLASS };
    let mut queues = Queues::default();
    for class in [CLASS, CLASS, other, other] {
        let (call, _) = call("a", 1, later());
        queues.push(class, call, 0.1, ROOM).unwrap();
    }
    let mut order = Vec::new();
    while let Some(class) = queues.next_class(|_| 1) {
        order.push(class.is_private);
        queues.take(class, 1, 1, Instant::now());
    }
    assert_eq!(order, [false, true, false, true]);
    assert_eq!(queues.next_class(|_| 1), None);
}
