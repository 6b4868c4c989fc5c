//! Private set intersection: the protocol over a stream of Python. The steps of a party are in
//! [`crate::psi_party`].

use crate::engine::Engine;
use crate::errors::of_call;
use crate::strings::Strings;
use crate::watching::Progress as Listener;
use modmill_core::sync::Mutex;
use modmill_psi::{Error, Group, Outcome, Party, Progress, Receiver, Reveal, Sender, Stage, Tag, intersect};
use pyo3::exceptions::{PyConnectionError, PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

/// The exception of an error of the protocol.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Engine(error) => of_call(py, &error),
        // An exception of the stream's own methods is raised as it is.
        Error::Io { source, .. } if source.get_ref().is_some_and(|error| error.is::<PyErr>()) => {
            source.into()
        }
        error @ Error::Io { .. } => PyOSError::new_err(error.to_string()),
        error @ Error::Peer(_) => PyConnectionError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn group_of(name: &str) -> PyResult<Group> {
    name.parse().map_err(PyValueError::new_err)
}

/// The strings of a column that has no null.
pub(crate) fn complete<'a>(name: &str, strings: &'a Strings) -> PyResult<Vec<&'a [u8]>> {
    let null = |index: usize| PyValueError::new_err(format!("{name}: item {index} is null"));
    strings.all().into_iter().enumerate().map(|(index, item)| item.ok_or_else(|| null(index))).collect()
}

/// The strings of a column that all have `octets` bytes.
pub(crate) fn of_length<'a>(name: &str, strings: &'a Strings, octets: usize) -> PyResult<Vec<&'a [u8]>> {
    let all = complete(name, strings)?;
    match all.iter().position(|item| item.len() != octets) {
        None => Ok(all),
        Some(index) => {
            let text = format!("{name}: item {index} has {} bytes; {octets} were expected", all[index].len());
            Err(PyValueError::new_err(text))
        }
    }
}

fn tags_of(name: &str, strings: &Strings) -> PyResult<Vec<Tag>> {
    let tags = of_length(name, strings, modmill_psi::TAG_OCTETS)?;
    Ok(tags.into_iter().filter_map(|tag| tag.try_into().ok()).collect())
}

/// The positions of `own` tags that are among the `other` tags.
#[pyfunction]
pub(crate) fn psi_intersect(
    py: Python<'_>,
    own: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<Vec<usize>> {
    let (own, other) = (Strings::read("own", own)?, Strings::read("other", other)?);
    let (own, other) = (tags_of("own", &own)?, tags_of("other", &other)?);
    Ok(py.detach(|| intersect(&own, &other)))
}

/// The arguments of receiver and sender: items, a stream, and options.
struct Role<'py> {
    engine: std::sync::Arc<modmill::Engine>,
    items: Items,
    stream: Stream,
    group: Group,
    reveal: Reveal,
    listener: Option<Mutex<(Listener, u64)>>,
    py: Python<'py>,
}

impl<'py> Role<'py> {
    fn new(
        items: &Bound<'py, PyAny>,
        stream: Bound<'py, PyAny>,
        group: &str,
        reveal: &str,
        engine: Option<&Bound<'py, Engine>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = items.py();
        let reveal = match reveal {
            "items" => Reveal::Items,
            "size" => Reveal::Size,
            other => {
                let text = format!("reveal is {other:?}; it must be \"items\" or \"size\"");
                return Err(PyValueError::new_err(text));
            }
        };
        let listener = progress.map(Listener::new).transpose()?.map(|listener| Mutex::new((listener, 0)));
        let items = Items::new(items)?;
        Ok(Self {
            engine: Engine::or_shared(py, engine)?,
            stream: Stream { object: stream.unbind(), failed: items.failed() },
            items,
            group: group_of(group)?,
            reveal,
            listener,
            py,
        })
    }

