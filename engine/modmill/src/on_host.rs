//! Operands on the host: numbers that are on a device are copied for what the host computes.

use crate::host_memory::HostMemory;
use modmill_core::{Batch, BatchView, Error, Operand, ResidentView};

/// An operand of a call: as the caller gave it, or a copy on the host of numbers that were on a device.
pub(crate) enum OnHost<'a> {
    Given(Operand<'a>),
    Copied { batch: Batch, is_shared: bool },
}

impl<'a> OnHost<'a> {
    /// An operand with its numbers on the host.
    pub(crate) fn of(operand: Operand<'a>) -> Result<Self, Error> {
        Self::unless(operand, |_| false)
    }

    /// An operand with its numbers on the host, or where they are if `stays` says so.
    pub(crate) fn unless(
        operand: Operand<'a>,
        stays: impl Fn(ResidentView<'a>) -> bool,
    ) -> Result<Self, Error> {
        let Some(view) = operand.resident() else { return Ok(Self::Given(operand)) };
        let is_shared = operand.is_shared();
        if let Some(memory) = view.memory().as_any().downcast_ref::<HostMemory>()
            && memory.0.bits() == view.bits()
        {
            return Ok(Self::Given(match is_shared {
                true => memory.0.shared(view.first()),
                false => memory.0.slice(view.first()..view.first() + view.len()).into(),
            }));
        }
        match stays(view) {
            true => Ok(Self::Given(operand)),
            false => Ok(Self::Copied { batch: view.download()?, is_shared }),
        }
    }

    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Self::Given(operand) => *operand,
            Self::Copied { batch, is_shared: true } => batch.shared(0),
            Self::Copied { batch, is_shared: false } => batch.into(),
        }
    }
}

/// Calls a function with the numbers of an operand on the host.
pub(crate) fn with_view<T>(
    operand: Operand<'_>,
    work: impl FnOnce(BatchView<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    match operand {
        Operand::Each(view) => work(view),
        operand => {
            let mut one = Batch::try_zeros(operand.bits(), 1)?;
            let value = operand.get(0);
            one.get_mut(0)[..value.len()].copy_from_slice(value);
            work(one.view())
        }
    }
}
