//! The memory of resident batches where an engine has no GPU: the host's own.

use modmill_core::{Batch, DeviceMemory, Error, Resident};
use std::any::Any;
use std::sync::Arc;

/// A batch on the host that stands for one on a device.
pub(crate) struct HostMemory(pub(crate) Batch);

impl HostMemory {
    /// A resident batch in the memory of the host.
    pub(crate) fn resident(batch: Batch) -> Resident {
        Resident::new(batch.bits(), batch.len(), Arc::new(Self(batch)))
    }
}

impl DeviceMemory for HostMemory {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn bytes(&self) -> usize {
        8 * self.0.as_limbs().len()
    }

    fn download(&self, first: usize, answers: &mut Batch) -> Result<(), Error> {
        let numbers = self.0.slice(first..first + answers.len());
        let stride = answers.stride().max(1);
        for (answer, number) in answers.as_limbs_mut().chunks_mut(stride).zip(numbers.iter()) {
            // A batch that was narrowed has numbers that fit.
            answer.copy_from_slice(&number[..answer.len()]);
        }
        Ok(())
    }
}
