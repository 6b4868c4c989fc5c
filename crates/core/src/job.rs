//! What a backend is handed: items of a batch that belong together.

use crate::{Moduli, Operand};

/// Some items of a call whose moduli are odd, at least 3, and of about one size; above
/// [`MAX_BITS`](crate::MAX_BITS), odd or even.
///
/// The facade makes jobs: it sets aside bad items, groups the rest by length, and splits even
/// moduli into an odd part and a power of two, so that backends know only the odd case.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Which items of the operands, in the order of the answers.
    pub items: &'a [usize],
    /// Length of the longest modulus among them, in bits.
    pub bits: usize,
    /// Bases or first factors.
    pub a: Operand<'a>,
    /// Exponents or second factors.
    pub b: Operand<'a>,
    /// The moduli.
    pub moduli: Moduli<'a>,
}

impl<'a> Job<'a> {
    /// The same job on some of its items.
    #[must_use]
    pub fn part(&self, items: &'a [usize]) -> Self {
        Self { items, ..*self }
    }
}
