//! Private set intersection: the protocol over a stream of Python. The steps of a party are in
//! [`crate::psi_party`].

use crate::arguments::{Call, Options};
use crate::errors::OrRaise;
use crate::strings::Strings;
use modmill_core::sync::Mutex;
use modmill_psi::{Group, Outcome, Party, Progress, Receiver, Reveal, Sender, Stage, Tag, intersect};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

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

/// Runs a party of the protocol over a stream: the receiver, which learns the positions of common items or
/// their number, or the sender, which learns the number of the receiver's items. An exception of the items,
/// of the listener or of a signal becomes the error of the call.
#[pyfunction]
pub(crate) fn psi_run<'py>(
    is_receiver: bool,
    items: &Bound<'py, PyAny>,
    stream: Bound<'py, PyAny>,
    group: &str,
    reveal: &str,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, call) = (items.py(), Call::new(options)?);
    let reveal = match reveal {
        "items" => Reveal::Items,
        "size" => Reveal::Size,
        other => {
            let text = format!("reveal is {other:?}; it must be \"items\" or \"size\"");
            return Err(PyValueError::new_err(text));
        }
    };
    let listener = call.listener()?.map(|listener| Mutex::new((listener, 0)));
    let items = Items::new(items)?;
    let failed = items.failed();
    let stream = &Stream { object: stream.unbind(), failed: items.failed() };
    let party = Party::new(group_of(group)?).or_raise(py)?;
    let exception = Mutex::new(None);
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
    let (engine, look) = (&*call.engine, &look);
    let outcome = py.detach(|| match is_receiver {
        true => Receiver::new(engine, party).reveal(reveal).progress(look).run(items, stream, stream),
        false => {
            let sender = Sender::new(engine, party).reveal(reveal).progress(look);
            sender.run(items, stream, stream).map(Outcome::Size)
        }
    });
    let first = |place: &Mutex<Option<PyErr>>| place.lock().take();
    match (first(&failed).or_else(|| first(&exception)), outcome) {
        (Some(error), _) => Err(error),
        (None, outcome) => Ok(match outcome.or_raise(py)? {
            Outcome::Items(positions) => positions.into_pyobject(py)?.into_any(),
            Outcome::Size(size) => size.into_pyobject(py)?.into_any(),
        }),
    }
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
