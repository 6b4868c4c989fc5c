//! A server that is ready to be loaded: its interface, keys and credentials.

use crate::bulk::Bulk;
use crate::connection::Connection;
use crate::door::{Door, Padding, SecretText};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::kms::{self, Kms};
use crate::mixture::Mixture;
use crate::process::Process;
use crate::transit::{self, Transit};
use modmill_seal::secret::SecretBytes;
use modmill_server::sigv4::Signer;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The interface that requests go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interface {
    /// AWS KMS, one operation in a request.
    #[default]
    Kms,
    /// Vault transit, a batch in a request.
    Transit,
    /// The bulk endpoint, a batch in a request.
    Bulk,
}

impl Interface {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Kms, "kms"), (Self::Transit, "transit"), (Self::Bulk, "bulk")];
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::ALL.iter().filter(|(each, _)| each == self).try_for_each(|(_, name)| f.write_str(name))
    }
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text).map(|&(each, _)| each);
        found.ok_or_else(|| format!("unknown interface {text:?}; it is kms, transit or bulk"))
    }
}

/// Who asks: the JSON that `modmill serve credentials create --json` prints, or parts of it.
#[derive(Clone, Default, Deserialize)]
pub struct Credentials {
    /// The access key's identifier, for KMS.
    pub access_key_id: Option<String>,
    /// The secret access key, for KMS.
    #[serde(default, deserialize_with = "secret")]
    pub secret_access_key: Option<SecretText>,
    /// The token, for transit and bulk.
    #[serde(default, deserialize_with = "secret")]
    pub token: Option<SecretText>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretText>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretText::new))
}

/// What a run does. The endpoint and the credentials have no default.
pub struct Settings {
    /// The server.
    pub endpoint: Endpoint,
    /// The interface.
    pub interface: Interface,
    /// Who asks.
    pub credentials: Credentials,
    /// The region in the signatures of requests.
    pub region: String,
    /// How many keys are made for the run.
    pub keys: usize,
    /// The length of their moduli.
    pub bits: usize,
    /// Keys that exist already; those are used in the place of new ones.
    pub key_names: Vec<String>,
    /// The padding of signatures.
    pub padding: Padding,
    /// The operations, with KMS.
    pub mixture: Mixture,
    /// Digests in a request, with transit and bulk.
    pub batch: usize,
    /// Connections.
    pub connections: usize,
    /// Requests at the same time on each connection of HTTP/2.
    pub streams: usize,
    /// When a request is given up.
    pub timeout: Duration,
    /// Load before the measurement starts.
    pub warm_up: Duration,
    /// How long the load is measured.
    pub duration: Duration,
    /// How arrivals are spread.
    pub spread: crate::Spread,
    /// The seed of arrivals and digests.
    pub seed: u64,
    /// Of how many signatures one is verified; 0 verifies none.
    pub verify_every: u64,
    /// The server's process.
    pub process: Option<Process>,
}

impl Settings {
    /// Settings for one interface of a server.
    #[must_use]
    pub fn new(endpoint: Endpoint, interface: Interface, credentials: Credentials) -> Self {
        let single = interface == Interface::Kms;
        Self {
            endpoint,
            interface,
            credentials,
            region: "us-east-1".into(),
            keys: 1,
            bits: 2048,
            key_names: Vec::new(),
            padding: Padding::default(),
            mixture: Mixture::default(),
            batch: if single { 1 } else { 1000 },
            connections: if single { 64 } else { 4 },
            streams: 16,
            timeout: Duration::from_secs(10),
            warm_up: Duration::from_secs(2),
            duration: Duration::from_secs(10),
            spread: crate::Spread::default(),
            seed: 1,
            verify_every: 1,
            process: None,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |why: &str| Err(Error::Settings(why.to_owned()));
        if self.connections == 0 || self.streams == 0 {
            return wrong("a load needs a connection, and a stream on it");
        }
        if self.keys == 0 && self.key_names.is_empty() {
            return wrong("a load needs a key");
        }
        if self.batch == 0 || self.duration.is_zero() || self.timeout.is_zero() {
            return wrong("a load needs a batch, a duration and a time limit above 0");
        }
        if self.interface != Interface::Kms && !self.mixture.only_signs() {
            return wrong("a mixture of operations is for kms: transit and bulk sign");
        }
        Ok(())
    }
}

/// A server that is ready to be loaded.
pub struct Session {
    pub(super) settings: Settings,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) door: Arc<dyn Door>,
}

impl Session {
    /// Makes the keys that the load needs.
    pub async fn open(mut settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let endpoint = Arc::new(settings.endpoint.clone());
        let door: Arc<dyn Door> = match settings.interface {
            Interface::Kms => Arc::new(Kms::new(kms_settings(&mut settings, &endpoint)?).await?),
            Interface::Transit => Arc::new(Transit::new(token_settings(&mut settings, &endpoint)?).await?),
            Interface::Bulk => Arc::new(Bulk::new(token_settings(&mut settings, &endpoint)?).await?),
        };
        Ok(Self { settings, endpoint, door })
    }

    /// What the load was set to.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Removes the keys that were made for the load: with KMS, after the shortest waiting period.
    pub async fn close(self) -> Result<(), Error> {
        let mut connection = Connection::new(self.endpoint, None);
        for request in self.door.clean_up()? {
            crate::door::set_up(&mut connection, "removing a key", request).await?;
        }
        Ok(())
    }
}

fn kms_settings<'a>(
    settings: &'a mut Settings,
    endpoint: &Arc<Endpoint>,
) -> Result<kms::Settings<'a>, Error> {
    let missing = || Error::Settings("KMS needs an access key and its secret".into());
    let id = settings.credentials.access_key_id.take().ok_or_else(missing)?;
    let secret = settings.credentials.secret_access_key.take().ok_or_else(missing)?;
    let secret = SecretBytes::new(secret.as_bytes().to_vec().into());
    Ok(kms::Settings {
        endpoint: Arc::clone(endpoint),
        signer: Signer::new(&id, secret, &settings.region, "kms"),
        mixture: settings.mixture.clone(),
        padding: settings.padding,
        keys: settings.keys,
        bits: settings.bits,
        names: &settings.key_names,
    })
}

fn token_settings<'a>(
    settings: &'a mut Settings,
    endpoint: &Arc<Endpoint>,
) -> Result<transit::Settings<'a>, Error> {
    let missing = || Error::Settings("this interface needs a token".into());
    Ok(transit::Settings {
        endpoint: Arc::clone(endpoint),
        token: settings.credentials.token.take().ok_or_else(missing)?,
        padding: settings.padding,
        keys: settings.keys,
        bits: settings.bits,
        names: &settings.key_names,
        batch: settings.batch,
    })
}
