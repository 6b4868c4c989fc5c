//! The parts that the calls have in common: their options, the columns they read, and the way from a batch to
//! an answer.

use crate::answers::{Answers, OnFailure, Out, Target};
use crate::column::{Column, Form, Moduli, named};
use crate::engine::Engine;
use crate::errors::Raised;
use crate::on_device::DeviceBatch;
use crate::options::Chosen;
pub(crate) use crate::options::Options;
use crate::reader::Reader;
use crate::upload::refuse_marks;
use crate::watching::{self, Extent, Progress};
use modmill::{Batch, Error, ItemError, Resident};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A call with its options.
pub(crate) struct Call<'py> {
    pub(crate) py: Python<'py>,
    pub(crate) engine: Arc<modmill::Engine>,
    width: Option<usize>,
    max_bits: Option<usize>,
    out: Out<'py>,
    pub(crate) on_failure: OnFailure,
    progress: Option<Bound<'py, PyAny>>,
}

impl<'py> Call<'py> {
    pub(crate) fn new(options: Options<'py>) -> PyResult<Self> {
        let py = options.py();
        let Chosen { width, out, on_failure, engine, progress, max_bits } = options.read()?;
        let engine = Engine::or_shared(py, engine.as_ref())?;
        Ok(Self { py, engine, width, max_bits, out, on_failure, progress })
    }

    /// Lets items of more than `bits` bits fail, each for itself.
    pub(crate) fn at_most(mut self, bits: usize) -> Self {
        self.max_bits = Some(self.max_bits.map_or(bits, |given| given.min(bits)));
        self
    }

    /// A call with its columns, and the number of its items.
    pub(crate) fn of<const N: usize>(
        options: Options<'py>,
        arguments: [(&'static str, &Bound<'py, PyAny>); N],
    ) -> PyResult<(Self, [Column; N], usize)> {
        let call = Self::new(options)?;
        let columns = call.columns(arguments)?;
        let items = count(&columns.each_ref());
        Ok((call, columns, items))
    }

    /// Reads the arguments, which have the same number of items or serve all items.
    pub(crate) fn columns<const N: usize>(
        &self,
        arguments: [(&'static str, &Bound<'py, PyAny>); N],
    ) -> PyResult<[Column; N]> {
        let reader = Reader { engine: &self.engine, width: self.width, max_bits: self.max_bits };
        let columns: Vec<Column> =
            arguments.into_iter().map(|(name, object)| reader.read(name, object)).collect::<PyResult<_>>()?;
        let mut known: Option<(&str, usize)> = None;
        for column in &columns {
            match (known, column.len()) {
                (Some((first, expected)), Some(found)) if expected != found => {
                    let text = format!("{first} has {} and {} has {found}", items(expected), column.name);
                    return Err(PyValueError::new_err(text));
                }
                (None, Some(count)) => known = Some((column.name, count)),
                _ => {}
            }
        }
        if columns.iter().any(Column::is_on_device) {
            columns.iter().try_for_each(refuse_marks)?;
        }
        Ok(columns.try_into().unwrap_or_else(|_| unreachable!("there is a column for each argument")))
    }

