//! The load of the Vault transit interface: batches of digests in one request.

use crate::connection::{Connection, Incoming, Outgoing};
use crate::door::{self, Asked, DIGEST, Door, Padding, SecretText};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::mixture::Operation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fastrand::Rng;
use http::Method;
use modmill_rsa::PublicKey;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The settings of a run for an interface with a token and batches.
pub(super) struct Settings<'a> {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) token: SecretText,
    pub(super) padding: Padding,
    pub(super) keys: usize,
    pub(super) bits: usize,
    /// Keys that exist already; those are used instead of new ones.
    pub(super) names: &'a [String],
    /// Digests in a request.
    pub(super) batch: usize,
}

pub(super) struct Transit {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) token: SecretText,
    pub(super) padding: Padding,
    pub(super) batch: usize,
    pub(super) names: Vec<String>,
    public_keys: Vec<PublicKey>,
    /// Whether the keys were made for the run.
    made: bool,
}

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    batch_results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    signature: Option<String>,
}

impl Transit {
    /// Makes keys, unless there are some.
    pub(super) async fn new(settings: Settings<'_>) -> Result<Self, Error> {
        let Settings { endpoint, token, padding, keys, bits, names, batch } = settings;
        let mut connection = Connection::new(Arc::clone(&endpoint), None);
        let made = names.is_empty();
        let mut transit =
            Self { endpoint, token, padding, batch, names: names.to_vec(), public_keys: Vec::new(), made };
        if made {
            // Two runs at the same time have different keys.
            let mut tag = [0; 4];
            getrandom::fill(&mut tag).map_err(|error| Error::Settings(error.to_string()))?;
            let tag = u32::from_le_bytes(tag);
            transit.names = (0..keys).map(|index| format!("modmill-load-{tag:08x}-{index}")).collect();
        }
        for name in &transit.names {
            let path = format!("/v1/transit/keys/{name}");
            if made {
                let body = json!({ "type": format!("rsa-{bits}") });
                let request = transit.request(Method::POST, &path, Some(&body))?;
                door::set_up(&mut connection, "creating a key", request).await?;
            }
            let what = "reading a key";
            let answer =
                door::set_up(&mut connection, what, transit.request(Method::GET, &path, None)?).await?;
            let latest = answer.pointer("/data/latest_version").and_then(Value::as_u64).unwrap_or(1);
            let pem = door::text(&answer, &format!("/data/keys/{latest}/public_key"), what)?;
            transit.public_keys.push(door::public_key(pem.as_bytes(), what)?);
        }
        Ok(transit)
    }

    fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Outgoing, Error> {
        door::with_token(&self.endpoint, (method, path), &self.token, body)
    }

    /// A key and digests to be signed with it.
    pub(super) fn draw(&self, random: &mut Rng) -> (usize, Bytes) {
        let mut digests = vec![0; self.batch * DIGEST];
        random.fill(&mut digests);
        (random.usize(..self.names.len()), Bytes::from(digests))
    }
}

impl Door for Transit {
    fn ask(&self, random: &mut Rng) -> Result<Asked, Error> {
        let (key, digests) = self.draw(random);
        let items: Vec<Value> =
            digests.chunks_exact(DIGEST).map(|digest| json!({ "input": STANDARD.encode(digest) })).collect();
        let body = json!({
            "batch_input": items,
            "prehashed": true,
            "hash_algorithm": "sha2-256",
            "signature_algorithm": self.padding.to_string(),
            // As long as the digest, which is what is verified.
            "salt_length": "hash",
        });
        let path = format!("/v1/transit/sign/{}", self.names[key]);
        let request = self.request(Method::POST, &path, Some(&body))?;
        Ok(Asked { request, operation: Operation::Sign, key, digests })
    }

    fn read(
        &self,
        asked: &Asked,
        answer: &Incoming,
        keep: &mut dyn FnMut(Option<Vec<u8>>),
    ) -> Result<(), String> {
        if !answer.status.is_success() {
            return Err(door::status_name(answer));
        }
        let wrong = || door::WRONG_ANSWER.to_owned();
        let results: Answer = serde_json::from_slice(&answer.body).map_err(|_| wrong())?;
        let items = results.data.batch_results;
        if items.len() as u64 != asked.items() {
            return Err(wrong());
        }
        for item in items {
            // vault:v1:Base64
            let signature = item.signature.as_deref().and_then(|text| text.rsplit(':').next());
            keep(signature.and_then(|text| STANDARD.decode(text).ok()));
        }
        Ok(())
    }

    fn public_keys(&self) -> &[PublicKey] {
        &self.public_keys
    }

    fn clean_up(&self) -> Result<Vec<Outgoing>, Error> {
        let mut requests = Vec::new();
        for name in self.names.iter().filter(|_| self.made) {
            let path = format!("/v1/transit/keys/{name}");
            let allow = json!({ "deletion_allowed": true });
            requests.push(self.request(Method::POST, &format!("{path}/config"), Some(&allow))?);
            requests.push(self.request(Method::DELETE, &path, None)?);
        }
        Ok(requests)
    }
}
