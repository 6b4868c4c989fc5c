//! A uniform matrix that is expanded from a seed of 32 bytes, any row at any time.

use super::moduli::ResidueModuli;
use super::source::{MatrixSource, check_shape, rows_length};
use super::word::WordModulus;
use crate::error::Error;
use chacha20::variants::Legacy;
use chacha20::{ChaCha20Rng, ChaChaCore, R20};
use rand_core::block::Generator;
use rand_core::{Rng, SeedableRng};
use std::ops::Range;

/// The words of a block of ChaCha.
pub const GROUP_WORDS: usize = 16;

/// A uniform matrix expanded from a seed by ChaCha20 with a 64-bit counter and a 64-bit stream number.
///
/// The columns of a row are cut into groups of 16. The group g of residue i of a row is block
/// `(row k + i) G + g` for the G groups of a row, and its column c is word `c mod 16` of the block. A word x
/// of stream 0 gives the residue `x mod m` if x is below the greatest multiple of m that is at most 2^32.
/// Otherwise the same word of the same block of stream 1 is tried, then of stream 2, and so on. So residues
/// are exactly uniform for uniform words. For the greatest primes below 2^32, one word of many millions is
/// tried again; for moduli a little above 2^31 it is every second.
#[derive(Debug, Clone)]
pub struct SeededRows {
    moduli: ResidueModuli,
    rows: usize,
    columns: usize,
    seed: [u8; 32],
}

impl SeededRows {
    /// The matrix of this shape and seed.
    pub fn new(moduli: &ResidueModuli, rows: usize, columns: usize, seed: [u8; 32]) -> Result<Self, Error> {
        check_shape(moduli, rows, columns)?;
        Ok(Self { moduli: moduli.clone(), rows, columns, seed })
    }

    /// The residues of columns `16 group` and following of one row, modulo the modulus at `place`.
    pub fn read_columns(
        &self,
        row: usize,
        place: usize,
        group: usize,
        words: &mut [u32],
    ) -> Result<(), Error> {
        let last = group.saturating_mul(GROUP_WORDS).saturating_add(words.len());
        for (what, value, most) in [
            ("the number of rows", row.saturating_add(1), self.rows),
            ("the number of moduli", place.saturating_add(1), self.moduli.len()),
            ("the number of columns", last, self.columns),
        ] {
            if value > most {
                return Err(Error::OutOfRange { what, value, least: 1, most });
            }
        }
        let groups = self.columns.div_ceil(GROUP_WORDS) as u64;
        let block = (row * self.moduli.len() + place) as u64 * groups + group as u64;
        self.fill(&mut Blocks::new(self.seed, block), self.moduli.words()[place], words);
        Ok(())
    }

    /// Fills a run of columns of one modulus from the next blocks.
    fn fill(&self, blocks: &mut Blocks, modulus: WordModulus, words: &mut [u32]) {
        let last = modulus.last_uniform();
        for words in words.chunks_mut(GROUP_WORDS) {
            let (number, block) = blocks.next();
            words.copy_from_slice(&block[..words.len()]);
            if words.iter().fold(false, |found, &word| found | (word > last)) {
                for (place, word) in words.iter_mut().enumerate().filter(|(_, word)| **word > last) {
                    *word = self.retried(number, place, last);
                }
            }
            if last >= modulus.get() {
                words.iter_mut().for_each(|word| *word = modulus.reduce(u64::from(*word)));
            }
        }
    }

    /// The first word `word` of block `block` that is not above `last`, from stream 1 on.
    fn retried(&self, block: u64, word: usize, last: u32) -> u32 {
        let mut stream = 1;
        loop {
            let mut generator = ChaCha20Rng::from_seed(self.seed);
            generator.set_stream(stream);
            generator.set_block_pos(block);
            let found = (0..=word).fold(0, |_, _| generator.next_u32());
            if found <= last {
                return found;
            }
            stream += 1;
        }
    }
}

