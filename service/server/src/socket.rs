//! The socket for programs on the same machine: the OpenSSL provider and others that hold no keys of their
//! own.
//!
//! Frames are those of [`modmill_client::wire`]. Whoever connects needs the permission to open the socket's
//! file, and a token of a credential with the right `bulk`. A key is used as at the bulk endpoint: the
//! credential also needs the permission to sign with it. The permission is looked up for every signature, so
//! that one that is taken back ends at once.

use crate::batch::Refused;
use crate::bulk::{Keyring, KeyringError, SigningKey};
use crate::credentials::{Principal, Right};
use crate::door;
use crate::http::Trouble;
use crate::service::Service;
use crate::uuid;
use modmill_client::wire::{LONGEST, Reason, Request, Response};
use modmill_rsa::{Hash, PrivateTask, SignatureScheme};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Requests of one connection that are under way at the same time. Further ones are read when some are
/// answered.
const UNDER_WAY: usize = 1024;

/// How long a connection has to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// How long a client has to take answers that are ready.
const WRITING: Duration = Duration::from_secs(30);

/// The state that all connections share.
pub(crate) struct Socket {
    service: Arc<Service>,
    rings: Vec<Arc<dyn Keyring>>,
}

impl Socket {
    pub(crate) fn new(service: Arc<Service>, rings: Vec<Arc<dyn Keyring>>) -> Arc<Self> {
        Arc::new(Self { service, rings })
    }

    /// Takes connections, at most `limit` at a time, until `stopped` says true. Requests under way then have
    /// `drain` to be answered.
    pub(crate) async fn listen(
        self: Arc<Self>,
        listener: UnixListener,
        limit: usize,
        drain: Duration,
        mut stopped: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let (mut connections, mut trouble) = (JoinSet::new(), Trouble::default());
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.wait_for(|&stopped| stopped) => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    trouble.wait(&error).await;
                    continue;
                }
            };
            while connections.try_join_next().is_some() {}
            if connections.len() >= limit {
                tracing::warn!("a connection to the socket is refused: there are too many");
                continue;
            }
            let (socket, stopped) = (Arc::clone(&self), stopped.clone());
            connections.spawn(async move {
                if let Err(error) = socket.serve(stream, stopped).await {
                    tracing::debug!(%error, "a connection of the socket ends");
                }
            });
        }
        let all = async { while connections.join_next().await.is_some() {} };
        timeout(drain, all).await.map_err(|_| io::Error::other("a client did not take its answers in time"))
    }

    async fn serve(
        self: Arc<Self>,
        stream: UnixStream,
        mut stopped: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        let first = timeout(GREETING, read(&mut reader)).await.map_err(io::Error::other)??;
        let principal = match Request::decode(&first) {
            Ok((id, Request::Hello { token })) => match self.principal(&token) {
                Ok(principal) => {
                    writer.write_all(&Response::Welcome.encode(id)).await?;
                    principal
                }
                Err(response) => return writer.write_all(&response.encode(id)).await,
            },
            _ => return Err(io::Error::other("the first request is no greeting")),
        };
        let (answers, answered) = mpsc::channel(UNDER_WAY);
        // The set ends with this connection, and with it whatever is under way.
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, answered));
        let room = Arc::new(Semaphore::new(UNDER_WAY));
        loop {
            let frame = tokio::select! {
                frame = read(&mut reader) => frame,
                _ = stopped.wait_for(|&stopped| stopped) => break,
            };
            let Ok(frame) = frame else { break };
            let (id, request) = Request::decode(&frame).map_err(io::Error::other)?;
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
            let (socket, principal, answers) = (Arc::clone(&self), Arc::clone(&principal), answers.clone());
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let response = socket.answer(&principal, request).await;
                // Whoever asked may have left.
                let _ = answers.send(response.encode(id)).await;
                drop(permit);
                Ok(())
            });
        }
        drop(answers);
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(io::Error::other)??;
        }
        Ok(())
    }

    fn principal(&self, token: &str) -> Result<Arc<Principal>, Response> {
        let denied = |text: &str| Response::Refused { reason: Reason::Denied, text: text.to_owned() };
        let principal =
            door::principal(&self.service, token).ok_or_else(|| denied("the token is missing or unknown"))?;
        match principal.may(Right::Bulk) {
            true => Ok(Arc::new(principal)),
            false => Err(denied("the credential has no right `bulk`")),
        }
    }

    async fn answer(&self, principal: &Arc<Principal>, request: Request) -> Response {
        let refused = |reason, text: String| Response::Refused { reason, text };
        if let Err(wait) = self.service.limits.check(principal) {
            return refused(Reason::Busy, format!("too many requests: try again in {wait:?}"));
        }
        match request {
            Request::Hello { .. } => refused(Reason::Impossible, "the greeting comes first and once".into()),
            Request::Describe { key } => {
                match self.find(principal, &key, &SignatureScheme::Pkcs1v15(Hash::Sha256)).await {
                    Ok(SigningKey { key, .. }) => Response::Key {
                        modulus: key.public_key().modulus_bytes().to_vec(),
                        exponent: key.public_key().exponent_bytes(),
                    },
                    Err(response) => response,
                }
            }
            Request::Sign { key, scheme, digest } => {
                let SigningKey { id, key } = match self.find(principal, &key, &scheme).await {
                    Ok(key) => key,
                    Err(response) => return response,
                };
                let (request, deadline) = (uuid::of_request(), door::deadline(&self.service));
                let origin = door::origin(principal, ("socket", "Sign"), &id, &request, deadline);
                let task = PrivateTask::Sign { scheme, digest };
                match self.service.batcher.private(origin, key, task).await {
                    Ok(signature) => Response::Signature(signature.to_vec()),
                    Err(error @ (Refused::Overloaded(_) | Refused::Draining | Refused::Late)) => {
                        refused(Reason::Busy, error.to_string())
                    }
                    Err(error) => refused(Reason::Impossible, error.to_string()),
                }
            }
        }
    }

    async fn find(
        &self,
        principal: &Arc<Principal>,
        name: &str,
        scheme: &SignatureScheme,
    ) -> Result<SigningKey, Response> {
        let refused = |reason, text| Err(Response::Refused { reason, text });
        for ring in &self.rings {
            match ring.signing_key(principal, name, scheme).await {
                Ok(None) => {}
                Ok(Some(key)) => return Ok(key),
                Err(error @ KeyringError::Forbidden) => return refused(Reason::Denied, error.to_string()),
                Err(error) => return refused(Reason::Impossible, error.to_string()),
            }
        }
        refused(Reason::NoSuchKey, format!("there is no key {name:?}"))
    }
}

/// A listener at `path` whose file has `mode`. A file that is left from an earlier service is replaced.
pub(crate) fn bind(path: &Path, mode: u32) -> io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path)?,
        Ok(_) => return Err(io::Error::other("there is a file of this name that is no socket")),
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(listener)
}

/// Reads a frame without its length.
async fn read(reader: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Vec<u8>> {
    let length = reader.read_u32_le().await? as usize;
    if length > LONGEST {
        return Err(io::Error::other("a frame is too long"));
    }
    let mut frame = vec![0; length];
    reader.read_exact(&mut frame).await?;
    Ok(frame)
}

/// Writes answers as they come, all that are there at once.
async fn write(mut writer: OwnedWriteHalf, mut answers: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(mut octets) = answers.recv().await {
        while let Ok(more) = answers.try_recv() {
            octets.extend(more);
        }
        timeout(WRITING, writer.write_all(&octets)).await.map_err(io::Error::other)??;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