    /// The moduli of `count` items.
    pub(crate) fn moduli<'a>(&self, column: &'a Column, count: usize) -> PyResult<Moduli<'a>> {
        column.moduli(count, self.on_failure == OnFailure::Column)
    }

    /// The form of the answers: what `out` says, or that of the first argument that is a column.
    pub(crate) fn target(&self, columns: &[&Column]) -> Target<'py> {
        let forms: Vec<Form> = columns.iter().map(|column| column.form).collect();
        Target::of(&self.out, &forms)
    }

    /// The listener that is told of the progress, if there is one.
    pub(crate) fn listener(&self) -> PyResult<Option<Progress>> {
        self.progress.as_ref().map(Progress::new).transpose()
    }

    /// Runs short `work` on the threads of the engine, without the interpreter's lock.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let engine = &*self.engine;
        self.py.detach(|| engine.install(work))
    }

    /// Runs `work` on the engine. `steps` is the number of products of limbs of an item, about, which decides
    /// whether signals are looked at.
    pub(crate) fn run<T: Send>(
        &self,
        total: usize,
        steps: usize,
        work: impl FnOnce(&modmill::Engine) -> T + Send,
    ) -> PyResult<T> {
        self.run_counted(total, (steps, 1), work)
    }

    /// Runs `work`, whose items the engine counts `counts` times before their answers are near. An item of
    /// `usize::MAX` steps takes long enough that signals are looked at.
    pub(crate) fn run_counted<T: Send>(
        &self,
        total: usize,
        (steps, counts): (usize, usize),
        work: impl FnOnce(&modmill::Engine) -> T + Send,
    ) -> PyResult<T> {
        /// About four milliseconds of one core with AVX-512, and some tens without: a signal waits no longer
        /// for a shorter call. A thread of its own, whose memory is new, costs a call up to a tenth of a
        /// millisecond.
        const MANY_STEPS: usize = 1 << 25;
        let progress = self.listener()?;
        let extent = Extent { items: total, counts, is_long: total.saturating_mul(steps) >= MANY_STEPS };
        watching::run(self.py, &self.engine, extent, progress, work)
    }

    /// Python's objects for the answers of `work`, which takes `steps` products of limbs for an item, about.
    pub(crate) fn answer(
        &self,
        columns: &[&Column],
        steps: usize,
        work: impl FnOnce(&modmill::Engine) -> Result<Batch, Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let computed = self.run(count(columns), steps, work)?;
        self.deliver(self.answers(computed, columns)?, columns)
    }

    /// The form of byte strings that are answers: `given` unless `out` names another.
    pub(crate) fn form_of_strings(&self, given: Form) -> PyResult<Form> {
        match self.out {
            Out::Like => Ok(given),
            Out::Bytes if given.is_scalar() => Ok(Form::Bytes),
            Out::Bytes => Ok(Form::BytesList),
            Out::Arrow => Ok(Form::Arrow),
            _ => Err(PyValueError::new_err("out must be \"like\", \"bytes\" or \"arrow\"")),
        }
    }

    /// Runs `work`, whose answers stay on a device, if that is where they are wanted.
    pub(crate) fn on_device(
        &self,
        columns: &[&Column],
        work: impl FnOnce(modmill::Engine<modmill::Device<'_>>) -> Result<Resident, Error> + Send,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_wanted = matches!(self.target(columns), Target::New(Form::Device));
        if !is_wanted || !columns.iter().any(|column| column.is_on_device()) || self.width.is_some() {
            return Ok(None);
        }
        let engine = &*self.engine;
        match self.py.detach(|| work(engine.on_device())) {
            Ok(numbers) if self.on_failure == OnFailure::Raise => {
                Ok(Some(Bound::new(self.py, DeviceBatch::new(numbers))?.into_any()))
            }
            // The host tells which items failed, and why.
            Ok(_) | Err(Error::Items(_)) => Ok(None),
            Err(error) => Err(error.raised(self.py)),
        }
    }

    /// The answers of a computation, with its failed items and the items of `columns` that were not read.
    pub(crate) fn answers(&self, computed: Result<Batch, Error>, columns: &[&Column]) -> PyResult<Answers> {
        let mut answers = match computed {
            Ok(batch) => Answers::new(batch),
            Err(Error::Items(partial)) => {
                let failed = reasons(&partial.failed);
                Answers { failed, ..Answers::new(partial.answers) }
            }
            Err(error) => return Err(error.raised(self.py)),
        };
        answers.failed = with_unread(answers.failed, columns);
        for (index, _) in &answers.failed {
            answers.batch.get_mut(*index).fill(0);
        }
        self.widened(answers)
    }

    /// Answers of the width that the call asks for.
    pub(crate) fn widened(&self, mut answers: Answers) -> PyResult<Answers> {
        if let Some(width) = self.width.filter(|&width| width != answers.batch.bits()) {
            let wider = answers.batch.with_bits(width);
            answers.batch = wider.map_err(|error| named("the answers", &error))?;
        }
        Ok(answers)
    }

    /// Python's objects for the answers.
    pub(crate) fn deliver(&self, answers: Answers, columns: &[&Column]) -> PyResult<Bound<'py, PyAny>> {
        answers.deliver(self.py, &self.engine, &self.target(columns), self.on_failure)
    }
}

/// The square of the number of limbs of the widest column: products of limbs of a short operation, about.
pub(crate) fn square_of_limbs(columns: &[&Column]) -> usize {
    let limbs = columns.iter().map(|column| column.bits().div_ceil(64)).max().unwrap_or(1);
    limbs.saturating_mul(limbs)
}

/// The number of items of a call.
pub(crate) fn count(columns: &[&Column]) -> usize {
    columns.iter().find_map(|column| column.len()).unwrap_or(1)
}

/// A number of items, in words.
fn items(count: usize) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

/// Failed items with their reasons.
pub(crate) fn reasons(failed: &[ItemError]) -> Vec<(usize, String)> {
    failed.iter().map(|item| (item.index, item.kind.to_string())).collect()
}

/// Failed items and those that were not read, by rising index. An item that was not read has that for its
/// reason.
pub(crate) fn with_unread(failed: Vec<(usize, String)>, columns: &[&Column]) -> Vec<(usize, String)> {
    if columns.iter().all(|column| column.null.is_empty() && column.long.is_empty()) {
        return failed;
    }
    let mut all: BTreeMap<usize, String> = failed.into_iter().collect();
    for Column { name, null, long, .. } in columns.iter().rev() {
        all.extend(null.iter().map(|&item| (item, format!("{name} is null"))));
        all.extend(
            long.iter().map(|&(item, bits)| (item, format!("{name} has {bits} bits, more than max_bits"))),
        );
    }
    all.into_iter().collect()
}
