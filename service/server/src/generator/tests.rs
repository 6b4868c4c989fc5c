use super::*;
use std::sync::mpsc;

fn principal(name: &str) -> Principal {
    Principal { name: name.into(), access_key_id: String::new(), rights: [].into() }
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Occupies all places in which work runs, until the sender is dropped.
async fn occupy(generator: &Generator) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    for _ in 0..RUNNING {
        let held = Arc::clone(&held);
        let (begun, begins) = oneshot::channel();
        let nobody = principal("nobody");
        let work = generator.run(&nobody, later(), move || {
            let _ = begun.send(());
            held.lock().recv().is_ok()
        });
        // The client goes away.
        tokio::select! {
            _ = work => unreachable!("it is held"),
            begun = begins => begun.unwrap(),
        }
    }
    release
}

#[tokio::test]
async fn work_is_limited_even_if_nobody_waits_for_it() {
    let generator = Generator::default();
    let release = occupy(&generator).await;
    let alice = principal("alice");
    let late = generator.run(&alice, Instant::now() + Duration::from_millis(20), || ()).await;
    assert_eq!(late.unwrap_err(), Refused::Late);
    assert_eq!(generator.room.held(), RUNNING, "who has left has no place");
    drop(release);
    generator.run(&alice, later(), || ()).await.unwrap();
}

#[tokio::test]
async fn principals_have_shares() {
    let generator = Generator::default();
    let release = occupy(&generator).await;
    let run = async |name| generator.run(&principal(name), later(), || ()).await;
    let greedy = futures_util::future::join_all((0..200).map(|_| run("greedy")));
    let modest = futures_util::future::join_all((0..15).map(|_| run("modest")));
    let free = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(release);
    };
    // All of the greedy one ask before the modest one does.
    let (greedy, modest, ()) = tokio::join!(greedy, modest, free);
    let refused = greedy.iter().filter(|ran| **ran == Err(Refused::Overloaded(BACK))).count();
    assert!((100..200).contains(&refused), "{refused}");
    assert!(modest.iter().all(Result::is_ok), "{modest:?}");
}

/// Turns alone, on the one thread of the test, so that their order does not depend on which thread runs when.
#[tokio::test]
async fn principals_take_turns() {
    let generator = Generator::default();
    let mut occupied = Vec::new();
    for _ in 0..RUNNING {
        occupied.push(generator.turn("nobody").await);
    }
    let done = Mutex::new(Vec::new());
    let take = async |name: &'static str| {
        let turn = generator.turn(name).await;
        done.lock().push(name);
        drop(turn);
    };
    let greedy = futures_util::future::join_all((0..60).map(|_| take("greedy")));
    let modest = futures_util::future::join_all((0..15).map(|_| take("modest")));
    // All waiting callers have taken their places in their lines by the time this is polled.
    let free = async { drop(occupied) };
    tokio::join!(biased; greedy, modest, free);
    let done = done.into_inner();
    assert_eq!(done.len(), 75);
    // The modest one is served while most of the greedy one's work waits.
    let last = done.iter().rposition(|name| *name == "modest").unwrap();
    assert!(last < 2 * 15 + RUNNING, "{done:?}");
}
