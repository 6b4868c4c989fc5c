//! Signatures by a service (`modmill serve`) instead of this machine.

use super::key_options::read_small;
use super::message_operation::AnswerList;
use crate::failure::Failure;
use modmill::Engine;
use modmill_client::bulk::{BulkClient, ClientError, Signed, Trust};
use modmill_rsa::{Hash, ItemError, SignatureScheme};
use rayon::prelude::*;
use std::fmt::Display;
use tokio::runtime::Runtime;

/// The address of a service, and the token for it.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerOptions {
    /// Sign by the service at this address, https and host and port; --key is then the name of a
    /// key there, such as transit/release, alias/release or a key's identifier
    #[arg(long, value_name = "URL", requires = "token_file", conflicts_with_all = ["password_file", "blinding", "direct_tables"])]
    server: Option<String>,
    /// File whose first line is the token of a credential with the right `bulk`
    #[arg(long, value_name = "FILE", requires = "server", value_parser = crate::io::input_name)]
    token_file: Option<String>,
    /// File with the certificates in PEM that the service's certificate has to be from, such as its
    /// development certificate [default: the system's certificates]
    #[arg(long, value_name = "FILE", requires = "server", value_parser = crate::io::input_name)]
    server_ca: Option<String>,
}

impl ServerOptions {
    /// The options and the files that they name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let token = self.token_file.as_deref().map(|file| ("--token-file", file));
        token.into_iter().chain(self.server_ca.as_deref().map(|file| ("--server-ca", file)))
    }

    /// Connects to the service if one was named. `key` is the name of the key there.
    pub(crate) fn connect(&self, key: &str, scheme: SignatureScheme) -> Result<Option<Remote>, Failure> {
        let (Some(server), Some(token_file)) = (&self.server, &self.token_file) else { return Ok(None) };
        let text = read_small(token_file)?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let token = str::from_utf8(line).map_err(|_| Failure::from(ClientError::Token))?;
        let trust = match &self.server_ca {
            None => Trust::System,
            Some(file) => Trust::Only(read_small(file)?.to_vec()),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failure::Usage(format!("no threads for the connection: {error}")))?;
        let client = runtime.block_on(BulkClient::connect(server, token.trim(), &trust))?;
        Ok(Some(Remote { runtime, client, key: key.to_owned(), scheme }))
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// A connection to a service, and what it signs with.
pub(crate) struct Remote {
    runtime: Runtime,
    client: BulkClient,
    key: String,
    scheme: SignatureScheme,
}

impl Remote {
    /// Signs messages, or digests of them if `has_digests`.
    pub(crate) fn sign(
        &self,
        engine: &Engine,
        items: &[&[u8]],
        has_digests: bool,
    ) -> Result<RemoteAnswers, ClientError> {
        let hash = self.scheme.hash();
        let (places, digests) =
            if has_digests { joined(items, hash) } else { (None, engine.install(|| hashed(items, hash))) };
        let signed = self.runtime.block_on(self.client.sign(&self.key, self.scheme, digests.into()))?;
        let sent = places.as_ref().map_or(items.len(), |places| places.iter().flatten().count());
        if signed.len() != sent {
            return Err(ClientError::Answer(format!("{} signatures for {sent} digests", signed.len())));
        }
        Ok(RemoteAnswers { places, signed, count: items.len() })
    }
}

/// The digests of messages side by side.
fn hashed(messages: &[&[u8]], hash: Hash) -> Vec<u8> {
    let mut digests = vec![0; messages.len() * hash.len()];
    let work =
        |(place, message): (&mut [u8], &&[u8])| place.copy_from_slice(hash.digest(&[message]).as_ref());
    digests.par_chunks_exact_mut(hash.len()).zip(messages).for_each(work);
    digests
}

/// The place of an item's digest among those that were sent, or why it was not sent.
type Places = Vec<Result<usize, ItemError>>;

/// Digests side by side. Those of another length are left out, and then each item has its place.
fn joined(digests: &[&[u8]], hash: Hash) -> (Option<Places>, Vec<u8>) {
    let expected = hash.len();
    let fits = |digest: &&&[u8]| digest.len() == expected;
    if digests.iter().all(|digest| fits(&digest)) {
        return (None, digests.concat());
    }
    let mut next = 0..;
    let place = |digest: &&[u8]| match digest.len() {
        found if found == expected => next.next().ok_or(ItemError::Fault),
        found => Err(ItemError::WrongLength { expected, found }),
    };
    let places = digests.iter().map(place).collect();
    (Some(places), digests.iter().filter(fits).copied().collect::<Vec<_>>().concat())
}

/// The answers of a service.
pub(crate) struct RemoteAnswers {
    places: Option<Places>,
    signed: Signed,
    count: usize,
}

impl AnswerList for RemoteAnswers {
    fn len(&self) -> usize {
        self.count
    }

    fn get(&self, item: usize) -> Result<&[u8], &dyn Display> {
        let place = match self.places.as_ref().map(|places| places.get(item)) {
            None => item,
            Some(Some(Ok(place))) => *place,
            Some(Some(Err(error))) => return Err(error),
            Some(None) => return Err(&ItemError::Fault),
        };
        self.signed.get(place).ok_or(&ItemError::Fault)
    }
}
