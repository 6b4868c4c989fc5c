//! How the database is reached: the parts of its URL, and TLS.

use crate::store::StoreError;
use modmill_client::tls::{self, Roots};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(3);
/// The time of silence after which a connection is tried, so that a database that vanished is noticed.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// The address of the database, and the way to talk to it.
pub(super) struct Target {
    pub(super) config: tokio_postgres::Config,
    /// `None` for a plain connection.
    pub(super) tls: Option<Arc<ClientConfig>>,
}

/// The target that `url` names. The parameters `sslmode` and `sslrootcert` are taken out of it.
pub(super) fn parse(url: &str) -> Result<Target, StoreError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut mode, mut root, mut others) = ("disable", None, Vec::new());
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some(("sslrootcert", value)) => root = Some(value),
            _ => others.push(parameter),
        }
    }
    let encrypted = match mode {
        "disable" => false,
        "require" | "verify-ca" | "verify-full" => true,
        _ => return Err(wrong("sslmode is disable, require, verify-ca or verify-full")),
    };
    let rest = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
    // The reason is left out: it may quote the password.
    let parsed =
        rest.parse().map_err(|_| wrong("it has the form postgres://user:password@host:port/database"));
    let mut config: tokio_postgres::Config = parsed?;
    if config.get_hosts().is_empty() {
        return Err(wrong("it names no host"));
    }
    config.application_name("modmill").connect_timeout(CONNECT).keepalives_idle(KEEPALIVE);
    config.tcp_user_timeout(2 * KEEPALIVE);
    config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
    let tls = if encrypted { Some(Arc::new(client(root)?)) } else { None };
    Ok(Target { config, tls })
}

fn wrong(reason: &str) -> StoreError {
    StoreError::Unavailable(format!("the URL of the database is not understood: {reason}"))
}

/// The TLS client that checks the server's certificate: against those in the file `root`, or else the
/// system's.
fn client(root: Option<&str>) -> Result<ClientConfig, StoreError> {
    let (roots, what) = match root {
        Some(path) => (Roots::File(Path::new(path)), format!("sslrootcert {path}")),
        None => (Roots::System, "the system's certificates, without sslrootcert".to_owned()),
    };
    // PostgreSQL speaks one protocol, and does not ask for its name.
    tls::config(roots, &[]).map_err(|reason| StoreError::Unavailable(format!("{what}: {reason}")))
}

/// Makes TLS connections for tokio-postgres.
#[derive(Clone)]
pub(super) struct Tls(tokio_rustls::TlsConnector);

/// A connector to one server.
pub(super) struct Connector(tokio_rustls::TlsConnector, ServerName<'static>);

/// An encrypted connection.
pub(super) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl Tls {
    pub(super) fn new(config: Arc<ClientConfig>) -> Self {
        Self(config.into())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Connector;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Connector, Self::Error> {
        Ok(Connector(self.0.clone(), ServerName::try_from(domain)?.to_owned()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connector {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.0.connect(self.1, stream).await.map(Stream) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_how_to_connect() {
        let plain = parse("postgres://u:p@host:5/db").unwrap();
        assert!(plain.tls.is_none() && plain.config.get_ssl_mode() == SslMode::Disable);
        assert_eq!(plain.config.get_dbname(), Some("db"));
        let other =
            parse("postgres://host/db?sslmode=disable&connect_timeout=7&target_session_attrs=read-write")
                .unwrap();
        assert_eq!(other.config.get_connect_timeout(), Some(&CONNECT));
    }

    #[test]
    fn urls_that_are_wrong_are_refused_without_their_password() {
        for url in [
            "",
            "postgres://",
            "mysql://u:hunter2@host/db",
            "postgres://u:hunter2@host:port/db",
            "postgres://u:hunter2@host/db?sslmode=prefer",
            "postgres://u:hunter2@host/db?hunter2=1",
            "postgres://u:hunter2@host/db?sslmode=require&sslrootcert=/does/not/exist",
        ] {
            let error = parse(url).err().unwrap().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let url = format!("postgres://host/db?sslmode=verify-full&sslrootcert={}", file.path().display());
        assert!(parse(&url).err().unwrap().to_string().contains("no certificates"));
    }
}