impl MatrixSource for SeededRows {
    fn moduli(&self) -> &ResidueModuli {
        &self.moduli
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn seed(&self) -> Option<&[u8; 32]> {
        Some(&self.seed)
    }

    fn read(&self, rows: Range<usize>, words: &mut [u32]) -> Result<(), Error> {
        rows_length(self, &rows, words.len())?;
        let groups = self.columns.div_ceil(GROUP_WORDS) as u64;
        let mut blocks = Blocks::new(self.seed, (rows.start * self.moduli.len()) as u64 * groups);
        for (index, plane) in words.chunks_mut(self.columns).enumerate() {
            self.fill(&mut blocks, self.moduli.words()[index % self.moduli.len()], plane);
        }
        Ok(())
    }
}

/// The blocks of stream 0, from some block on. The generator makes four at a time.
struct Blocks {
    generator: ChaChaCore<R20, Legacy>,
    words: [u32; 4 * GROUP_WORDS],
    used: usize,
    next: u64,
}

impl Blocks {
    fn new(seed: [u8; 32], first: u64) -> Self {
        let mut generator = ChaChaCore::from_seed(seed);
        generator.set_block_pos(first);
        Self { generator, words: [0; 4 * GROUP_WORDS], used: 4 * GROUP_WORDS, next: first }
    }

    /// The next block, with its number.
    fn next(&mut self) -> (u64, &[u32]) {
        if self.used == self.words.len() {
            self.generator.generate(&mut self.words);
            self.used = 0;
        }
        let (number, start) = (self.next, self.used);
        self.next += 1;
        self.used += GROUP_WORDS;
        (number, &self.words[start..][..GROUP_WORDS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::MemoryRows;

    #[test]
    fn any_rows_are_those_of_the_whole() {
        // The middle modulus retries every second word.
        let moduli = ResidueModuli::new(&[u32::MAX - 4, 0x8000_000b, 3]).unwrap();
        let matrix = SeededRows::new(&moduli, 5, 37, [7; 32]).unwrap();
        let whole = MemoryRows::copy_of(&matrix).unwrap();
        moduli.check_planes(37, whole.words()).unwrap();
        for rows in [0..1, 1..4, 4..5, 2..2] {
            let mut words = vec![0; rows.len() * 3 * 37];
            matrix.read(rows.clone(), &mut words).unwrap();
            assert_eq!(words, whole.words()[rows.start * 3 * 37..rows.end * 3 * 37]);
        }
        for (row, place, group, count) in [(0, 0, 0, 37), (4, 2, 1, 20), (3, 1, 2, 5), (1, 1, 0, 3)] {
            let mut words = vec![0; count];
            matrix.read_columns(row, place, group, &mut words).unwrap();
            assert_eq!(words, whole.words()[(row * 3 + place) * 37 + 16 * group..][..count]);
        }
        for (row, place, group, count) in [(5, 0, 0, 1), (0, 3, 0, 1), (0, 0, 2, 6), (0, 0, usize::MAX, 1)] {
            assert!(matrix.read_columns(row, place, group, &mut vec![0; count]).is_err());
        }
        let again = SeededRows::new(&moduli, 5, 37, [7; 32]).unwrap();
        assert_eq!(MemoryRows::copy_of(&again).unwrap().words(), whole.words());
        let other = SeededRows::new(&moduli, 5, 37, [8; 32]).unwrap();
        assert_ne!(MemoryRows::copy_of(&other).unwrap().words(), whole.words());
    }

    /// The first block of the key of zeros, from the test vectors of RFC 8439 (A.1, vector 1).
    #[test]
    fn words_are_those_of_chacha20() {
        let moduli = ResidueModuli::largest(1).unwrap();
        let mut words = [0; 4];
        SeededRows::new(&moduli, 1, 4, [0; 32]).unwrap().read(0..1, &mut words).unwrap();
        assert_eq!(words.map(u32::swap_bytes), [0x76b8_e0ad, 0xa0f1_3d90, 0x405d_6ae5, 0x5386_bd28]);
    }
}
