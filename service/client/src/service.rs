//! Keys that the signing service holds, over its Unix socket.

use crate::connection::Connection;
use crate::fork::OfProcess;
use crate::wire::{Request, Response};
use crate::{Answer, Error, Task, queue};
use modmill_rsa::{PublicKey, Sizes};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use zeroize::Zeroizing;

/// A service that `modmill serve` runs, reached through its socket.
///
/// The connection is made with the first request. If it breaks, as when the service is restarted, it is made
/// again, and requests without an answer are sent once more. A child of `fork` has a connection of its own.
#[derive(Debug, Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    path: PathBuf,
    token: Zeroizing<String>,
    connection: OfProcess<Arc<Connection>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.display().to_string())
    }
}

impl Service {
    /// The service whose socket is the file `path`. `token` is that of a credential with the right `bulk`.
    #[must_use]
    pub fn new(path: &Path, token: &str) -> Self {
        let (token, connection) = (Zeroizing::new(token.to_owned()), OfProcess::new());
        Self(Arc::new(Inner { path: path.to_owned(), token, connection }))
    }

    fn ask(&self, request: Request) -> Result<Response, Error> {
        let (sender, receiver) = mpsc::channel();
        // The receiver waits below.
        self.connection().send(request, Box::new(move |response| drop(sender.send(response))));
        receiver.recv().unwrap_or(Err(Error::Protocol("a request was dropped")))
    }

    /// The connection of this process.
    fn connection(&self) -> &'static Arc<Connection> {
        let Inner { path, token, connection } = &*self.0;
        connection.get_or_make(queue::generation(), || Connection::new(path, token))
    }
}

/// A key that the service holds.
#[derive(Debug, Clone)]
pub(crate) struct RemoteKey {
    service: Service,
    name: String,
    pub(crate) public: PublicKey,
}

impl RemoteKey {
    /// The key of the service that `name` stands for.
    pub(crate) fn find(service: &Service, name: &str) -> Result<Self, Error> {
        match service.ask(Request::Describe { key: name.to_owned() })? {
            Response::Key { modulus, exponent } => {
                let public = PublicKey::new(&modulus, &exponent, Sizes::AllowSmall)?;
                Ok(Self { service: service.clone(), name: name.to_owned(), public })
            }
            other => Err(refusal(other, name)),
        }
    }

    pub(crate) fn compute(&self, task: Task) -> Answer {
        let request = self.request(task)?;
        self.answer(self.service.ask(request)?)
    }

    pub(crate) fn start(&self, task: Task, done: Box<dyn FnOnce(Answer) + Send>) {
        let request = match self.request(task) {
            Ok(request) => request,
            Err(error) => return done(Err(error)),
        };
        let key = self.clone();
        let reply =
            move |response: Result<Response, Error>| done(response.and_then(|found| key.answer(found)));
        self.service.connection().send(request, Box::new(reply));
    }

    fn request(&self, task: Task) -> Result<Request, Error> {
        match task {
            Task::Sign { scheme, digest } => Ok(Request::Sign { key: self.name.clone(), scheme, digest }),
            Task::Decrypt { .. } | Task::Raw { .. } => Err(Error::Refused(
                "keys of the service sign digests with a padding, and nothing else".into(),
            )),
        }
    }

    fn answer(&self, response: Response) -> Answer {
        match response {
            Response::Signature(signature) if signature.len() == self.public.size() => Ok(signature.into()),
            Response::Signature(_) => Err(Error::Protocol("a signature has a wrong length")),
            other => Err(refusal(other, &self.name)),
        }
    }
}

fn refusal(response: Response, name: &str) -> Error {
    match response {
        Response::Refused { reason: crate::wire::Reason::NoSuchKey, .. } => Error::NoSuchKey(name.to_owned()),
        Response::Refused { text, .. } => Error::Refused(text),
        _ => Error::Protocol("an answer belongs to another request"),
    }
}
