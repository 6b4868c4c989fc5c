//! Operands of a call: one number per item, or one for all, without copying.

use crate::{Batch, BatchView, Modulus};

/// Bases, exponents or factors of a call.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A number for each item.
    Each(BatchView<'a>),
    /// One number for all items.
    Shared {
        /// Declared width, as in [`Batch::bits`].
        bits: usize,
        /// Its limbs; those beyond the width are not looked at, and those that are missing are zero.
        value: &'a [u64],
    },
}

impl<'a> Operand<'a> {
    /// Declared width in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::Each(view) => view.bits(),
            Self::Shared { bits, .. } => *bits,
        }
    }

    /// How many items it speaks for; `None` when it serves any number.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Each(view) => Some(view.len()),
            Self::Shared { .. } => None,
        }
    }

    /// Whether it speaks for no item at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The number that item `index` uses: no more limbs than the width has.
    #[must_use]
    pub fn get(&self, index: usize) -> &'a [u64] {
        match self {
            Self::Each(view) => view.get(index),
            Self::Shared { bits, value } => &value[..value.len().min(bits.div_ceil(64))],
        }
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

/// Moduli of a call.
#[derive(Clone, Copy)]
pub enum Moduli<'a> {
    /// A modulus for each item.
    Each(BatchView<'a>),
    /// One modulus for all items, its constants computed once.
    Shared(&'a Modulus),
    /// A modulus for each item, whose constants are kept from call to call; items may have the same
    /// one. Items with one modulus are best kept together.
    Prepared(&'a [&'a Modulus]),
}

impl<'a> Moduli<'a> {
    /// Declared width in bits: that of the answers.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::Each(view) => view.bits(),
            Self::Shared(modulus) => modulus.bits(),
            Self::Prepared(moduli) => moduli.iter().map(|modulus| modulus.bits()).max().unwrap_or(1),
        }
    }

    /// How many items it speaks for; `None` when it serves any number.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Each(view) => Some(view.len()),
            Self::Shared(_) => None,
            Self::Prepared(moduli) => Some(moduli.len()),
        }
    }

    /// Whether it speaks for no item at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The modulus of item `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> &'a [u64] {
        match self {
            Self::Each(view) => view.get(index),
            Self::Shared(modulus) => modulus.value(),
            Self::Prepared(moduli) => moduli[index].value(),
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

impl<'a> From<&'a [&'a Modulus]> for Moduli<'a> {
    fn from(moduli: &'a [&'a Modulus]) -> Self {
        Self::Prepared(moduli)
    }
}
