//! The issuer as clients see it.

use super::*;
use crate::body::Bodies;
use crate::door::testing::{Answer, TOKEN, WEAK, send, service};
use modmill::Engine;
use modmill_rsa::{BlindScheme, Blinded, PublicKey, Rsa, Sizes};
use sha2::{Digest as _, Sha256};

struct Client {
    service: Arc<Service>,
    router: Router,
    key: IssuerKey,
}

/// A new key of a service.
async fn create(service: &Service, not_before_s: Option<u64>) -> Result<IssuerKey, IssuerError> {
    issuer::create(&service.records, service.batcher.engine(), &service.clock, not_before_s).await
}

/// A key of the directory up to the RSA key in it, as RFC 9578, section 6.5 asks for it.
const PREFIX: [u8; 72] = [
    0x30, 0x82, 0x01, 0x52, 0x30, 0x3d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a,
    0x30, 0x30, 0xa0, 0x0d, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02,
    0xa1, 0x1a, 0x30, 0x18, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08, 0x30, 0x0b,
    0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0xa2, 0x03, 0x02, 0x01, 0x30, 0x03,
    0x82, 0x01, 0x0f, 0x00,
];

/// The RSA key within a key of the directory.
fn public(key: &[u8]) -> PublicKey {
    let rsa = key.strip_prefix(&PREFIX).expect("RSASSA-PSS with SHA-384");
    PublicKey::read(rsa, Sizes::Standard).expect("an RSA key")
}

impl Client {
    async fn new(settings: IssuerSettings) -> Self {
        let service = service(super::kinds).await;
        let key = create(&service, None).await.expect("a key");
        let router = super::router(Arc::clone(&service), settings);
        Self { service, router, key }
    }

    async fn post(&self, content_type: &str, token: Option<&str>, body: Vec<u8>) -> Answer {
        let token = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("content-type", content_type)];
        headers.extend(token.as_deref().map(|token| ("authorization", token)));
        send(&self.router, "POST", "/token-request", &headers, body).await
    }
}

/// A token input (RFC 9578, section 6.1) for `key`.
fn token_input(key: &IssuerKey, nonce: u8) -> Vec<u8> {
    let challenge = Sha256::digest(b"challenge");
    [&[0, 2][..], &[nonce; 32], &challenge, &Sha256::digest(&key.public_key)].concat()
}

fn blind(engine: &Engine, key: &IssuerKey, input: &[u8]) -> Blinded {
    let blinded = Rsa::new(engine).blind(&public(&key.public_key), BlindScheme::PssDeterministic, &[input]);
    blinded.expect("a call").into_iter().next().expect("an item").expect("a blinded message")
}

fn request(key: &IssuerKey, blinded: &[u8]) -> Vec<u8> {
    [&[0, 2, key.truncated_id()][..], blinded].concat()
}

/// Whether a blind signature gives a token.
fn finalizes(engine: &Engine, key: &IssuerKey, input: &[u8], blinded: &Blinded, signature: &[u8]) -> bool {
    let rsa = Rsa::new(engine);
    let (key, scheme) = (public(&key.public_key), BlindScheme::PssDeterministic);
    let tokens = rsa.finalize(&key, scheme, &[input], &[signature], &[&blinded.inverse[..]]).expect("a call");
    let Some(Ok(token)) = tokens.into_iter().next() else { return false };
    rsa.verify(&key, scheme.signature_scheme(), &[input], &[token]).expect("a call")[0].is_ok()
}

#[tokio::test]
async fn a_token_is_issued() {
    let client = Client::new(IssuerSettings::default()).await;
    let engine = Engine::new().expect("an engine");
    let input = token_input(&client.key, 1);
    let blinded = blind(&engine, &client.key, &input);
    let answer = client.post(REQUEST, Some(TOKEN), request(&client.key, &blinded.message)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers[CONTENT_TYPE], RESPONSE);
    assert_eq!(answer.body.len(), 256);
    assert!(finalizes(&engine, &client.key, &input, &blinded, &answer.body));
}

#[tokio::test]
async fn a_batch_of_tokens_is_issued() {
    let client = Client::new(IssuerSettings { max_batch: 4, ..IssuerSettings::default() }).await;
    let second = create(&client.service, None).await.expect("a key");
    let engine = Engine::new().expect("an engine");
    let keys = [&client.key, &second, &client.key];
    let inputs: Vec<_> = keys.iter().zip(1..).map(|(key, nonce)| token_input(key, nonce)).collect();
    let blinded: Vec<_> = keys.iter().zip(&inputs).map(|(key, input)| blind(&engine, key, input)).collect();
    let mut requests: Vec<Vec<u8>> =
        keys.iter().zip(&blinded).map(|(key, blinded)| request(key, &blinded.message)).collect();
    // Nobody's key, between the others.
    let free = (0..=255).find(|byte| ![client.key.truncated_id(), second.truncated_id()].contains(byte));
    requests.insert(1, [&[0, 2, free.expect("a byte")][..], &[0; 256]].concat());
    let batch = |requests: &[Vec<u8>]| {
        let joined = requests.concat();
        [&(0x4000 | joined.len() as u16).to_be_bytes()[..], &joined].concat()
    };
    let answer = client.post(BATCH_REQUEST, Some(TOKEN), batch(&requests)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers[CONTENT_TYPE]),
        (200, &BATCH_RESPONSE.parse().expect("a name"))
    );
    let body = &answer.body[2..];
    assert_eq!(body.len(), 3 * 259 + 1);
    assert_eq!((&body[..3], body[259], &body[260..263]), (&[1, 0, 2][..], 0, &[1, 0, 2][..]));
    for (item, start) in [(0, 3), (1, 263), (2, 522)] {
        let signature = &body[start..start + 256];
        assert!(finalizes(&engine, keys[item], &inputs[item], &blinded[item], signature), "{item}");
    }
    requests.push(requests[0].clone());
    let answer = client.post(BATCH_REQUEST, Some(TOKEN), batch(&requests)).await;
    assert_eq!(answer.status, 422, "too many");
}

