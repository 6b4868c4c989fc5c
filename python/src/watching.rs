//! Long calls: the engine works on a thread of its own, while the thread that called looks after Python's
//! signals and tells of the progress.

use modmill::{Engine, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Time between two looks at signals and progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks at Python's signals at some items of a loop that holds the interpreter's lock: every few
/// milliseconds, at `index` 0 first.
pub(crate) fn look_at_signals(py: Python<'_>, index: usize) -> PyResult<()> {
    const ITEMS: usize = 1 << 12;
    if index.is_multiple_of(ITEMS) { py.check_signals() } else { Ok(()) }
}

/// The listener that is told of the progress: a function of the number of items done and of all items, or a
/// bar like those of tqdm, whose method `update` takes the number of items since the last time.
pub(crate) struct Progress {
    listener: Py<PyAny>,
    is_bar: bool,
    told: usize,
}

impl Progress {
    pub(crate) fn new(listener: &Bound<'_, PyAny>) -> PyResult<Self> {
        let is_bar = listener.hasattr(intern!(listener.py(), "update"))?;
        Ok(Self { listener: listener.clone().unbind(), is_bar, told: 0 })
    }

    pub(crate) fn tell(&mut self, py: Python<'_>, done: usize, total: usize) -> PyResult<()> {
        // An operation of several steps may count an item more than once.
        let done = done.min(total);
        let listener = self.listener.bind(py);
        match self.is_bar {
            true if done > self.told => {
                listener.call_method1(intern!(py, "update"), (done - self.told,))?;
            }
            true => {}
            false => {
                listener.call1((done, total))?;
            }
        }
        self.told = self.told.max(done);
        Ok(())
    }
}

/// How much there is to do.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// The number of items.
    pub(crate) items: usize,
    /// How often the engine counts an item before its answer is near.
    pub(crate) counts: usize,
    /// Whether the work takes longer than it takes to start a thread.
    pub(crate) is_long: bool,
}

/// Runs `work` without the interpreter's lock. If it is long, a signal of Python or an exception of the
/// listener stops the work, and becomes the error of the call.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    engine: &Engine,
    extent: Extent,
    mut progress: Option<Progress>,
    work: impl FnOnce(&Engine) -> T + Send,
) -> PyResult<T> {
    let Extent { items: total, counts, is_long } = extent;
    if !is_long && progress.is_none() {
        return Ok(py.detach(|| work(engine)));
    }
    if let Some(progress) = &mut progress {
        progress.tell(py, 0, total)?;
    }
    let watch = Arc::new(Watch::new());
    let watched = engine.watched_by(&watch);
    let look = |progress: &mut Option<Progress>| {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_mut().map_or(Ok(()), |progress| progress.tell(py, watch.done() / counts, total))
        })
    };
    let (answer, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel::<()>();
            let started = thread::Builder::new().name("modmill-call".to_owned()).spawn_scoped(scope, || {
                // The channel closes when this thread ends, however it ends.
                let _closed_at_the_end = sender;
                work(&watched)
            });
            let worker = started.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            let mut raised = None;
            while receiver.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = look(&mut progress)
                {
                    watch.stop();
                    raised = Some(error);
                }
            }
            let answer =
                worker.join().map_err(|_| PyRuntimeError::new_err("the call failed inside modmill"))?;
            Ok::<_, PyErr>((answer, raised))
        })
    })?;
    if let Some(error) = raised {
        return Err(error);
    }
    py.check_signals()?;
    if let Some(progress) = &mut progress {
        progress.tell(py, total, total)?;
    }
    Ok(answer)
}
