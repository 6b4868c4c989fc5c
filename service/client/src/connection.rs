//! One connection to the service, which is made again when it breaks.

use crate::Error;
use crate::wire::{LONGEST, Request, Response};
use modmill_core::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How long a service that cannot be reached is tried before its requests fail.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// A function that takes an answer.
pub(crate) type Reply = Box<dyn FnOnce(Result<Response, Error>) + Send>;

/// The connection of one process to a service.
pub(crate) struct Connection {
    path: PathBuf,
    token: Zeroizing<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The stream that requests are written to, while the connection stands.
    writer: Option<UnixStream>,
    /// Whether a thread reads answers, or makes the connection.
    is_tended: bool,
    next: u64,
    /// Requests without an answer: their frames, to send them again, and the way back.
    pending: BTreeMap<u64, (Vec<u8>, Reply)>,
}

impl Connection {
    pub(crate) fn new(path: &Path, token: &str) -> Arc<Self> {
        let token = Zeroizing::new(token.to_owned());
        Arc::new(Self { path: path.to_owned(), token, state: Mutex::default() })
    }

    /// Sends a request. `reply` is called once, with the answer or with the reason why there is none.
    pub(crate) fn send(self: &Arc<Self>, request: Request, reply: Reply) {
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        let frame = request.encode(id);
        if let Some(writer) = &mut state.writer
            && writer.write_all(&frame).is_err()
        {
            // The thread that reads sees that as well, and makes the connection again.
            let _ = writer.shutdown(Shutdown::Both);
            state.writer = None;
        }
        state.pending.insert(id, (frame, reply));
        if state.is_tended {
            return;
        }
        state.is_tended = true;
        drop(state);
        let connection = Arc::clone(self);
        let tended = thread::Builder::new().name("modmill-service".into()).spawn(move || connection.tend());
        if let Err(error) = tended {
            self.state().is_tended = false;
            self.fail(&error);
        }
    }

    /// Makes the connection, reads answers, and makes it again when it breaks, until nothing waits and it is
    /// broken.
    fn tend(&self) {
        let mut tried_since = Instant::now();
        loop {
            match self.connect() {
                Ok(Some(stream)) => {
                    let ended = self.read(stream);
                    self.state().writer = None;
                    // Whoever answered is there: the next service gets as much time.
                    if ended {
                        tried_since = Instant::now();
                    }
                }
                // Refused: another try would be refused as well.
                Ok(None) => tried_since = Instant::now(),
                Err(error) if tried_since.elapsed() > PATIENCE => {
                    self.fail(&error);
                    tried_since = Instant::now();
                }
                Err(_) => thread::sleep(PAUSE),
            }
            let mut state = self.state();
            if state.pending.is_empty() {
                state.is_tended = false;
                return;
            }
        }
    }

    /// Connects, says who asks, and sends what has no answer yet. `None` if the service refuses the token:
    /// all requests have failed then.
    fn connect(&self) -> io::Result<Option<UnixStream>> {
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&Request::Hello { token: self.token.to_string() }.encode(0))?;
        match read_frame(&mut stream)? {
            Response::Welcome => {}
            Response::Refused { text, .. } => {
                self.fail_with(|| Error::Refused(text.clone()));
                return Ok(None);
            }
            _ => return Err(io::Error::other("the service does not greet")),
        }
        stream.set_read_timeout(None)?;
        let mut state = self.state();
        for (frame, _) in state.pending.values() {
            stream.write_all(frame)?;
        }
        state.writer = Some(stream.try_clone()?);
        Ok(Some(stream))
    }

    /// Hands out answers until the connection breaks. Returns whether there was one.
    fn read(&self, mut stream: UnixStream) -> bool {
        let mut has_answered = false;
        while let Ok((id, response)) = read_answer(&mut stream) {
            has_answered = true;
            let reply = self.state().pending.remove(&id);
            if let Some((_, reply)) = reply {
                reply(Ok(response));
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
        has_answered
    }

    fn fail(&self, error: &io::Error) {
        let (path, problem) = (self.path.display().to_string(), error.to_string());
        self.fail_with(|| Error::Unreachable { path: path.clone(), problem: problem.clone() });
    }

    fn fail_with(&self, error: impl Fn() -> Error) {
        let pending = std::mem::take(&mut self.state().pending);
        pending.into_values().for_each(|(_, reply)| reply(Err(error())));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Reads a frame without its length.
fn read_octets(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::Error::other("the service sent a frame that is too long"));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}

fn read_answer(stream: &mut UnixStream) -> io::Result<(u64, Response)> {
    Response::decode(&read_octets(stream)?).map_err(io::Error::other)
}

fn read_frame(stream: &mut UnixStream) -> io::Result<Response> {
    Ok(read_answer(stream)?.1)
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.path.display())
    }
}
