//! Batches that stay in the memory of a GPU. The methods of their class are in [`crate::device`].

use modmill::{Error, Resident, ResidentModuli};
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// Numbers on a device, and what is known of them as moduli.
pub(crate) struct OnDevice {
    pub(crate) numbers: Resident,
    moduli: OnceLock<ResidentModuli>,
}

impl OnDevice {
    /// The numbers as moduli. The host keeps a copy, which is made once.
    pub(crate) fn moduli(&self) -> Result<&ResidentModuli, Error> {
        if let Some(moduli) = self.moduli.get() {
            return Ok(moduli);
        }
        let moduli = ResidentModuli::new(self.numbers.download()?, self.numbers.clone())?;
        Ok(self.moduli.get_or_init(|| moduli))
    }
}

/// A batch that stays in the memory of a GPU, or of an engine without GPUs. It never changes.
#[pyclass(frozen, module = "modmill")]
pub(crate) struct DeviceBatch {
    pub(crate) held: Arc<OnDevice>,
}

impl DeviceBatch {
    pub(crate) fn new(numbers: Resident) -> Self {
        Self { held: Arc::new(OnDevice { numbers, moduli: OnceLock::new() }) }
    }
}
