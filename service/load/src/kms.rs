//! The load of the KMS interface: JSON 1.1, each request signed.

use crate::connection::{Connection, Incoming, Outgoing};
use crate::door::{self, Asked, DIGEST, Door, Padding};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::mixture::{Mixture, Operation};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fastrand::Rng;
use http_body_util::Full;
use modmill_rsa::PublicKey;
use modmill_server::sigv4::Signer;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::SystemTime;

const CONTENT_TYPE: &str = "application/x-amz-json-1.1";
const ENCRYPTION: &str = "RSAES_OAEP_SHA_256";
const MESSAGE: &[u8] = b"a short message";

/// The settings of a run with KMS.
pub(super) struct Settings<'a> {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) signer: Signer,
    pub(super) mixture: Mixture,
    pub(super) padding: Padding,
    pub(super) keys: usize,
    pub(super) bits: usize,
    /// Keys that exist already; those are used instead of new ones.
    pub(super) names: &'a [String],
}

/// A key that signs, and what the other operations need.
struct Key {
    id: String,
    /// A digest with its signature, both in Base64, for requests to verify it.
    signed: Option<(String, String)>,
    /// A key that decrypts, with a ciphertext in Base64.
    decrypting: Option<(String, String)>,
}

pub(super) struct Kms {
    endpoint: Arc<Endpoint>,
    signer: Signer,
    mixture: Mixture,
    algorithm: &'static str,
    keys: Vec<Key>,
    public_keys: Vec<PublicKey>,
    /// Whether the keys were made for the run.
    made: bool,
}

/// The parts of answers that the load looks at.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    signature: Option<String>,
    signature_valid: Option<bool>,
    ciphertext_blob: Option<String>,
    plaintext: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "__type")]
    kind: String,
}

impl Kms {
    /// Makes keys, unless there are some, and what the operations of the mixture need.
    pub(super) async fn new(settings: Settings<'_>) -> Result<Self, Error> {
        let Settings { endpoint, signer, mixture, padding, keys, bits, names } = settings;
        let algorithm = match padding {
            Padding::Pkcs1v15 => "RSASSA_PKCS1_V1_5_SHA_256",
            Padding::Pss => "RSASSA_PSS_SHA_256",
        };
        let mut connection = Connection::new(Arc::clone(&endpoint), None);
        let made = names.is_empty();
        let mut kms =
            Self { endpoint, signer, mixture, algorithm, keys: Vec::new(), public_keys: Vec::new(), made };
        for index in 0..if made { keys } else { names.len() } {
            let id = match names.get(index) {
                Some(name) => name.clone(),
                None => kms.create(&mut connection, bits, "SIGN_VERIFY").await?,
            };
            let what = "GetPublicKey";
            let answer = kms.call(&mut connection, what, json!({ "KeyId": id })).await?;
            let der = STANDARD.decode(door::text(&answer, "/PublicKey", what)?).unwrap_or_default();
            kms.public_keys.push(door::public_key(&der, what)?);
            let signed = match kms.mixture.has(Operation::Verify) {
                true => {
                    let digest = STANDARD.encode([7; DIGEST]);
                    let answer = kms.call(&mut connection, "Sign", kms.sign_body(&id, &digest)).await?;
                    Some((digest, door::text(&answer, "/Signature", "Sign")?.to_owned()))
                }
                false => None,
            };
            let encrypts = kms.mixture.has(Operation::Encrypt) || kms.mixture.has(Operation::Decrypt);
            let decrypting = match encrypts {
                true => {
                    let id = kms.create(&mut connection, bits, "ENCRYPT_DECRYPT").await?;
                    let answer = kms.call(&mut connection, "Encrypt", encrypt_body(&id)).await?;
                    let ciphertext = door::text(&answer, "/CiphertextBlob", "Encrypt")?.to_owned();
                    Some((id, ciphertext))
                }
                false => None,
            };
            kms.keys.push(Key { id, signed, decrypting });
        }
        Ok(kms)
    }

    async fn create(&self, connection: &mut Connection, bits: usize, usage: &str) -> Result<String, Error> {
        let body =
            json!({ "KeySpec": format!("RSA_{bits}"), "KeyUsage": usage, "Description": "modmill load" });
        let answer = self.call(connection, "CreateKey", body).await?;
        Ok(door::text(&answer, "/KeyMetadata/KeyId", "CreateKey")?.to_owned())
    }

