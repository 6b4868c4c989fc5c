//! The parts of private keys as rows in memory: the primes, the exponents, the coefficients and the moduli.

use crate::staging::copy_rows;
use modmill_core::{CrtPowers, PerItem};
use std::ops::Range;

/// How the parts of the keys of a job lie in memory.
#[derive(Clone, Copy)]
pub(super) struct KeyRows<'a, 'j> {
    pub(super) job: &'a CrtPowers<'j>,
    /// Whether every chunk carries the keys of its items. Otherwise one key stays on the device.
    pub(super) per_item: bool,
}

/// Addresses of the parts of keys. Parts of the first primes come before those of the second.
#[derive(Clone, Copy)]
pub(super) struct KeyPlaces {
    pub(super) primes: u64,
    pub(super) exponents: u64,
    pub(super) coefficients: u64,
    pub(super) moduli: u64,
}

impl KeyRows<'_, '_> {
    /// Limbs that `rows` items of a chunk take.
    pub(super) fn limbs(&self, rows: usize) -> usize {
        if self.per_item { self.limbs_of(rows) } else { 0 }
    }

    /// Limbs that the parts of `rows` keys take. The modulus of a key that all items have is prepared
    /// elsewhere.
    pub(super) fn limbs_of(&self, rows: usize) -> usize {
        let moduli = if matches!(self.job.moduli, PerItem::One(_)) { 0 } else { self.job.bits.div_ceil(64) };
        rows * (3 * self.job.prime_limbs + 2 * self.exponent_limbs() + moduli)
    }

    pub(super) fn exponent_limbs(&self) -> usize {
        self.job.exponent_bits.div_ceil(64)
    }

    /// Writes the parts of the keys of `items`, one kind after the other. Rows beyond the last item repeat
    /// its key.
    pub(super) fn gather(&self, items: Range<usize>, rows: usize, out: &mut [u64]) {
        let key = |row: usize| self.job.moduli.get((items.end - 1).min(items.start + row));
        let (prime, exponent) = (self.job.prime_limbs, self.exponent_limbs());
        let (out, _) = out.split_at_mut(self.limbs_of(rows));
        let (primes, out) = out.split_at_mut(2 * rows * prime);
        let (exponents, out) = out.split_at_mut(2 * rows * exponent);
        let (coefficients, moduli) = out.split_at_mut(rows * prime);
        copy_rows(primes, prime, |row| key(row % rows).primes[row / rows]);
        copy_rows(exponents, exponent, |row| key(row % rows).exponents[row / rows]);
        copy_rows(coefficients, prime, |row| key(row).coefficient);
        copy_rows(moduli, self.job.bits.div_ceil(64), |row| key(row).modulus);
    }

    /// The places of the parts of `rows` keys that begin at `address`.
    pub(super) fn places(&self, address: u64, rows: usize) -> KeyPlaces {
        let after = |address: u64, limbs: usize| address + 8 * limbs as u64;
        let exponents = after(address, 2 * rows * self.job.prime_limbs);
        let coefficients = after(exponents, 2 * rows * self.exponent_limbs());
        let moduli = after(coefficients, rows * self.job.prime_limbs);
        KeyPlaces { primes: address, exponents, coefficients, moduli }
    }
}
