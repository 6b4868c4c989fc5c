//! The matrix of a base extension.
//!
//! The extension computes `sum_i xi_i M_i - k M` modulo each prime of the second base from the words xi of
//! the first, where M is the product of the first base and `M_i = M / m_i`. A word enters as its four
//! bytes. So the matrix has four rows for each word, `M_i 2^(16 + 8 byte) mod p`, and a column of entries
//! is summed as four columns of bytes. [`Channel::fold`] removes the factor 2^16.
//!
//! Entries are canonical. Other representatives `entry + i p` would have larger high bytes, which widen
//! the ranges of the lazy residues, and nearly the same low bytes, because p is -1 modulo 2^16.
//!
//! The quotient k enters as one more word, of which two bytes are used. Instead of the quotient a matrix may
//! have one more word for each column, a different one for every channel (`Matrix::with_own_words`).

use super::Channel;
use zeroize::{Zeroize, Zeroizing};

/// The number of bytes of a word.
pub const BYTES: usize = 4;
/// The number of bytes of the quotient, which is below 2^16.
pub const QUOTIENT_BYTES: usize = 2;

/// The matrix of a base extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    words: usize,
    quotient: bool,
    /// One vector for each column: word after word, byte after byte, the quotient or the column's own word
    /// last.
    columns: Vec<Vec<u32>>,
}

/// The largest sums of a column for words within given bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// The sum of the two low columns of bytes: `c0 + 2^8 c1`.
    pub low: u64,
    /// The sum of the two high columns of bytes: `c2 + 2^8 c3`.
    pub high: u64,
}

impl Matrix {
    /// The matrix from base `from` to base `to`. `quotient` says whether it has rows for the quotient.
    #[must_use]
    pub fn new(from: &[Channel], to: &[Channel], quotient: bool) -> Self {
        let column = |channel: &Channel| {
            let mut column = cofactors(from, *channel);
            if quotient {
                let product = from.iter().fold(1, |product, source| channel.multiply(product, source.p));
                column.push(channel.p - product);
            }
            let mut entries: Vec<u32> = Vec::with_capacity(BYTES * column.len());
            for (word, cofactor) in column.into_iter().enumerate() {
                let bytes = if word < from.len() { BYTES } else { QUOTIENT_BYTES };
                let mut entry = channel.multiply(cofactor, 1 << 16);
                for _ in 0..bytes {
                    entries.push(entry);
                    entry = channel.multiply(entry, 1 << 8);
                }
            }
            entries
        };
        Self { words: from.len(), quotient, columns: to.iter().map(column).collect() }
    }

    /// This matrix with each column, quotient included, multiplied by the factor of its channel.
    pub(super) fn with_columns_times(&self, to: &[Channel], factors: &[u32]) -> Self {
        let mut scaled = self.clone();
        for (column, (channel, &factor)) in scaled.columns.iter_mut().zip(to.iter().zip(factors)) {
            column.iter_mut().for_each(|entry| *entry = channel.multiply(*entry, factor));
        }
        scaled
    }

    /// This matrix with the rows of the words marked in `negated` negated.
    pub(super) fn with_words_negated(&self, to: &[Channel], negated: &[bool]) -> Self {
        let mut changed = self.clone();
        for (column, channel) in changed.columns.iter_mut().zip(to) {
            for (entries, &negated) in column.chunks_mut(BYTES).zip(negated) {
                // p - 1 or 1.
                let factor = 1 + u32::from(negated) * (channel.p - 2);
                entries.iter_mut().for_each(|entry| *entry = channel.multiply(*entry, factor));
            }
        }
        changed
    }

    /// This matrix with one more word for each column, which is multiplied by the factor of its channel. The
    /// matrix has no quotient.
    pub(super) fn with_own_words(&self, to: &[Channel], factors: &[u32]) -> Self {
        let mut changed = self.clone();
        for (column, (channel, &factor)) in changed.columns.iter_mut().zip(to.iter().zip(factors)) {
            let mut entry = channel.canonical(factor);
            for _ in 0..BYTES {
                column.push(entry);
                entry = channel.multiply(entry, 1 << 8);
            }
        }
        changed
    }

    /// Zeroizes the entries.
    pub(super) fn zeroize(&mut self) {
        self.columns.zeroize();
    }

    /// The number of words of the first base, without the quotient.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Whether the matrix has rows for the quotient.
    #[must_use]
    pub fn has_quotient(&self) -> bool {
        self.quotient
    }

    /// The canonical entry of byte `byte` of word `word` in the column of `channel`. The word behind the last
    /// is the quotient or the column's own word.
    #[must_use]
    pub fn entry(&self, word: usize, byte: usize, channel: usize) -> u32 {
        self.columns[channel][BYTES * word + byte]
    }

    /// The column of `channel`: word after word, byte after byte, the two bytes of the quotient or
    /// the four bytes of the column's own word last.
    #[must_use]
    pub fn column(&self, channel: usize) -> &[u32] {
        &self.columns[channel]
    }

    /// `sum_i byte_i entry_i` over the column of `channel`, for the bytes of [`to_bytes`].
    #[must_use]
    pub fn total(&self, channel: usize, bytes: &[u8]) -> u64 {
        // A term is below 2^40, so 2^24 of them fit.
        self.columns[channel]
            .iter()
            .zip(bytes)
            .map(|(&entry, &byte)| u64::from(entry) * u64::from(byte))
            .sum()
    }

    /// The largest sums of the column of `channel` for words up to `words` and a last word up to `last`,
    /// which is the quotient or the column's own word.
    #[must_use]
    pub fn sums(&self, channel: usize, words: &[u64], last: u64) -> Sums {
        let bytes = words.iter().map(|&word| largest_bytes(word)).chain([largest_bytes(last)]).flatten();
        let mut sums = Sums { low: 0, high: 0 };
        for (&entry, byte) in self.columns[channel].iter().zip(bytes) {
            sums.low += u64::from(entry & 0xffff) * byte;
            sums.high += u64::from(entry >> 16) * byte;
        }
        sums
    }
}

/// The bytes of `words` and then of `last`, the quotient or the column's own word, in the order of a column.
#[must_use]
pub fn to_bytes(words: &[u32], last: u32) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(words.iter().chain([&last]).flat_map(|word| word.to_le_bytes()).collect())
}

/// For each byte, its largest value in numbers up to `value`.
fn largest_bytes(value: u64) -> [u64; BYTES] {
    std::array::from_fn(|byte| (value >> (8 * byte)).min(0xff))
}

/// `M_i mod p` for each prime of the base `from`: the product of the primes before it times that of the
/// primes behind it.
fn cofactors(from: &[Channel], channel: Channel) -> Vec<u32> {
    let mut cofactors = vec![1; from.len()];
    for order in [Vec::from_iter(0..from.len()), Vec::from_iter((0..from.len()).rev())] {
        let mut product = 1;
        for index in order {
            cofactors[index] = channel.multiply(cofactors[index], product);
            product = channel.multiply(product, from[index].p);
        }
    }
    cofactors
}
