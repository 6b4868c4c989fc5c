//! Moving batches to devices, and the memory they take there.

use crate::Engine;
use crate::host_memory::HostMemory;
use crate::place::Device;
use modmill_core::{Batch, BatchView, Error, Resident, ResidentModuli, ResidentView};

/// The memory of one device, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceMemoryUse {
    /// The name of the device.
    pub device: String,
    /// All of its memory.
    pub total: usize,
    /// Bytes that can still be allocated, including those kept for reuse.
    pub free: usize,
    /// Bytes that resident batches hold.
    pub resident: usize,
    /// Bytes that are kept for the next operations.
    pub kept: usize,
}

impl Engine {
    /// Copies a batch to a device, where it stays until it is dropped. Operations that take a [`Resident`]
    /// compute on that device without copying it again, and [`Engine::on_device`] leaves their answers there.
    ///
    /// An engine with several GPUs takes the one that holds the fewest resident bytes. An engine without GPUs
    /// keeps the batch in its own memory, so that a program runs everywhere. It is [`Error::OutOfMemory`] if
    /// the device has not so much memory left.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let numbers = engine.upload(&Batch::from_hex(["3", "fffffffa"])?)?;
    /// let squares = engine.on_device().square_mod(&numbers, &modulus)?;
    /// assert_eq!(squares.download()?.as_limbs(), [9, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn upload<'a>(&self, batch: impl Into<BatchView<'a>>) -> Result<Resident, Error> {
        let batch = batch.into();
        match &self.backends().cuda {
            Some(cuda) => cuda.upload(batch, None).map_err(Error::from),
            None => Ok(HostMemory::resident(batch.try_to_batch()?)),
        }
    }

    /// Copies moduli to a device, one for each item. The host keeps a copy, by which it sorts the items.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let moduli = engine.upload_moduli(Batch::from_hex(["fffffffb", "7"])?)?;
    /// let numbers = engine.upload(&Batch::from_hex(["10000", "3"])?)?;
    /// let squares = engine.on_device().square_mod(&numbers, &moduli)?;
    /// assert_eq!(squares.download()?.as_limbs(), [5, 2]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn upload_moduli(&self, moduli: Batch) -> Result<ResidentModuli, Error> {
        let resident = self.upload(&moduli)?;
        ResidentModuli::new(moduli, resident)
    }

    /// The memory of each device, in the order of the devices.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let numbers = engine.upload(&Batch::zeros(1024, 1000))?;
    /// for memory in engine.memory()? {
    ///     println!("{}: {} bytes of resident batches", memory.device, memory.resident);
    /// }
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn memory(&self) -> Result<Vec<DeviceMemoryUse>, Error> {
        let devices = self.backends().cuda.iter().flat_map(|cuda| cuda.devices());
        let memory = |device: &crate::gpu::Device| {
            let properties = device.properties();
            Ok(DeviceMemoryUse {
                device: properties.name.clone(),
                total: properties.memory_bytes,
                free: device.free_memory().map_err(Error::from)?,
                resident: device.resident_bytes(),
                kept: device.kept_bytes(),
            })
        };
        devices.map(memory).collect()
    }
}

impl Engine<Device<'_>> {
    /// All numbers of several batches of one width, one batch after the other.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let first = engine.upload(&Batch::from_hex(["3", "5"])?)?;
    /// let second = engine.upload(&Batch::from_hex(["7"])?)?;
    /// assert_eq!(engine.on_device().join(&[&first, &second])?.download()?.as_limbs(), [3, 5, 7]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn join(&self, batches: &[&Resident]) -> Result<Resident, Error> {
        let bits = batches.first().map_or(0, |batch| batch.bits());
        if let Some(batch) = batches.iter().find(|batch| batch.bits() > bits) {
            return Err(Error::TooLong { what: "a batch to join", bits: batch.bits(), limit: bits });
        }
        let views: Vec<ResidentView<'_>> = batches.iter().map(|batch| batch.view()).collect();
        let is_whole = |cuda: &&crate::gpu::Cuda| {
            views.iter().all(|&view| cuda.are_together(views[0], view) && view.bits() == bits)
                && cuda.holds(views[0])
        };
        if let Some(cuda) =
            self.place.home.backends().cuda.as_deref().filter(|cuda| !views.is_empty() && is_whole(cuda))
        {
            return cuda.join(&views).map_err(Error::from);
        }
        let mut all = Batch::try_zeros(bits, batches.iter().map(|batch| batch.len()).sum())?;
        let mut item = 0;
        for batch in batches {
            for number in batch.download()?.iter() {
                all.get_mut(item)[..number.len()].copy_from_slice(number);
                item += 1;
            }
        }
        self.place.home.backends().upload_answers(all, self.place.index)
    }
}
