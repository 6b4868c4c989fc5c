//! A connection that requests are sent on, opened again when it breaks.

use crate::endpoint::Endpoint;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::sync::Arc;
use tokio::sync::Mutex;

/// What a request is made of.
pub(super) type Outgoing = Request<Full<Bytes>>;

/// An answer with its body.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// A failure that is none of the server's answers.
pub(super) const NO_CONNECTION: &str = "no connection";
const BROKEN: &str = "connection broken";

/// The sending half of a connection.
enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Many(http2::SendRequest<Full<Bytes>>),
}

/// A connection of HTTP/1.1, which answers one request after the other, or a stream of one of HTTP/2.
pub(super) struct Connection {
    endpoint: Arc<Endpoint>,
    sender: Option<Sender>,
    shared: Option<Shared>,
}

/// A connection of HTTP/2 that several streams use.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Option<http2::SendRequest<Full<Bytes>>>>>);

impl Connection {
    /// A connection of its own, or a stream of a `shared` one. It is opened by the first request.
    pub(super) fn new(endpoint: Arc<Endpoint>, shared: Option<Shared>) -> Self {
        let shared = shared.or_else(|| endpoint.is_http2().then(Shared::default));
        Self { endpoint, sender: None, shared }
    }

    /// Whether the connection is open, as far as this side knows.
    pub(super) fn is_open(&self) -> bool {
        match &self.sender {
            Some(Sender::One(sender)) => !sender.is_closed(),
            Some(Sender::Many(sender)) => !sender.is_closed(),
            None => false,
        }
    }

    /// Opens the connection if it is not open.
    pub(super) async fn open(&mut self) -> std::io::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        self.sender = None;
        self.sender = Some(match &self.shared {
            None => Sender::One(one(&self.endpoint).await?),
            Some(shared) => {
                let mut shared = shared.0.lock().await;
                let sender = match shared.take().filter(|sender| !sender.is_closed()) {
                    Some(sender) => sender,
                    None => many(&self.endpoint).await?,
                };
                Sender::Many(shared.insert(sender).clone())
            }
        });
        Ok(())
    }

    /// Sends a request and reads the whole answer. A failure has the name under which it is counted.
    pub(super) async fn send(&mut self, request: Outgoing) -> Result<Incoming, &'static str> {
        self.open().await.map_err(|_| NO_CONNECTION)?;
        let answer = match &mut self.sender {
            Some(Sender::One(sender)) => {
                sender.ready().await.map_err(|_| BROKEN)?;
                sender.send_request(request).await
            }
            Some(Sender::Many(sender)) => {
                sender.ready().await.map_err(|_| BROKEN)?;
                sender.send_request(request).await
            }
            None => return Err(NO_CONNECTION),
        };
        let (head, body) = answer.map_err(|_| BROKEN)?.into_parts();
        let body = body.collect().await.map_err(|_| BROKEN)?.to_bytes();
        Ok(Incoming { status: head.status, body })
    }

    /// Gives up a connection whose answer was not waited for. A stream of HTTP/2 ends with its request.
    pub(super) fn give_up(&mut self) {
        if matches!(self.sender, Some(Sender::One(_))) {
            self.sender = None;
        }
    }
}

async fn one(endpoint: &Endpoint) -> std::io::Result<http1::SendRequest<Full<Bytes>>> {
    let stream = TokioIo::new(endpoint.connect().await?);
    let (sender, connection) = http1::handshake(stream).await.map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn many(endpoint: &Endpoint) -> std::io::Result<http2::SendRequest<Full<Bytes>>> {
    let stream = TokioIo::new(endpoint.connect().await?);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    // Answers of the bulk endpoint are megabytes.
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(32 << 20);
    let (sender, connection) = builder.handshake(stream).await.map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}