#[tokio::test]
async fn the_directory_has_the_keys_in_their_order() {
    let client = Client::new(IssuerSettings::default()).await;
    let now = client.service.clock.now_ms() / 1000;
    let later = create(&client.service, Some(now + 1000)).await.expect("a key");
    let directory = async || {
        let answer =
            send(&client.router, "GET", "/.well-known/private-token-issuer-directory", &[], "").await;
        assert_eq!(answer.headers[CONTENT_TYPE], DIRECTORY);
        assert_eq!(answer.headers[CACHE_CONTROL], "public, max-age=3600");
        answer.json()
    };
    let encoded = |key: &IssuerKey| URL_SAFE.encode(&key.public_key);
    let found = directory().await;
    assert_eq!(found["issuer-request-uri"], "/token-request");
    assert_eq!(
        (&found["token-keys"][0]["token-key"], &found["token-keys"][0]["token-type"]),
        (&json!(encoded(&client.key)), &json!(2))
    );
    assert_eq!(found["token-keys"][1]["not-before"], now + 1000);
    assert!(!encoded(&client.key).contains('='), "the length needs no padding");

    let body = request(&later, &[0; 256]);
    assert_eq!(client.post(REQUEST, Some(TOKEN), body.clone()).await.status, 422, "too early");
    client.service.clock.move_by(1_001_000);
    assert_eq!(directory().await["token-keys"][0]["token-key"], encoded(&later));
    assert_eq!(client.post(REQUEST, Some(TOKEN), body.clone()).await.status, 200);
    issuer::retire(&client.service.records, &later.id).await.expect("a key");
    assert_eq!(client.post(REQUEST, Some(TOKEN), body).await.status, 422, "retired");
    assert!(matches!(issuer::retire(&client.service.records, &later.id).await, Err(IssuerError::Missing(_))));
}

#[tokio::test]
async fn wrong_requests_get_no_token() {
    let client = Client::new(IssuerSettings::default()).await;
    let good = request(&client.key, &[1; 256]);
    let changed = |place: usize, value: u8| {
        let mut body = good.clone();
        body[place] = value;
        body
    };
    let modulus = public(&client.key.public_key).modulus_bytes().to_vec();
    for (content_type, token, body, status) in [
        (REQUEST, Some(TOKEN), good.clone(), 200),
        (REQUEST, None, good.clone(), 401),
        (REQUEST, Some("guess"), good.clone(), 401),
        (REQUEST, Some(WEAK), good.clone(), 403),
        ("application/json", Some(TOKEN), good.clone(), 415),
        (REQUEST, Some(TOKEN), changed(1, 1), 422),
        (REQUEST, Some(TOKEN), changed(2, client.key.truncated_id() ^ 1), 422),
        (REQUEST, Some(TOKEN), request(&client.key, &modulus), 422),
        (REQUEST, Some(TOKEN), request(&client.key, &[255; 256]), 422),
        (REQUEST, Some(TOKEN), good[..258].to_vec(), 400),
        (REQUEST, Some(TOKEN), [&good[..], &[0]].concat(), 400),
        (REQUEST, Some(TOKEN), Vec::new(), 400),
        (BATCH_REQUEST, Some(TOKEN), good.clone(), 400),
        (BATCH_REQUEST, Some(TOKEN), vec![0], 422),
    ] {
        let answer = client.post(content_type, token, body).await;
        assert_eq!(answer.status, status, "{content_type} {token:?} {:?}", answer.body);
    }
}

#[tokio::test]
async fn tokens_are_limited_and_may_be_open() {
    let settings =
        IssuerSettings { open_issuance: true, tokens_per_second: 1, burst: 2, ..IssuerSettings::default() };
    let client = Client::new(settings).await;
    let body = request(&client.key, &[1; 256]);
    for status in [200, 200, 429] {
        let answer = client.post(REQUEST, None, body.clone()).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers.contains_key(RETRY_AFTER), status == 429);
    }
    // Others have tokens of their own; a wrong token is wrong even if issuance is open.
    assert_eq!(client.post(REQUEST, Some(TOKEN), body.clone()).await.status, 200);
    assert_eq!(client.post(REQUEST, Some("guess"), body).await.status, 401);
}

#[tokio::test]
async fn bodies_share_memory_that_strangers_have_no_part_of() {
    let mut service = service(super::kinds).await;
    Arc::get_mut(&mut service).expect("the only owner").bodies = Arc::new(Bodies::new(8));
    let router = super::router(Arc::clone(&service), IssuerSettings::default());
    for (token, status) in [(TOKEN, 503), (WEAK, 403), ("guess", 401)] {
        let authorization = format!("Bearer {token}");
        let headers = [("content-type", REQUEST), ("authorization", &authorization)];
        let answer = send(&router, "POST", "/token-request", &headers, vec![0; 259]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.headers.contains_key("retry-after")),
            (status, status == 503)
        );
    }
    assert_eq!(service.bodies.held(), 0);
}
