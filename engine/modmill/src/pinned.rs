//! Batches in pinned memory.

use crate::Engine;
use crate::gpu::Error as CudaError;
use modmill_core::{Batch, BatchView, Error};

impl Engine {
    /// A batch of `len` zeros with a width of `bits` bits in pinned memory, which a GPU copies from and to by
    /// itself. Without a GPU it is a batch like any other.
    ///
    /// Operands in pinned memory save the copy on the host that other memory needs, and so do answers that an
    /// operation writes into such a batch ([`Engine::to`]). Pinning takes the system
    /// longer than a copy does: pin memory that is used again and again. Dropping the batch clears it and
    /// keeps the memory pinned for the next one.
    ///
    /// It is [`Error::OutOfMemory`] if the system does not pin that much.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let mut numbers = engine.pinned(32, 3)?;
    /// let mut squares = engine.pinned(32, 3)?;
    /// numbers.as_limbs_mut().copy_from_slice(&[2, 3, 0xffff_fffa]);
    /// engine.to(&mut squares).square_mod(&numbers, &modulus)?;
    /// assert_eq!(squares.as_limbs(), [4, 9, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn pinned(&self, bits: usize, len: usize) -> Result<Batch, Error> {
        let device = self.backends().cuda.as_ref().and_then(|cuda| cuda.devices().next());
        let Some(device) = device else { return Batch::try_zeros(bits, len) };
        let memory = device.pinned_limbs(len * bits.div_ceil(64)).map_err(|error| match error {
            CudaError::OutOfMemory { wanted } => Error::OutOfMemory { what: "pinned memory", bytes: wanted },
            other => Error::Device(other.to_string()),
        })?;
        Batch::zeros_in(bits, len, memory)
    }

    /// A copy of a batch in pinned memory ([`Engine::pinned`]).
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let batch = Batch::from_hex(["1234", "5"])?;
    /// assert_eq!(Engine::new()?.pin(batch.view())?, batch);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn pin(&self, batch: BatchView<'_>) -> Result<Batch, Error> {
        let mut pinned = self.pinned(batch.bits(), batch.len())?;
        pinned.as_limbs_mut().copy_from_slice(batch.as_limbs());
        Ok(pinned)
    }
}
