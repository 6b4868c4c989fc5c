//! Connections: plain, or TLS with the certificates that the caller trusts.

use super::{ClientError, RequestBody};
use crate::tls::{self, Roots};
use http::Uri;
use http::uri::Scheme;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Bytes that may be on their way in a stream and in a connection. Signatures come at hundreds of megabytes a
/// second.
const WINDOW: u32 = 16 << 20;

/// Whose certificates are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// The certificates that the system trusts.
    System,
    /// The certificates that those in this PEM text signed, or these themselves, and no others. This is how
    /// the development certificate of a service is accepted.
    Only(Vec<u8>),
}

impl Trust {
    fn roots(&self) -> Roots<'_> {
        match self {
            Self::System => Roots::System,
            Self::Only(pem) => Roots::Pem(pem),
        }
    }
}

/// A connection to the service at `address`, and the address.
pub(super) async fn connect(
    address: &str,
    trust: &Trust,
) -> Result<(SendRequest<RequestBody>, Uri), ClientError> {
    let wrong = || ClientError::Address(address.to_owned());
    let base: Uri = address.parse().map_err(|_| wrong())?;
    let host = base.host().ok_or_else(wrong)?.trim_matches(['[', ']']).to_owned();
    let is_secure = match base.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => true,
        Some(scheme) if *scheme == Scheme::HTTP => false,
        _ => return Err(wrong()),
    };
    if !matches!(base.path(), "" | "/") || base.query().is_some() {
        return Err(wrong());
    }
    let port = base.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let failed = |error: std::io::Error| ClientError::Connection(format!("{host}:{port}: {error}"));
    let tcp = TcpStream::connect((host.as_str(), port)).await.map_err(failed)?;
    tcp.set_nodelay(true).map_err(failed)?;
    let sender = if is_secure {
        let config = tls::config(trust.roots(), &["h2"]).map_err(ClientError::Certificates)?;
        let name = ServerName::try_from(host.clone()).map_err(|_| wrong())?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, tcp).await.map_err(failed)?;
        handshake(stream).await?
    } else {
        handshake(tcp).await?
    };
    Ok((sender, base))
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<RequestBody>, ClientError> {
    let (sender, connection) = Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_frame_size(1 << 20)
        .max_send_buf_size(1 << 20)
        .handshake(TokioIo::new(stream))
        .await?;
    // Requests see the errors of the connection themselves.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}