    /// Runs a role. An exception of the items, of the listener or of a signal becomes the error of the call.
    fn run<T: Send>(
        self,
        role: impl FnOnce(
            &modmill::Engine,
            Party,
            Reveal,
            &(dyn Fn(Progress) -> ControlFlow<()> + Send + Sync),
            Items,
            &Stream,
        ) -> Result<T, Error>
        + Send,
    ) -> PyResult<T> {
        let Self { engine, items, stream, group, reveal, listener, py } = self;
        let party = Party::new(group).map_err(|error| raised(py, error))?;
        let exception = Mutex::new(None);
        let failed = items.failed();
        let look = |progress: Progress| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                let Some(listener) = &listener else { return Ok(()) };
                let mut listener = listener.lock();
                let (listener, own) = &mut *listener;
                if progress.stage == Stage::Own {
                    *own = progress.done;
                    return listener.tell(py, progress.done as usize, progress.total as usize);
                }
                listener.tell(py, (*own + progress.done) as usize, (*own + progress.total) as usize)
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    *exception.lock() = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let answer = py.detach(|| role(&engine, party, reveal, &look, items, &stream));
        let first = |place: &Mutex<Option<PyErr>>| place.lock().take();
        match first(&failed).or_else(|| first(&exception)) {
            Some(error) => Err(error),
            None => answer.map_err(|error| raised(py, error)),
        }
    }
}

/// Runs the receiver: the positions of common items, or their number.
#[pyfunction]
pub(crate) fn psi_receive<'py>(
    items: &Bound<'py, PyAny>,
    stream: Bound<'py, PyAny>,
    group: &str,
    reveal: &str,
    engine: Option<&Bound<'py, Engine>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = items.py();
    let outcome = Role::new(items, stream, group, reveal, engine, progress)?.run(
        |engine, party, reveal, look, items, stream| {
            Receiver::new(engine, party).reveal(reveal).progress(look).run(items, stream, stream)
        },
    )?;
    Ok(match outcome {
        Outcome::Items(positions) => positions.into_pyobject(py)?.into_any(),
        Outcome::Size(size) => size.into_pyobject(py)?.into_any(),
    })
}

/// Runs the sender: the number of the receiver's items.
#[pyfunction]
pub(crate) fn psi_send<'py>(
    items: &Bound<'py, PyAny>,
    stream: Bound<'py, PyAny>,
    group: &str,
    reveal: &str,
    engine: Option<&Bound<'py, Engine>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<u64> {
    Role::new(items, stream, group, reveal, engine, progress)?.run(
        |engine, party, reveal, look, items, stream| {
            Sender::new(engine, party).reveal(reveal).progress(look).run(items, stream, stream)
        },
    )
}

/// The items of a set, taken one by one from an iterator of Python, so that a generator's set need not fit
/// the memory.
struct Items {
    iterator: Py<PyIterator>,
    length: Option<usize>,
    taken: usize,
    failed: std::sync::Arc<Mutex<Option<PyErr>>>,
}

impl Items {
    fn new(items: &Bound<'_, PyAny>) -> PyResult<Self> {
        let iterator = items.try_iter()?.unbind();
        Ok(Self { iterator, length: items.len().ok(), taken: 0, failed: std::sync::Arc::default() })
    }

    /// The place of the exception that ended the items early.
    fn failed(&self) -> std::sync::Arc<Mutex<Option<PyErr>>> {
        std::sync::Arc::clone(&self.failed)
    }
}

impl Iterator for Items {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        Python::attach(|py| {
            let item = match self.iterator.bind(py).clone().next()? {
                Ok(item) => item.cast::<PyBytes>().map(|bytes| bytes.as_bytes().to_vec()).map_err(|_| {
                    let found = item.get_type().to_string();
                    PyValueError::new_err(format!(
                        "items: item {} is {found}; bytes was expected",
                        self.taken
                    ))
                }),
                Err(error) => Err(error),
            };
            self.taken += 1;
            match item {
                Ok(item) => Some(item),
                Err(error) => {
                    *self.failed.lock() = Some(error);
                    None
                }
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.length.map(|length| length.saturating_sub(self.taken)))
    }
}

/// A socket of Python, or another object with the methods `recv` and `sendall`.
struct Stream {
    object: Py<PyAny>,
    /// The exception that ended the items early, if one did. Nothing is sent of items that are not complete.
    failed: std::sync::Arc<Mutex<Option<PyErr>>>,
}

impl Stream {
    fn check_items(&self) -> io::Result<()> {
        match *self.failed.lock() {
            Some(_) => Err(io::Error::other("the items ended early")),
            None => Ok(()),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.check_items()?;
        Python::attach(|py| {
            let received = self.object.bind(py).call_method1(intern!(py, "recv"), (octets.len(),))?;
            let received = received.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            let count = received.len().min(octets.len());
            octets[..count].copy_from_slice(&received[..count]);
            Ok(count)
        })
    }
}

impl Write for &Stream {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.check_items()?;
        Python::attach(|py| {
            self.object.bind(py).call_method1(intern!(py, "sendall"), (PyBytes::new(py, octets),))?;
            Ok(octets.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
