//! Sending commands to a running service.

use super::{AdminError, Command, SOCKET};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use std::path::Path;
use tokio::net::UnixStream;
use zeroize::Zeroizing;

/// Sends a command to the service whose data are in `folder`. Returns `None` if no service is running there.
pub async fn send(folder: &Path, command: &Command) -> Result<Option<Zeroizing<String>>, AdminError> {
    let Ok(stream) = UnixStream::connect(folder.join(SOCKET)).await else { return Ok(None) };
    let failed =
        |error: &dyn std::fmt::Display| AdminError::Service(format!("the service does not answer: {error}"));
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    let connection = tokio::spawn(connection);
    let body = serde_json::to_vec(command).map_err(|error| failed(&error))?;
    let request =
        Request::post("/command").header(header::HOST, "localhost").body(Full::new(Bytes::from(body)));
    let request = request.map_err(|error| failed(&error))?;
    let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|error| failed(&error))?.to_bytes();
    connection.abort();
    let text = Zeroizing::new(String::from_utf8_lossy(&body).into_owned());
    if status.is_success() { Ok(Some(text)) } else { Err(AdminError::Service(text.to_string())) }
}
