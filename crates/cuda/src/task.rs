//! What is asked of the kernels.

use crate::call::Call;
use crate::checks::check_exponent;
use crate::device::Contents;
use crate::error::{Error, Result};
use crate::family::rns::layout::SECRET_ENTRIES;
use crate::table::MAX_WINDOW;

/// One operation on all items of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Powers.
    Power { secrecy: Secrecy, exponent_bits: u32, window: u32 },
    /// Products.
    Multiply,
    /// Squares, that is products of `a` with itself.
    Square,
    /// Chains of Montgomery products `a b^repeat / R^(repeat + 1)`.
    MultiplyChain { repeat: u32 },
    /// Chains of Montgomery squares.
    SquareChain { repeat: u32 },
}

/// What exponents may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Nothing: tables are read whole.
    Secret,
    /// Which entries of tables are read, and nothing else.
    Direct,
    /// Everything: a digit of zero that all items share costs no product.
    Public,
}

/// Powers that are chosen at once, at most (`AT_ONCE` of `table.cuh`).
const CHOSEN: usize = 8;
/// Numbers in a table that are no entries, at most (`IN_TABLE` of `two_pass.cuh`).
pub(crate) const BESIDE: usize = 2;

impl Task {
    /// Powers; an error for exponents and windows that kernels do not take.
    pub(crate) fn power(secrecy: Secrecy, exponent_bits: usize, window: u32) -> Result<Self> {
        let exponent_bits = check_exponent(exponent_bits)?;
        if !(1..=MAX_WINDOW).contains(&window) {
            return Err(Error::NoKernel { name: format!("for windows of {window} bits") });
        }
        Ok(Self::Power { secrecy, exponent_bits, window })
    }

    /// Whether a table is read whole.
    pub(crate) fn is_masked(&self) -> bool {
        matches!(self, Self::Power { secrecy: Secrecy::Secret, .. })
    }

    /// Whether no item may see that it shares its exponent with others: kernels that read tables directly skip digits
    /// of zero of one exponent for all.
    pub(crate) fn repeats_exponent(&self) -> bool {
        matches!(self, Self::Power { secrecy: Secrecy::Direct, .. })
    }

    /// Entries of the tables that warps keep in the residue family.
    pub(crate) fn residue_entries(&self) -> usize {
        match *self {
            Self::Power { secrecy: Secrecy::Secret, .. } => SECRET_ENTRIES as usize,
            Self::Power { window, .. } => 1 << window,
            _ => 1,
        }
    }

    /// Bits of an exponent and the window, of powers.
    pub(crate) fn exponent(&self) -> (u32, u32) {
        match *self {
            Self::Power { exponent_bits, window, .. } => (exponent_bits, window),
            _ => (0, 0),
        }
    }

    /// Values that every thread keeps.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Self::Power { window, .. } => (1 << window) + CHOSEN + BESIDE,
            // The factors, and R mod N.
            _ => 3 + BESIDE,
        }
    }

    pub(crate) fn contents(&self) -> Contents {
        match self {
            Self::MultiplyChain { .. } | Self::SquareChain { .. } => Contents::Public,
            _ => Contents::Secret,
        }
    }

    /// Whether the second operand is a number modulo N, and not an exponent.
    pub(crate) fn multiplies_b(&self) -> bool {
        !matches!(self, Self::Power { .. })
    }

    /// Writes what the kernel has to know.
    pub(crate) fn describe(&self, call: &mut Call) {
        match *self {
            Self::Power { .. } => (call.exponent_bits, call.window) = self.exponent(),
            Self::MultiplyChain { repeat } | Self::SquareChain { repeat } => call.repeat = repeat,
            Self::Multiply | Self::Square => {}
        }
    }
}
