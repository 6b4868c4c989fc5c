//! The address of a server, and connections to it.

use crate::error::Error;
use modmill_client::tls::{self, Roots};
use rustls::pki_types::ServerName;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A stream of bytes, plain or encrypted.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A server: `http://127.0.0.1:4599` or `https://localhost:4599`.
#[derive(Clone)]
pub struct Endpoint {
    /// The host and, if it is not the scheme's own, the port, as the `Host` header has them.
    pub authority: String,
    address: SocketAddr,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    scheme: &'static str,
    http2: bool,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.url(""))
    }
}

impl Endpoint {
    /// Reads a URL without a path, and looks up its address. `http2` speaks HTTP/2 from the first byte.
    /// `authorities` is a PEM file of the certificates that an `https` server's certificate is checked
    /// against.
    pub fn new(url: &str, http2: bool, authorities: Option<&Path>) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Endpoint(format!("{url}: {why}"));
        let (scheme, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => ("http", rest),
            (_, Some(rest)) => ("https", rest),
            _ => return Err(wrong("a URL starts with http:// or https://")),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let parsed: http::uri::Authority =
            authority.parse().map_err(|_| wrong("no host, or more than a host and a port"))?;
        if parsed.as_str().contains('@') {
            return Err(wrong("a URL with a user is not supported"));
        }
        let host = parsed.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = parsed.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 });
        let address = (host.as_str(), port).to_socket_addrs().ok().and_then(|mut all| all.next());
        let address = address.ok_or_else(|| wrong("the host has no address"))?;
        let tls = match scheme {
            "https" => {
                let name = ServerName::try_from(host).map_err(|_| wrong("not a name for a certificate"))?;
                Some((connector(http2, authorities)?, name))
            }
            _ => None,
        };
        Ok(Self { authority: authority.to_owned(), address, tls, scheme, http2 })
    }

    /// Whether the server is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.authority)
    }

    /// Whether connections speak HTTP/2.
    #[must_use]
    pub fn is_http2(&self) -> bool {
        self.http2
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> std::io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some((connector, name)) => Ok(Box::new(connector.connect(name.clone(), stream).await?)),
        }
    }
}

fn connector(http2: bool, authorities: Option<&Path>) -> Result<TlsConnector, Error> {
    let file = authorities.ok_or_else(|| {
        Error::Endpoint("https needs the file of a certificate to check the server's by".into())
    })?;
    let wrong = |why: String| Error::Endpoint(format!("cannot use {}: {why}", file.display()));
    let protocol = if http2 { "h2" } else { "http/1.1" };
    let config = tls::config(Roots::File(file), &[protocol]).map_err(wrong)?;
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let endpoint = Endpoint::new("http://127.0.0.1:4599/", false, None).unwrap();
        assert_eq!((endpoint.authority.as_str(), endpoint.is_local()), ("127.0.0.1:4599", true));
        assert_eq!(endpoint.url("/v1/x"), "http://127.0.0.1:4599/v1/x");
        let endpoint = Endpoint::new("http://[::1]:80", true, None).unwrap();
        assert!(endpoint.is_local() && endpoint.is_http2());
        let far = Endpoint::new("http://192.0.2.1", false, None).unwrap();
        assert!(!far.is_local());
    }

    #[test]
    fn other_urls_are_refused() {
        let urls =
            ["127.0.0.1:80", "ftp://127.0.0.1", "http://", "http://127.0.0.1/path", "http://u@127.0.0.1"];
        for url in urls {
            assert!(Endpoint::new(url, false, None).is_err(), "{url}");
        }
        let without_file = Endpoint::new("https://localhost", false, None).unwrap_err();
        assert!(without_file.to_string().contains("certificate"), "{without_file}");
    }
}
