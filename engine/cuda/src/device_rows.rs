//! The memory of a resident batch.

use crate::device::{Buffer, Contents, Device};
use crate::error::{Error, Result};
use crate::kept_constants::KeptConstants;
use crate::workers::Workers;
use modmill_core::ResidentView;

/// The numbers of a resident batch, in rows of `stride` limbs.
pub(crate) struct DeviceRows {
    pub(crate) device: Device,
    pub(crate) buffer: Buffer,
    pub(crate) stride: usize,
    /// The number of rows.
    pub(crate) len: usize,
    /// Constants, if the rows are moduli.
    pub(crate) constants: KeptConstants,
    pub(crate) workers: Workers,
}

impl DeviceRows {
    /// Memory for `len` rows of `stride` limbs, whose numbers `workers` move.
    pub(crate) fn new(device: &Device, workers: &Workers, stride: usize, len: usize) -> Result<Self> {
        let buffer =
            device.resident_buffer(stride.saturating_mul(8).saturating_mul(len).max(8), Contents::Secret)?;
        let (device, workers) = (device.clone(), workers.clone());
        Ok(Self { device, buffer, stride, len, constants: KeptConstants::default(), workers })
    }

    /// The rows that a view is of; an error if the memory is not one of this backend's.
    pub(crate) fn of<'a>(view: ResidentView<'a>) -> Result<&'a Self> {
        let foreign = || Error::Call {
            call: "Resident::memory",
            reason: "the numbers are not in the memory of a CUDA device".to_owned(),
        };
        view.memory().as_any().downcast_ref().ok_or_else(foreign)
    }

    /// The byte that row `row` begins at.
    pub(crate) fn start(&self, row: usize) -> usize {
        8 * self.stride * row
    }
}
