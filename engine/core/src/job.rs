//! Jobs and products: the groups of items that a backend computes.

use crate::{Items, Moduli, Operand, Watch};

/// Items of a call whose moduli are odd, at least 3, and have the same number of limbs. Moduli longer than
/// [`KERNEL_MAX_BITS`](crate::KERNEL_MAX_BITS) may be even too.
///
/// The facade makes jobs: it sets bad items aside, groups the rest by length, and splits even moduli into an
/// odd part and a power of two, so that backends know the odd case only.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The items.
    pub items: Items<'a>,
    /// Length of the longest modulus, in bits.
    pub bits: usize,
    /// Length of the shortest modulus, in bits.
    pub shortest_bits: usize,
    /// Bases or first factors.
    pub a: Operand<'a>,
    /// Exponents or second factors.
    pub b: Operand<'a>,
    /// The moduli.
    pub moduli: Moduli<'a>,
    /// Told of the items that are done; it may stop the job.
    pub watch: Option<&'a Watch>,
}

impl<'a> Job<'a> {
    /// A job whose moduli all have `bits` bits.
    #[must_use]
    pub fn new(
        items: impl Into<Items<'a>>,
        bits: usize,
        a: Operand<'a>,
        b: Operand<'a>,
        moduli: Moduli<'a>,
    ) -> Self {
        Self { items: items.into(), bits, shortest_bits: bits, a, b, moduli, watch: None }
    }

    /// This job with `watch`, which counts its items and may stop it.
    #[must_use]
    pub fn watched_by(self, watch: Option<&'a Watch>) -> Self {
        Self { watch, ..self }
    }

    /// Whether the job was asked to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.watch.is_some_and(Watch::is_stopped)
    }

    /// This job on some of its items only.
    #[must_use]
    pub fn part(&self, items: impl Into<Items<'a>>) -> Self {
        Self { items: items.into(), ..*self }
    }
}

/// Full products `a b`, or full squares `a^2` where there is no `b`.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// First factors.
    pub a: Operand<'a>,
    /// Second factors.
    pub b: Option<Operand<'a>>,
    /// Number of items.
    pub count: usize,
}

impl Product<'_> {
    /// Whether there are no items, or a factor of no bits: all answers are zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.count == 0 || self.a.bits() == 0 || self.b.unwrap_or(self.a).bits() == 0
    }

    /// Declared width of the answers, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.a.bits() + self.b.unwrap_or(self.a).bits()
    }

    /// Declared width of the longer factor, in bits.
    #[must_use]
    pub fn longest_factor_bits(&self) -> usize {
        self.a.bits().max(self.b.unwrap_or(self.a).bits())
    }
}
