use super::*;
use crate::http::SMALL;
use futures_util::stream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room of `holder` among all bodies.
fn room(bodies: &Bodies, holder: &str) -> Room {
    Room { small: None, share: bodies.shares.open(Holder::Principal(holder.into())) }
}

async fn take(bodies: &Bodies, body: Body, longest: usize) -> Result<Bytes, Unread> {
    bodies.read(room(bodies, "alice"), body, longest).await
}

fn holder<T>(_: &T) -> Holder {
    Holder::Principal("alice".into())
}

/// A body of pieces. The counter says how many of them were read.
fn pieces(pieces: &[&'static [u8]]) -> (Body, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read);
    let pieces: Vec<_> = pieces.iter().map(|piece| Bytes::from_static(piece)).collect();
    let pieces = pieces.into_iter().map(move |piece| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::io::Error>(piece)
    });
    (Body::from_stream(stream::iter(pieces)), read)
}

fn head(headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::post("/");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

#[tokio::test]
async fn bodies_are_read_whole_and_give_their_memory_back() {
    let bodies = Bodies::new(20);
    for (given, expected) in [
        (&[][..], &b""[..]),
        (&[&b""[..]], b""),
        (&[b"abc"], b"abc"),
        (&[b"a", b"", b"bc", b"d", b"efgh", b"ij"], b"abcdefghij"),
    ] {
        let read = take(&bodies, pieces(given).0, 10).await.unwrap();
        assert_eq!((&read[..], bodies.held()), (expected, expected.len()));
        let part = read.slice(..read.len() / 2);
        drop(read);
        assert_eq!(bodies.held(), if part.is_empty() { 0 } else { expected.len() });
    }
    assert_eq!(bodies.held(), 0);
}

#[tokio::test]
async fn bodies_beyond_a_limit_are_refused_and_hold_nothing() {
    let metrics = Arc::new(Metrics::default());
    let bodies = Bodies::new(16).counted_by(Arc::clone(&metrics));
    assert_eq!(take(&bodies, pieces(&[b"abc", b"d"]).0, 3).await, Err(Unread::TooLong));
    // A limit further out is told apart from a body that ends early.
    let inner = Body::new(Limited::new(pieces(&[b"abc", b"d"]).0, 3));
    assert_eq!(take(&bodies, inner, 100).await, Err(Unread::TooLong));
    let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err(std::io::Error::other("reset"))]);
    assert_eq!(take(&bodies, Body::from_stream(broken), 100).await, Err(Unread::Incomplete));
    assert_eq!(bodies.held(), 0);

    let held = take(&bodies, pieces(&[b"abcde"]).0, 100).await.unwrap();
    let (body, read) = pieces(&[b"ab", b"cd", b"ef"]);
    assert_eq!(take(&bodies, body, 100).await, Err(Unread::Full));
    assert_eq!(read.load(Ordering::Relaxed), 3, "the rest is read and thrown away");
    assert_eq!(bodies.held(), 5);
    assert!(metrics.text().contains("modmill_bodies_refused_total 1"));
    drop(held);
    assert_eq!(&take(&bodies, pieces(&[b"abcdefgh"]).0, 100).await.unwrap()[..], b"abcdefgh");
}

#[tokio::test]
async fn bodies_of_refused_requests_are_not_kept() {
    let bodies = Bodies::new(0);
    let (body, read) = pieces(&[b"abc", b"d"]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), holder, &head(&[]), body, 100).await;
    assert_eq!((refused, read.load(Ordering::Relaxed)), (Err(Unread::Incomplete), 2));
    let (body, read) = pieces(&[b"abc", b"d"]);
    let asks = head(&[("expect", "100-continue")]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), holder, &asks, body, 100).await;
    assert_eq!((refused, read.load(Ordering::Relaxed)), (Err(Unread::Incomplete), 0));
    // No more than a mebibyte of it is read.
    static LONG: [u8; 1 << 16] = [0; 1 << 16];
    let (body, read) = pieces(&[&LONG[..]; 100]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), holder, &head(&[]), body, 100).await;
    assert_eq!(refused, Err(Unread::Incomplete));
    assert_eq!(read.load(Ordering::Relaxed), 17);
    let admitted: Result<_, Unread> = Ok("alice");
    let (who, body) = bodies.read_if(admitted, holder, &head(&[]), Body::empty(), 0).await.unwrap();
    assert_eq!((who, body.len()), ("alice", 0));
}

#[tokio::test]
async fn one_holder_leaves_room_for_others() {
    let bodies = Bodies::new(16);
    let held = take(&bodies, pieces(&[b"abcdefgh"]).0, 100).await.unwrap();
    assert_eq!(take(&bodies, pieces(&[b"a"]).0, 100).await, Err(Unread::Full));
    let other = bodies.read(room(&bodies, "bob"), pieces(&[b"abcd"]).0, 100).await.unwrap();
    assert_eq!((bodies.held(), other.len()), (12, 4));
    drop(held);
    assert_eq!(bodies.held(), 4);
}

#[tokio::test]
async fn small_bodies_are_in_the_room_of_their_connection() {
    static LONG: [u8; SMALL + 1] = [b'a'; SMALL + 1];
    let bodies = Bodies::new(0);
    let mut head = head(&[]);
    head.extensions.insert(Peer::new([127, 0, 0, 1].into()));
    let read = async |body: &'static [u8]| {
        let admitted: Result<_, Unread> = Ok(());
        let unproven = |_: &()| Holder::unproven("AKIA", &head);
        bodies.read_if(admitted, unproven, &head, pieces(&[body]).0, 1 << 20).await.map(|(_, body)| body)
    };
    let small = read(&LONG[..SMALL]).await.unwrap();
    assert_eq!((small.len(), bodies.held()), (SMALL, 0));
    assert_eq!(read(b"a").await, Err(Unread::Full), "one at a time");
    drop(small);
    assert_eq!(read(b"a").await.unwrap().len(), 1);
    assert_eq!(read(&LONG).await, Err(Unread::Full));
    assert!(!Peer::of(&head.extensions).unwrap().is_proven());
    let admitted: Result<_, Unread> = Ok(());
    bodies.read_if(admitted, holder, &head, Body::empty(), 1).await.unwrap();
    assert!(Peer::of(&head.extensions).unwrap().is_proven(), "a principal is proven by its head");
}

#[tokio::test]
async fn bodies_that_come_too_slowly_are_not_waited_for() {
    let window = Duration::from_millis(200);
    let bodies = Bodies { window, least: 2, ..Bodies::new(100) };
    // Bytes one by one, `pause` apart, without an end.
    let drip = |pause: Duration| {
        Body::from_stream(stream::unfold((), move |()| async move {
            tokio::time::sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"a")), ()))
        }))
    };
    let slow = take(&bodies, drip(3 * window), 50);
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), slow).await.unwrap(), Err(Unread::Slow));
    let fast = take(&bodies, drip(window / 20), 50);
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), fast).await.unwrap(), Err(Unread::TooLong));
    assert_eq!(bodies.held(), 0);
}
