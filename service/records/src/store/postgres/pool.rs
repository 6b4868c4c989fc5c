//! Connections to the database.

use super::Failure;
use super::tls::{Target, Tls};
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{AsyncMessage, Client, Notification};

/// How many connections there are at most. One process commits one change at a time.
const CONNECTIONS: usize = 4;

/// Connections that are used again.
pub(super) struct Pool {
    target: Target,
    idle: Mutex<Vec<Client>>,
    room: Arc<Semaphore>,
}

/// A connection in use. Dropped, it is closed; [`Pool::give_back`] keeps it.
pub(super) struct Taken {
    client: Client,
    _room: OwnedSemaphorePermit,
}

impl std::ops::Deref for Taken {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl std::ops::DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// Drives a connection until it ends.
pub(super) type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Pool {
    pub(super) fn new(target: Target) -> Self {
        Self { target, idle: Mutex::default(), room: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// A connection, an idle one if there is one.
    pub(super) async fn client(&self) -> Result<Taken, Failure> {
        let closed = |_| Failure::Broken("the pool of connections is closed".into());
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(closed)?;
        let idle = {
            let mut idle = self.idle.lock();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match idle {
            Some(client) => client,
            None => {
                let (client, driver) = self.connect(|_| {}).await?;
                tokio::spawn(driver);
                client
            }
        };
        Ok(Taken { client, _room: room })
    }

    /// Keeps a connection for the next caller. It must not be within a transaction.
    pub(super) fn give_back(&self, taken: Taken) {
        self.idle.lock().push(taken.client);
    }

    /// A new connection and what drives it. `heard` is called with every notification.
    pub(super) async fn connect(
        &self,
        heard: impl Fn(Notification) + Send + 'static,
    ) -> Result<(Client, Driver), Failure> {
        match &self.target.tls {
            None => {
                let (client, connection) = self.target.config.connect(tokio_postgres::NoTls).await?;
                Ok((client, drive(connection, heard)))
            }
            Some(config) => {
                let tls = Tls::new(Arc::clone(config));
                let (client, connection) = self.target.config.connect(tls).await?;
                Ok((client, drive(connection, heard)))
            }
        }
    }
}

fn drive<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    heard: impl Fn(Notification) + Send + 'static,
) -> Driver
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(std::future::poll_fn(move |context| {
        use std::task::Poll;
        loop {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notification(notification)))) => heard(notification),
                Poll::Ready(Some(Ok(_))) => {}
                // Whoever uses the connection is told, and makes another.
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }))
}
