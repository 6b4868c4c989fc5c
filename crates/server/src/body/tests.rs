use super::*;
use futures_util::stream;
use std::sync::atomic::AtomicUsize;

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
    let bodies = Arc::new(Bodies::new(10));
    for (given, expected) in [
        (&[][..], &b""[..]),
        (&[&b""[..]], b""),
        (&[b"abc"], b"abc"),
        (&[b"a", b"", b"bc", b"d", b"efgh", b"ij"], b"abcdefghij"),
    ] {
        let read = bodies.read(pieces(given).0, 10).await.unwrap();
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
    let bodies = Arc::new(Bodies::new(8).counted_by(Arc::clone(&metrics)));
    assert_eq!(bodies.read(pieces(&[b"abc", b"d"]).0, 3).await, Err(Unread::TooLong));
    // A limit further out is told apart from a body that ends early.
    let inner = Body::new(Limited::new(pieces(&[b"abc", b"d"]).0, 3));
    assert_eq!(bodies.read(inner, 100).await, Err(Unread::TooLong));
    let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err(std::io::Error::other("reset"))]);
    assert_eq!(bodies.read(Body::from_stream(broken), 100).await, Err(Unread::Incomplete));
    assert_eq!(bodies.held(), 0);

    let held = bodies.read(pieces(&[b"abcde"]).0, 100).await.unwrap();
    let (body, read) = pieces(&[b"ab", b"cd", b"ef"]);
    assert_eq!(bodies.read(body, 100).await, Err(Unread::Full));
    assert_eq!(read.load(Ordering::Relaxed), 3, "the rest is read and thrown away");
    assert_eq!(bodies.held(), 5);
    assert!(metrics.text().contains("modmill_bodies_refused_total 1"));
    drop(held);
    assert_eq!(&bodies.read(pieces(&[b"abcdefgh"]).0, 100).await.unwrap()[..], b"abcdefgh");
}

#[tokio::test]
async fn bodies_of_refused_requests_are_not_kept() {
    let bodies = Arc::new(Bodies::new(0));
    let (body, read) = pieces(&[b"abc", b"d"]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), &head(&[]), body, 100).await;
    assert_eq!((refused, read.load(Ordering::Relaxed)), (Err(Unread::Incomplete), 2));
    let (body, read) = pieces(&[b"abc", b"d"]);
    let asks = head(&[("expect", "100-continue")]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), &asks, body, 100).await;
    assert_eq!((refused, read.load(Ordering::Relaxed)), (Err(Unread::Incomplete), 0));
    // No more than a mebibyte of it is read.
    static LONG: [u8; 1 << 16] = [0; 1 << 16];
    let (body, read) = pieces(&[&LONG[..]; 100]);
    let refused = bodies.read_if(Err::<(), _>(Unread::Incomplete), &head(&[]), body, 100).await;
    assert_eq!(refused, Err(Unread::Incomplete));
    assert_eq!(read.load(Ordering::Relaxed), 17);
    let admitted: Result<_, Unread> = Ok("alice");
    let (who, body) = bodies.read_if(admitted, &head(&[]), Body::empty(), 0).await.unwrap();
    assert_eq!((who, body.len()), ("alice", 0));
}