    async fn call(&self, connection: &mut Connection, what: &str, body: Value) -> Result<Value, Error> {
        door::set_up(connection, what, self.request(what, body.to_string())?).await
    }

    /// A signed request.
    fn request(&self, operation: &str, body: String) -> Result<Outgoing, Error> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let request = door::start(&self.endpoint, http::Method::POST, "/")
            .header("content-type", CONTENT_TYPE)
            .header("x-amz-target", format!("TrentService.{operation}"))
            .body(Full::from(body.clone()))
            .map_err(door::not_a_request)?;
        let (mut head, full) = request.into_parts();
        let signed = self.signer.sign(&mut head, body.as_bytes(), now.as_secs());
        signed.map_err(|error| Error::Settings(format!("no request can be signed: {error}")))?;
        Ok(Outgoing::from_parts(head, full))
    }

    fn sign_body(&self, id: &str, digest: &str) -> Value {
        json!({ "KeyId": id, "Message": digest, "MessageType": "DIGEST", "SigningAlgorithm": self.algorithm })
    }
}

fn encrypt_body(id: &str) -> Value {
    json!({ "KeyId": id, "Plaintext": STANDARD.encode(MESSAGE), "EncryptionAlgorithm": ENCRYPTION })
}

impl Door for Kms {
    fn ask(&self, random: &mut Rng) -> Result<Asked, Error> {
        let operation = self.mixture.pick(random);
        let index = random.usize(..self.keys.len());
        let key = &self.keys[index];
        let mut digests = Bytes::new();
        let (name, body) = match (operation, &key.signed, &key.decrypting) {
            (Operation::Verify, Some((digest, signature)), _) => {
                let mut body = self.sign_body(&key.id, digest);
                body["Signature"] = Value::from(signature.as_str());
                ("Verify", body)
            }
            (Operation::Encrypt, _, Some((id, _))) => ("Encrypt", encrypt_body(id)),
            (Operation::Decrypt, _, Some((id, ciphertext))) => {
                let body =
                    json!({ "KeyId": id, "CiphertextBlob": ciphertext, "EncryptionAlgorithm": ENCRYPTION });
                ("Decrypt", body)
            }
            _ => {
                let mut digest = [0; DIGEST];
                random.fill(&mut digest);
                digests = Bytes::copy_from_slice(&digest);
                ("Sign", self.sign_body(&key.id, &STANDARD.encode(digest)))
            }
        };
        let request = self.request(name, body.to_string())?;
        Ok(Asked { request, operation, key: index, digests })
    }

    fn read(
        &self,
        asked: &Asked,
        answer: &Incoming,
        keep: &mut dyn FnMut(Option<Vec<u8>>),
    ) -> Result<(), String> {
        if !answer.status.is_success() {
            let kind = serde_json::from_slice::<Failure>(&answer.body).map(|failure| failure.kind);
            // The name may have a namespace before it.
            let kind =
                kind.map(|kind| kind.rsplit('#').next().unwrap_or_default().chars().take(60).collect());
            return Err(kind.unwrap_or_else(|_| door::status_name(answer)));
        }
        let wrong = || door::WRONG_ANSWER.to_owned();
        let fields: Answer = serde_json::from_slice(&answer.body).map_err(|_| wrong())?;
        let right = match asked.operation {
            Operation::Sign => {
                let signature = fields.signature.and_then(|text| STANDARD.decode(text).ok());
                let right = signature.is_some();
                keep(signature);
                right
            }
            Operation::Verify => fields.signature_valid == Some(true),
            Operation::Encrypt => fields.ciphertext_blob.is_some(),
            Operation::Decrypt => {
                fields.plaintext.and_then(|text| STANDARD.decode(text).ok()).as_deref() == Some(MESSAGE)
            }
        };
        if right { Ok(()) } else { Err(wrong()) }
    }

    fn public_keys(&self) -> &[PublicKey] {
        &self.public_keys
    }

    fn clean_up(&self) -> Result<Vec<Outgoing>, Error> {
        let signing = self.keys.iter().filter(|_| self.made).map(|key| &key.id);
        let decrypting = self.keys.iter().filter_map(|key| Some(&key.decrypting.as_ref()?.0));
        let body = |id: &String| json!({ "KeyId": id, "PendingWindowInDays": 7 }).to_string();
        signing.chain(decrypting).map(|id| self.request("ScheduleKeyDeletion", body(id))).collect()
    }
}
