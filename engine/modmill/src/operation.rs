//! Operations: each is written once, for every place of its answers.

use crate::Engine;
use modmill_core::{Answers, Batch, Error, Resident};
use std::cell::RefCell;

/// An operation with its operands.
pub trait Operation {
    /// Computes the operation and puts the answers in their place. Where the place is a plan, nothing is
    /// computed: the plan is that of this very call.
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error>;
}

/// The second answers of an operation that has two for each item. They are kept on the host until they are
/// asked for.
#[derive(Default)]
pub(crate) struct Second(RefCell<Option<Batch>>);

impl Second {
    pub(crate) fn keep(&self, answers: Batch) {
        self.0.replace(Some(answers));
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.0.borrow().is_some()
    }
}

impl Operation for Second {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let kept = self.0.take().ok_or_else(|| Error::Unavailable("there are no second answers".to_owned()));
        engine.backends().put(kept, answers)
    }
}

impl Engine {
    /// The answers of an operation, as a new batch.
    pub(crate) fn on_host(&self, operation: &dyn Operation) -> Result<Batch, Error> {
        let mut batch = Batch::zeros(0, 0);
        operation.compute(self, Answers::New(&mut batch))?;
        Ok(batch)
    }

    /// The answers of an operation, on a device.
    pub(crate) fn kept(&self, operation: &dyn Operation, index: Option<usize>) -> Result<Resident, Error> {
        let mut slot = None;
        operation.compute(self, Answers::Device(&mut slot, index))?;
        slot.ok_or_else(|| Error::Device("the answers are on no device".to_owned()))
    }
}
