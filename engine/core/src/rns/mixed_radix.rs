//! Mixed radix: the exact conversion from residues to a number (Szabo and Tanaka; section 3.3 of Rns-GPU in
//! `docs/inside/bibliography.md`).
//!
//! Residues modulo `m_1 ... m_n` become the digits of `d_1 + d_2 m_1 + d_3 m_1 m_2 + ...`, each below its
//! prime. A digit depends on all digits before it, so the conversion takes n dependent steps and `n^2 / 2`
//! products. It needs no room above the number and has no error.

use super::{Channel, words};

/// The constants of the conversion for one base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedRadix {
    base: Vec<Channel>,
    /// `m_i^-1 2^32 mod m_j` for `i < j`, one row for each i.
    inverses: Vec<Vec<u32>>,
}

impl MixedRadix {
    /// The constants of `base`.
    #[must_use]
    pub fn new(base: &[Channel]) -> Self {
        let row = |(index, source): (usize, &Channel)| {
            let inverse = |channel: &Channel| channel.multiply(channel.invert(source.p), channel.radix);
            base[index + 1..].iter().map(inverse).collect()
        };
        Self { base: base.to_vec(), inverses: base.iter().enumerate().map(row).collect() }
    }

    /// Replaces canonical residues by mixed-radix digits.
    pub fn digits(&self, residues: &mut [u32]) {
        for (index, inverses) in self.inverses.iter().enumerate() {
            let (done, rest) = residues.split_at_mut(index + 1);
            let digit = done[index];
            for ((residue, &inverse), channel) in rest.iter_mut().zip(inverses).zip(&self.base[index + 1..]) {
                // The difference is above zero and below 2p.
                let difference = *residue + channel.p - channel.canonical(digit);
                *residue = channel.reduce_once(channel.redc(u64::from(difference) * u64::from(inverse)));
            }
        }
    }

    /// The canonical residue of the digits' value modulo the prime of `channel`, by Horner's rule.
    #[must_use]
    pub fn residue(&self, digits: &[u32], channel: Channel) -> u32 {
        digits.iter().zip(&self.base).rev().fold(0, |value, (&digit, source)| {
            channel.reduce_once(channel.multiply(value, source.p) + channel.canonical(digit))
        })
    }

    /// The value of the digits in little-endian 32-bit words. Words beyond the end of `out` are dropped.
    pub fn value(&self, digits: &[u32], out: &mut [u32]) {
        out.fill(0);
        for (&digit, channel) in digits.iter().zip(&self.base).rev() {
            words::multiply_add(out, channel.p, digit);
        }
    }
}
