//! The tasks of the kernels.

use crate::call::Call;
use crate::checks::check_exponent;
use crate::device::Contents;
use crate::error::{Error, Result};
use crate::family::rns::layout::SECRET_ENTRIES;
use crate::part::Part;
use modmill_core::limbs;
use modmill_core::window::MAX_WINDOW;

/// One operation on all items of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Powers.
    Power { reads: Reads, exponent_bits: u32, window: u32 },
    /// Products.
    Multiply,
    /// Squares, that is products of `a` with itself.
    Square,
    /// Chains of Montgomery products `a b^repeat / R^(repeat + 1)`.
    MultiplyChain { repeat: u32 },
    /// Chains of Montgomery squares.
    SquareChain { repeat: u32 },
    /// Products `a b / R` of numbers in Montgomery form, which stay in it.
    MontgomeryProduct,
}

/// How the window tables of powers are read, and so what exponents show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Whole tables are read for every digit: exponents show nothing.
    Whole,
    /// Only the entry of a digit is read: addresses depend on the exponents, instructions do not.
    Direct,
    /// Only the entry of a digit is read, and a zero digit of one exponent for all items costs no product:
    /// everything shows.
    Vartime,
}

/// Powers that are chosen at once, at most (`AT_ONCE` of `table.cuh`).
const CHOSEN: usize = 8;
/// Numbers in a table that are no entries, at most (`IN_TABLE` of `two_pass.cuh`).
pub(crate) const BESIDE: usize = 2;

impl Task {
    /// Powers; an error for exponents and windows that kernels do not take.
    pub(crate) fn power(reads: Reads, exponent_bits: usize, window: u32) -> Result<Self> {
        let exponent_bits = check_exponent(exponent_bits)?;
        if !(1..=MAX_WINDOW).contains(&window) {
            return Err(Error::NoKernel { name: format!("for windows of {window} bits") });
        }
        Ok(Self::Power { reads, exponent_bits, window })
    }

    /// The part of a variant's kernels that has the kernel of this task.
    pub(crate) fn part(&self) -> Part {
        match self {
            Self::Power { reads: Reads::Whole, .. } => Part::Power,
            Self::Power { reads: Reads::Direct | Reads::Vartime, .. } => Part::PowerVartime,
            Self::Multiply | Self::Square => Part::Multiply,
            Self::MultiplyChain { .. } | Self::SquareChain { .. } | Self::MontgomeryProduct => Part::Chains,
        }
    }

    /// Whether it raises to a power.
    pub(crate) fn is_power(&self) -> bool {
        matches!(self, Self::Power { .. })
    }

    /// Whether a table is read whole.
    pub(crate) fn is_masked(&self) -> bool {
        matches!(self, Self::Power { reads: Reads::Whole, .. })
    }

    /// Whether no item may see that it shares its exponent with others: kernels that read tables directly
    /// skip digits of zero of one exponent for all.
    pub(crate) fn repeats_exponent(&self) -> bool {
        matches!(self, Self::Power { reads: Reads::Direct, .. })
    }

    /// Entries of the tables that warps keep in the residue family.
    pub(crate) fn residue_entries(&self) -> usize {
        match *self {
            Self::Power { reads: Reads::Whole, .. } => SECRET_ENTRIES as usize,
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
            Self::MontgomeryProduct => (call.repeat, call.keeps_form) = (1, 1),
            Self::Multiply | Self::Square => {}
        }
    }
}

/// The window with the fewest products for a public exponent that all items share: those of its table, and
/// one for every digit that is not zero.
pub(crate) fn best_shared_window_vartime(exponent: &[u64]) -> u32 {
    let bits = limbs::bit_length(exponent);
    let cost = |window: u32| {
        let digits = (0..bits).step_by(window as usize);
        (1usize << window) + digits.filter(|&at| limbs::bits_at(exponent, at, window) != 0).count()
    };
    (1..=6).min_by_key(|&window| cost(window)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_exponents_go_bit_by_bit() {
        assert_eq!(best_shared_window_vartime(&[65537]), 1);
        assert_eq!(best_shared_window_vartime(&[u64::MAX; 8]), 5);
        assert_eq!(best_shared_window_vartime(&[]), 1);
    }
}
