//! Batches in the memory of a device.

use crate::{Batch, Error};
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Memory of a device that holds the numbers of a resident batch. Only the backend that made it reads it
/// directly.
pub trait DeviceMemory: Send + Sync {
    /// The memory as a value of the backend's own type.
    fn as_any(&self) -> &dyn Any;

    /// Bytes of the device's memory.
    fn bytes(&self) -> usize;

    /// The place of the numbers in the memory of a GPU; `None` if another library could not read them there.
    fn address(&self) -> Option<DeviceAddress> {
        None
    }

    /// Copies numbers to the host, from item `first` on: as many as `answers` has items, as wide as `answers`
    /// is.
    fn download(&self, first: usize, answers: &mut Batch) -> Result<(), Error>;
}

/// The place of a resident batch's numbers in the memory of a GPU, for other libraries on the same GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceAddress {
    /// The number of the GPU.
    pub ordinal: u32,
    /// The address of the first number in the GPU's memory.
    pub address: u64,
    /// The number of limbs from one number to the next.
    pub stride: usize,
}

/// A batch that stays in the memory of a device.
///
/// Clones are the same batch: it never changes. The memory is zeroized and given back when the last clone is
/// dropped, and it may outlive the engine that made it.
#[derive(Clone)]
pub struct Resident {
    bits: usize,
    len: usize,
    memory: Arc<dyn DeviceMemory>,
}

impl Resident {
    /// A batch of `len` numbers with a width of `bits` bits, which a backend has put into `memory`.
    #[must_use]
    pub fn new(bits: usize, len: usize, memory: Arc<dyn DeviceMemory>) -> Self {
        Self { bits, len, memory }
    }

    /// Declared width of every item, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// These numbers with a declared width of `bits` bits, which is no greater than theirs. The caller knows
    /// that they fit: operations would answer for some other number, but stay in bounds.
    ///
    /// # Panics
    /// If the width is greater.
    #[must_use]
    pub fn narrowed(&self, bits: usize) -> Self {
        assert!(bits <= self.bits, "{bits} bits are more than {}", self.bits);
        Self { bits, ..self.clone() }
    }

    /// Bytes of the device's memory that the batch takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The place of the numbers in the memory of a GPU, in the primary context of that GPU; `None` if they
    /// are in the memory of the host or of an emulated device. The numbers stay there until the last clone of
    /// the batch is dropped. Nobody may write to them.
    #[must_use]
    pub fn address(&self) -> Option<DeviceAddress> {
        self.memory.address()
    }

    /// A view of the whole batch.
    #[must_use]
    pub fn view(&self) -> ResidentView<'_> {
        ResidentView { bits: self.bits, first: 0, len: self.len, memory: &*self.memory }
    }

    /// A view of the items in `range`.
    ///
    /// # Panics
    /// If there are no such items, as indexing does.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> ResidentView<'_> {
        self.view().slice(range)
    }

    /// A copy of the numbers in the memory of the host.
    pub fn download(&self) -> Result<Batch, Error> {
        self.view().download()
    }

    /// Copies the numbers to a batch of the caller's, which has as many items and is as wide.
    pub fn download_into(&self, batch: &mut Batch) -> Result<(), Error> {
        let what = "the batch for the numbers";
        if batch.len() != self.len {
            return Err(Error::LengthMismatch { what, expected: self.len, found: batch.len() });
        }
        match batch.bits() == self.bits {
            true => self.memory.download(0, batch),
            false => Err(Error::WidthMismatch { what, expected: self.bits, found: batch.bits() }),
        }
    }
}

impl fmt::Debug for Resident {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resident({} x {} bits)", self.len, self.bits)
    }
}

/// A borrowed range of consecutive items of a resident batch.
#[derive(Clone, Copy)]
pub struct ResidentView<'a> {
    bits: usize,
    first: usize,
    len: usize,
    memory: &'a dyn DeviceMemory,
}

impl<'a> ResidentView<'a> {
    /// Declared width of every item, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the view has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the first item in the memory.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// The memory that the items are in.
    #[must_use]
    pub fn memory(&self) -> &'a dyn DeviceMemory {
        self.memory
    }

    /// A view of the items in `range`.
    ///
    /// # Panics
    /// If there are no such items, as indexing does.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "items {range:?} of a batch of {}",
            self.len
        );
        Self { first: self.first + range.start, len: range.len(), ..*self }
    }

    /// A copy of the numbers in the memory of the host.
    pub fn download(&self) -> Result<Batch, Error> {
        let mut batch = Batch::try_zeros(self.bits, self.len)?;
        self.memory.download(self.first, &mut batch)?;
        Ok(batch)
    }
}

/// Moduli that every item has its own of, on a device and on the host. The host sorts items by its copy, and
/// the device reads its own.
#[derive(Clone)]
pub struct ResidentModuli {
    values: Batch,
    resident: Resident,
    /// Bits of the longest and of the shortest modulus, if all items can be computed together.
    lengths: OnceLock<Option<(usize, usize)>>,
}

impl ResidentModuli {
    /// Moduli whose numbers a backend has put on a device.
    ///
    /// It is an error if the two are of different lengths or widths.
    pub fn new(values: Batch, resident: Resident) -> Result<Self, Error> {
        let what = "the resident batch of moduli";
        if values.len() != resident.len() {
            return Err(Error::LengthMismatch { what, expected: values.len(), found: resident.len() });
        }
        match values.bits() == resident.bits() {
            true => Ok(Self { values, resident, lengths: OnceLock::new() }),
            false => Err(Error::WidthMismatch { what, expected: values.bits(), found: resident.bits() }),
        }
    }

    /// The moduli on the host.
    #[must_use]
    pub fn values(&self) -> &Batch {
        &self.values
    }

    /// The lengths of the longest and of the shortest modulus in bits, or `None` if the items have to be
    /// sorted. `find` looks at the moduli the first time.
    pub fn lengths(&self, find: impl FnOnce(&Batch) -> Option<(usize, usize)>) -> Option<(usize, usize)> {
        *self.lengths.get_or_init(|| find(&self.values))
    }

    /// The moduli on the device.
    #[must_use]
    pub fn resident(&self) -> &Resident {
        &self.resident
    }
}

impl fmt::Debug for ResidentModuli {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResidentModuli({} x {} bits)", self.values.len(), self.values.bits())
    }
}
