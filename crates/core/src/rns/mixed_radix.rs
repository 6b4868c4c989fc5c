//! Mixed radix: the exact way out of residues (Szabo and Tanaka; the paper's Section 3.3).
//!
//! Residues modulo `m_1 ... m_n` become digits of `d_1 + d_2 m_1 + d_3 m_1 m_2 + ...`, each below
//! its prime. A digit is found from all those before it, so that this takes n steps one after the
//! other and `n^2 / 2` products; but it needs no room above the number, and knows no error.

use super::{Channel, words};

/// Constants of the conversion for one base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedRadix {
    base: Vec<Channel>,
    /// `m_i^-1 mod m_j` for `i < j`, row after row, times 2^32.
    inverses: Vec<Vec<u32>>,
}

impl MixedRadix {
    /// Constants for a base.
    #[must_use]
    pub fn new(base: &[Channel]) -> Self {
        let row = |(index, source): (usize, &Channel)| {
            let inverse = |channel: &Channel| channel.multiply(channel.invert(source.p), channel.radix);
            base[index + 1..].iter().map(inverse).collect()
        };
        Self { base: base.to_vec(), inverses: base.iter().enumerate().map(row).collect() }
    }

    /// Replaces canonical residues by digits.
    pub fn digits(&self, residues: &mut [u32]) {
        for (index, inverses) in self.inverses.iter().enumerate() {
            let (done, rest) = residues.split_at_mut(index + 1);
            let digit = done[index];
            for ((residue, &inverse), channel) in rest.iter_mut().zip(inverses).zip(&self.base[index + 1..]) {
                // Above zero and below 2p.
                let difference = *residue + channel.p - channel.canonical(digit);
                *residue = channel.reduce_once(channel.redc(u64::from(difference) * u64::from(inverse)));
            }
        }
    }

    /// The value of digits modulo a prime of another base: Horner's rule, canonical.
    #[must_use]
    pub fn residue(&self, digits: &[u32], channel: Channel) -> u32 {
        digits.iter().zip(&self.base).rev().fold(0, |value, (&digit, source)| {
            channel.reduce_once(channel.multiply(value, source.p) + channel.canonical(digit))
        })
    }

    /// The value of digits as a number of little-endian 32-bit words; what does not fit is dropped.
    pub fn value(&self, digits: &[u32], out: &mut [u32]) {
        out.fill(0);
        for (&digit, channel) in digits.iter().zip(&self.base).rev() {
            words::multiply_add(out, channel.p, digit);
        }
    }
}
