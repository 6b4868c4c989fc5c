//! A recorder: what backends really executed, for tests that hold it against plans.

use crate::Path;
use crate::sync::Mutex;

/// One group of items as it was executed. Backends note it next to the call of the kernel, from the values
/// that they hand to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The backend, instruction set and family of algorithms.
    pub path: Path,
    /// How the family was laid out, in the words of [`Plan::variant`](crate::Plan::variant).
    pub variant: String,
    /// Bits of the exponent window, of powers; that of the longest exponent where exponents are public.
    pub window: Option<u32>,
}

/// A list of executions that backends add to.
#[derive(Debug, Default)]
pub struct Recorder {
    executions: Mutex<Vec<Execution>>,
}

impl Recorder {
    /// Adds an execution.
    pub fn add(&self, execution: Execution) {
        self.executions.lock().push(execution);
    }

    /// The executions since the last call, in the order in which they began.
    #[must_use]
    pub fn take(&self) -> Vec<Execution> {
        std::mem::take(&mut *self.executions.lock())
    }
}
