//! The endpoint as clients see it.

#[cfg(feature = "arrow")]
mod arrow;
mod client;

use super::*;
use crate::door::testing::{Answer, TOKEN, WEAK, send, service};
use crate::transit::{self, TransitRing};
use bytes::Bytes;
use futures_util::stream;
use modmill::Engine;
use modmill_client::bulk::{Event, Frames};
use modmill_rsa::{Digest, PublicKey, Rsa, Sizes};

/// The endpoint, with a transit key `k` of 2048 bits.
pub(crate) struct Bulk {
    pub(crate) router: Router,
    pub(crate) public: PublicKey,
    service: Arc<Service>,
}

impl Bulk {
    pub(crate) async fn new() -> Self {
        let service = service(transit::kinds).await;
        let keys = transit::router(Arc::clone(&service));
        let headers = [("x-vault-token", TOKEN)];
        let created = send(&keys, "POST", "/v1/transit/keys/k", &headers, r#"{"type":"rsa-2048"}"#).await;
        let pem = created.json()["data"]["keys"]["1"]["public_key"].as_str().expect("a key").to_owned();
        let public = PublicKey::read(pem.as_bytes(), Sizes::Standard).expect("a key");
        let ring = Arc::new(TransitRing::new(Arc::clone(&service)));
        Self { router: super::router(Arc::clone(&service), vec![ring]), public, service }
    }

    async fn post(&self, query: &str, token: &str, content_type: &str, body: impl Into<Body>) -> Answer {
        let token = format!("Bearer {token}");
        let headers = [("authorization", token.as_str()), ("content-type", content_type)];
        send(&self.router, "POST", &format!("/bulk/v1/sign?{query}"), &headers, body).await
    }
}

/// How many signatures of digests side by side are right.
pub(crate) fn verdicts(
    bulk: &Bulk,
    scheme: SignatureScheme,
    digests: &[u8],
    signatures: &[Vec<u8>],
) -> usize {
    let engine = Engine::new().expect("an engine");
    let digests: Vec<_> = digests
        .chunks(scheme.hash().len())
        .map(|digest| Digest::from_bytes(digest).expect("a digest"))
        .collect();
    let verdicts =
        Rsa::new(&engine).verify_digests(&bulk.public, scheme, &digests, signatures).expect("a call");
    verdicts.iter().filter(|verdict| verdict.is_ok()).count()
}

/// The signatures and the end of an answer.
fn read(body: &[u8]) -> (Vec<Vec<u8>>, Option<Status>) {
    let mut frames = Frames::new(256);
    frames.push(body);
    let (mut signatures, mut end) = (Vec::new(), None);
    while let Some(event) = frames.next_event().expect("frames") {
        match event {
            Event::Answers { flags, signatures: octets } => {
                assert!(flags.iter().all(|flag| *flag == 0));
                signatures.extend(octets.chunks(256).map(<[u8]>::to_vec));
            }
            Event::End { status, .. } => end = Some(status),
        }
    }
    (signatures, end)
}

#[tokio::test]
async fn digests_are_signed() {
    let bulk = Bulk::new().await;
    let digests: Vec<u8> =
        (0..5u8).flat_map(|item| Hash::Sha384.digest(&[&[item]]).as_ref().to_vec()).collect();
    let answer = bulk.post("key=transit/k&scheme=pss-sha384&salt=20", TOKEN, DIGESTS, digests.clone()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers[CONTENT_TYPE], SIGNATURES);
    assert_eq!(answer.headers[SIGNATURE_LENGTH], "256");
    let (signatures, end) = read(&answer.body);
    assert_eq!(end, Some(Status::Complete));
    let scheme = scheme::parse("pss-sha384", Some("20"), None).expect("a scheme");
    assert_eq!(verdicts(&bulk, scheme, &digests, &signatures), 5);
}

#[tokio::test]
async fn bodies_that_end_within_a_digest_are_answered_as_far_as_they_go() {
    let bulk = Bulk::new().await;
    let query = "key=transit/k:1&scheme=pkcs1v15-sha256";
    let (signatures, end) = read(&bulk.post(query, TOKEN, DIGESTS, vec![7; 33]).await.body);
    assert_eq!((signatures.len(), end), (1, Some(Status::Request)));
    let (signatures, end) = read(&bulk.post(query, TOKEN, DIGESTS, vec![7; 31]).await.body);
    assert_eq!((signatures.len(), end), (0, Some(Status::Request)));
    let (signatures, end) = read(&bulk.post(query, TOKEN, DIGESTS, Body::empty()).await.body);
    assert_eq!((signatures.len(), end), (0, Some(Status::Complete)));
    let pieces = [Ok(Bytes::from(vec![7; 40])), Err(std::io::Error::other("reset"))];
    let answer = bulk.post(query, TOKEN, DIGESTS, Body::from_stream(stream::iter(pieces))).await;
    let (signatures, end) = read(&answer.body);
    assert_eq!((signatures.len(), end), (1, Some(Status::Request)));
}

/// The number of signatures and the end of the answer to a stream of which a first chunk is signed when
/// `change` is made to the service. Then another chunk comes if `goes_on`, and otherwise nothing more.
async fn changed_stream(change: impl AsyncFnOnce(&Service), goes_on: bool) -> (usize, Option<Status>) {
    let bulk = Bulk::new().await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(1);
    let next = async |mut receiver: tokio::sync::mpsc::Receiver<_>| Some((receiver.recv().await?, receiver));
    let body = Body::from_stream(stream::unfold(receiver, next));
    let service = Arc::clone(&bulk.service);
    let chunk = || Ok(Bytes::from(vec![7; 32 * 1024]));
    let answer =
        tokio::spawn(
            async move { bulk.post("key=transit/k&scheme=pkcs1v15-sha256", TOKEN, DIGESTS, body).await },
        );
    sender.send(chunk()).await.expect("it is read");
    let signed = r#"modmill_items_total{door="bulk",operation="sign",outcome="answered"} 1024"#;
    while !service.metrics.text().contains(signed) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    change(&service).await;
    if goes_on {
        sender.send(chunk()).await.expect("it is read");
    }
    let (signatures, end) = read(&answer.await.expect("an answer").body);
    (signatures.len(), end)
}

#[tokio::test]
async fn a_stream_ends_with_its_credential() {
    let revoke = async |service: &Service| {
        crate::credentials::revoke(&service.records, "A").await.expect("it is revoked");
    };
    assert_eq!(changed_stream(revoke, true).await, (1024, Some(Status::Request)));
}

#[tokio::test]
async fn a_stream_ends_with_the_service() {
    let drain = async |service: &Service| {
        service.is_draining.store(true, std::sync::atomic::Ordering::Release);
    };
    assert_eq!(changed_stream(drain, false).await, (1024, Some(Status::Draining)));
}

#[tokio::test]
async fn wrong_requests_are_refused_before_anything_is_signed() {
    let bulk = Bulk::new().await;
    let good = "key=transit/k&scheme=pss-sha256";
    for (query, token, content_type, status) in [
        (good, "", DIGESTS, 401),
        (good, "guess", DIGESTS, 401),
        (good, WEAK, DIGESTS, 403),
        (good, TOKEN, "application/json", 415),
        (good, TOKEN, "", 415),
        ("key=transit/other&scheme=pss-sha256", TOKEN, DIGESTS, 404),
        ("key=k&scheme=pss-sha256", TOKEN, DIGESTS, 404),
        ("key=transit/k:2&scheme=pss-sha256", TOKEN, DIGESTS, 409),
        ("key=transit/k:x&scheme=pss-sha256", TOKEN, DIGESTS, 409),
        ("key=transit/k&scheme=pss-sha1", TOKEN, DIGESTS, 400),
        ("key=transit/k&scheme=rsa", TOKEN, DIGESTS, 400),
        ("key=transit/k", TOKEN, DIGESTS, 400),
        ("", TOKEN, DIGESTS, 400),
    ] {
        let answer = bulk.post(query, token, content_type, vec![0; 32]).await;
        assert_eq!(answer.status, status, "{query} {token} {content_type}");
        assert!(answer.json()["error"].is_string());
    }
}

#[tokio::test]
async fn a_key_needs_its_own_permission() {
    struct Closed;
    impl Keyring for Closed {
        fn signing_key<'a>(
            &'a self,
            _: &'a Arc<Principal>,
            _: &'a str,
            _: &'a SignatureScheme,
        ) -> BoxFuture<'a, Result<Option<SigningKey>, KeyringError>> {
            Box::pin(async { Err(KeyringError::Forbidden) })
        }
    }
    let router = super::router(service(transit::kinds).await, vec![Arc::new(Closed)]);
    let token = format!("Bearer {TOKEN}");
    let headers = [("authorization", token.as_str()), ("content-type", DIGESTS)];
    let answer = send(&router, "POST", "/bulk/v1/sign?key=k&scheme=pss-sha256", &headers, vec![0; 32]).await;
    assert_eq!(answer.status, 403);
}
