//! Operands and moduli of a call: one number for each item, or one for all items, on the host or on a device.
//! Nothing is copied.

use crate::{Batch, BatchView, Modulus, Resident, ResidentModuli, ResidentView};
use std::ops::Range;

/// The bases, exponents or factors of a call.
///
/// A `&Batch` converts into [`Operand::Each`], a `&Resident` into [`Operand::Resident`]; [`Batch::shared`]
/// makes an [`Operand::Shared`], and [`Resident::shared`] an [`Operand::SharedResident`].
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// One number for each item.
    Each(BatchView<'a>),
    /// One number for all items.
    Shared {
        /// The declared width in bits, as in [`Batch::bits`].
        bits: usize,
        /// The limbs of the number. Limbs beyond the width are ignored; missing limbs are zero.
        value: &'a [u64],
    },
    /// One number for each item, on a device.
    Resident(ResidentView<'a>),
    /// One number for all items, on a device: a view of one item.
    SharedResident(ResidentView<'a>),
}

impl<'a> Operand<'a> {
    /// The declared width in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::Each(view) => view.bits(),
            Self::Shared { bits, .. } => *bits,
            Self::Resident(view) | Self::SharedResident(view) => view.bits(),
        }
    }

    /// The number of items; `None` if one number serves any number of items.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Each(view) => Some(view.len()),
            Self::Resident(view) => Some(view.len()),
            Self::Shared { .. } | Self::SharedResident(_) => None,
        }
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Whether one number serves all items.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.len().is_none()
    }

    /// The items in `range`; a number that serves all items stays as it is.
    ///
    /// # Panics
    /// If there are no such items, as indexing does.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Each(view) => Self::Each(view.slice(range)),
            Self::Resident(view) => Self::Resident(view.slice(range)),
            Self::Shared { .. } | Self::SharedResident(_) => self,
        }
    }

    /// The numbers on a device, if they are on one.
    #[must_use]
    pub fn resident(&self) -> Option<ResidentView<'a>> {
        match self {
            Self::Resident(view) | Self::SharedResident(view) => Some(*view),
            Self::Each(_) | Self::Shared { .. } => None,
        }
    }

    /// The number that item `index` uses, with at most as many limbs as the width needs. `None` if the
    /// numbers are on a device: they have to be downloaded first.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u64]> {
        match self {
            Self::Resident(_) | Self::SharedResident(_) => None,
            Self::Each(view) => Some(view.get(index)),
            Self::Shared { bits, value } => Some(&value[..value.len().min(bits.div_ceil(64))]),
        }
    }

    /// The limbs of the number that item `index` uses, for backends that have refused numbers on a device:
    /// those have no limbs here.
    #[must_use]
    #[inline]
    pub fn limbs(&self, index: usize) -> &'a [u64] {
        debug_assert!(self.resident().is_none(), "numbers on a device are copied to the host first");
        self.get(index).unwrap_or_default()
    }
}

impl<'a> From<&'a Batch> for Operand<'a> {
    fn from(batch: &'a Batch) -> Self {
        Self::Each(batch.view())
    }
}

impl<'a> From<BatchView<'a>> for Operand<'a> {
    fn from(view: BatchView<'a>) -> Self {
        Self::Each(view)
    }
}

impl<'a> From<&'a Resident> for Operand<'a> {
    fn from(batch: &'a Resident) -> Self {
        Self::Resident(batch.view())
    }
}

impl<'a> From<ResidentView<'a>> for Operand<'a> {
    fn from(view: ResidentView<'a>) -> Self {
        Self::Resident(view)
    }
}

impl Batch {
    /// Item `index` as an operand that all items of a call share.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn shared(&self, index: usize) -> Operand<'_> {
        Operand::Shared { bits: self.bits(), value: self.get(index) }
    }
}

impl Resident {
    /// Item `index` as an operand that all items of a call share.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn shared(&self, index: usize) -> Operand<'_> {
        Operand::SharedResident(self.slice(index..index + 1))
    }
}

/// The moduli of a call.
///
/// A `&Batch`, a `&Modulus` and a `&[&Modulus]` convert into the three forms.
#[derive(Clone, Copy)]
pub enum Moduli<'a> {
    /// One modulus for each item, as plain numbers.
    Each(BatchView<'a>),
    /// One modulus for all items. Its constants are computed once and kept.
    Shared(&'a Modulus),
    /// One modulus for each item, with constants that are kept from call to call. Several items may use
    /// the same modulus; the call is faster if they stand together.
    Prepared(&'a [&'a Modulus]),
    /// One modulus for each item, as plain numbers on a device.
    Resident(&'a ResidentModuli),
}

impl<'a> Moduli<'a> {
    /// The declared width in bits, which is also the width of the answers.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::Each(view) => view.bits(),
            Self::Shared(modulus) => modulus.bits(),
            Self::Resident(moduli) => moduli.values().bits(),
            Self::Prepared(moduli) => moduli.iter().map(|modulus| modulus.bits()).max().unwrap_or(1),
        }
    }

    /// The number of items; `None` if one number serves any number of items.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Each(view) => Some(view.len()),
            Self::Shared(_) => None,
            Self::Prepared(moduli) => Some(moduli.len()),
            Self::Resident(moduli) => Some(moduli.values().len()),
        }
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The modulus of item `index`.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u64] {
        match self {
            Self::Each(view) => view.get(index),
            Self::Shared(modulus) => modulus.value(),
            Self::Prepared(moduli) => moduli[index].value(),
            Self::Resident(moduli) => moduli.values().get(index),
        }
    }
}

impl<'a> Moduli<'a> {
    /// These moduli, read from the host's memory alone.
    #[must_use]
    pub fn on_host(self) -> Self {
        match self {
            Self::Resident(moduli) => Self::Each(moduli.values().view()),
            Self::Each(_) | Self::Shared(_) | Self::Prepared(_) => self,
        }
    }
}

impl<'a> From<&'a Batch> for Moduli<'a> {
    fn from(batch: &'a Batch) -> Self {
        Self::Each(batch.view())
    }
}

impl<'a> From<BatchView<'a>> for Moduli<'a> {
    fn from(view: BatchView<'a>) -> Self {
        Self::Each(view)
    }
}

impl<'a> From<&'a Modulus> for Moduli<'a> {
    fn from(modulus: &'a Modulus) -> Self {
        Self::Shared(modulus)
    }
}

impl<'a> From<&'a ResidentModuli> for Moduli<'a> {
    fn from(moduli: &'a ResidentModuli) -> Self {
        Self::Resident(moduli)
    }
}

impl<'a> From<&'a [&'a Modulus]> for Moduli<'a> {
    fn from(moduli: &'a [&'a Modulus]) -> Self {
        Self::Prepared(moduli)
    }
}
