//! Sending commands to a running service.

use super::{AdminError, Command, SOCKET};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// The time that a service has to show that it takes commands.
const ALIVE: Duration = Duration::from_secs(10);

impl Command {
    /// The time that the service has for the command.
    fn patience(&self) -> Duration {
        match self {
            // These go through the whole store.
            Self::Backup { .. } | Self::Reseal { .. } => Duration::from_secs(3600),
            _ => Duration::from_secs(60),
        }
    }
}

/// Sends a command to the service whose data are in `folder`. Returns `None` if no service is running there.
pub async fn send(folder: &Path, command: &Command) -> Result<Option<Zeroizing<String>>, AdminError> {
    send_within(folder, command, ALIVE).await
}

/// Sends a command to a service that has the time `alive` to show that it takes commands.
async fn send_within(
    folder: &Path,
    command: &Command,
    alive: Duration,
) -> Result<Option<Zeroizing<String>>, AdminError> {
    let path = folder.join(SOCKET);
    let stopped = |_| {
        AdminError::Service(format!(
            "the service at {} has not answered for {alive:?}: it is stopped, or busy, or may open no more files; its log says more",
            path.display()
        ))
    };
    let Some(mut sender) = timeout(alive, greet(&path)).await.map_err(stopped)?? else { return Ok(None) };
    let body = serde_json::to_vec(command).map_err(failed)?;
    let patience = command.patience();
    let late = |_| {
        AdminError::Service(format!(
            "the service took the command and has not answered for {patience:?}: it may still execute it"
        ))
    };
    let answer = ask(&mut sender, Request::post("/command"), body.into());
    let (status, text) = timeout(patience, answer).await.map_err(late)??;
    if status.is_success() { Ok(Some(text)) } else { Err(AdminError::Service(text.to_string())) }
}

/// Connects to the socket at `path`, and waits until the service answers. Returns `None` if there is no
/// service.
async fn greet(path: &Path) -> Result<Option<SendRequest<Full<Bytes>>>, AdminError> {
    let Ok(stream) = UnixStream::connect(path).await else { return Ok(None) };
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(failed)?;
    // It ends with the sender.
    tokio::spawn(connection);
    // An older service does not know the path, and answers all the same.
    ask(&mut sender, Request::get("/alive"), Bytes::new()).await?;
    Ok(Some(sender))
}

fn failed(error: impl Display) -> AdminError {
    AdminError::Service(format!("the service does not answer: {error}"))
}

/// Sends a request, and reads the whole answer.
async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    request: http::request::Builder,
    body: Bytes,
) -> Result<(StatusCode, Zeroizing<String>), AdminError> {
    let request = request.header(header::HOST, "localhost").body(Full::new(body)).map_err(failed)?;
    sender.ready().await.map_err(failed)?;
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
    Ok((status, Zeroizing::new(String::from_utf8_lossy(&body).into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_service_that_does_not_answer_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        // Connections wait in the socket, and nobody takes them.
        let _listener = crate::admin::listen(folder.path()).unwrap();
        let short = Duration::from_millis(100);
        let sent = send_within(folder.path(), &Command::ListCredentials, short);
        let error = timeout(Duration::from_secs(60), sent).await.expect("it ends").unwrap_err();
        assert!(error.to_string().contains("has not answered for 100ms"), "{error}");
    }
}
