//! A way to a PostgreSQL server that breaks at the moment of a commit.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A commit as clients send it: a simple query of eleven bytes.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// The fate of the next commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Whether the server gets it. The client does not get its answer.
    pub(crate) arrives: bool,
    /// Whether the connection is closed. Otherwise it is silent from then on.
    pub(crate) closes: bool,
    /// Whether no more connections can be made from then on.
    pub(crate) stays_away: bool,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    next: Mutex<Option<Cut>>,
    is_away: AtomicBool,
}

impl Proxy {
    pub(crate) async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { server, next: Mutex::default(), is_away: AtomicBool::new(false) });
        let of_task = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !of_task.is_away.load(Ordering::SeqCst) {
                    tokio::spawn(Arc::clone(&of_task).pass(client));
                }
            }
        });
        Self { address, shared }
    }

    /// Cuts the next commit.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.shared.next.lock().unwrap() = Some(cut);
    }

    /// Whether the commit that was to be cut has come.
    pub(crate) fn has_cut(&self) -> bool {
        self.shared.next.lock().unwrap().is_none()
    }
}

impl Shared {
    /// Passes bytes on in both directions until one side is closed.
    async fn pass(self: Arc<Self>, client: TcpStream) {
        let server = TcpStream::connect(self.server).await.unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let (is_cut, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let back = tokio::spawn(back(from_server, to_client, Arc::clone(&is_cut), Arc::clone(&answered)));
        self.forth(from_client, to_server, &is_cut, &answered).await;
        back.abort();
    }

    async fn forth(
        &self,
        mut client: OwnedReadHalf,
        mut server: OwnedWriteHalf,
        is_cut: &AtomicBool,
        answered: &Notify,
    ) {
        let mut octets = vec![0; 1 << 16];
        while let Ok(len @ 1..) = client.read(&mut octets).await {
            let octets = &octets[..len];
            let cut = if octets == COMMIT { self.next.lock().unwrap().take() } else { None };
            let Some(Cut { arrives, closes, stays_away }) = cut else {
                if server.write_all(octets).await.is_err() {
                    return;
                }
                continue;
            };
            is_cut.store(true, Ordering::SeqCst);
            self.is_away.store(stays_away, Ordering::SeqCst);
            if arrives {
                server.write_all(octets).await.unwrap();
                answered.notified().await;
            }
            if !closes {
                // Whoever waits for the answer gives up at some time.
                while let Ok(1..) = client.read(&mut [0; 64]).await {}
            }
            return;
        }
    }
}

/// Passes answers on, as long as the connection is not cut.
async fn back(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    is_cut: Arc<AtomicBool>,
    answered: Arc<Notify>,
) {
    let mut octets = vec![0; 1 << 16];
    while let Ok(len @ 1..) = server.read(&mut octets).await {
        if is_cut.load(Ordering::SeqCst) {
            answered.notify_one();
        } else if client.write_all(&octets[..len]).await.is_err() {
            return;
        }
    }
}
