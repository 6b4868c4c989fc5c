//! Random bytes and numbers from the operating system.

use crate::Error;
use modmill::Batch;
use modmill::number::{self, Number};
use zeroize::Zeroizing;

/// The bytes that are drawn together, at most.
const CHUNK: usize = 1 << 16;

/// Overwrites `bytes` with random bytes.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))
}

/// Draws a number below `2^bits`, in `bits.div_ceil(64)` limbs.
pub fn number(bits: usize) -> Result<Number, Error> {
    let drawn = batch(bits, 1)?;
    Ok(Number::new(drawn.get(0).to_vec()))
}

/// Draws `count` numbers below `2^bits`.
pub fn batch(bits: usize, count: usize) -> Result<Batch, Error> {
    let mut numbers = Batch::zeros(bits, count);
    let octets = bits.div_ceil(8);
    let mut bytes = Zeroizing::new(vec![0; octets * count.min(CHUNK / octets.max(1) + 1)]);
    let unused = (8 - bits % 8) % 8;
    let mut rows = numbers.as_limbs_mut().chunks_mut(bits.div_ceil(64).max(1));
    let mut left = if bits == 0 { 0 } else { count };
    while left > 0 {
        let drawn = left.min(bytes.len() / octets);
        fill(&mut bytes[..drawn * octets])?;
        for (block, row) in bytes.chunks_mut(octets).take(drawn).zip(&mut rows) {
            block[0] &= 0xff >> unused;
            number::copy_be_bytes(block, row);
        }
        left -= drawn;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_reach_their_length_and_not_beyond() {
        for bits in [0, 1, 7, 8, 9, 63, 64, 65, 521] {
            let lengths: Vec<usize> = (0..200).map(|_| number::bit_length(&number(bits).unwrap())).collect();
            assert_eq!(lengths.iter().max(), Some(&bits));
        }
    }

    /// More numbers than one chunk holds: all are drawn, none is drawn twice.
    #[test]
    fn batches_of_any_size_are_random() {
        for count in [0, 1, 3, CHUNK / 8, CHUNK / 8 + 1, CHUNK / 8 + 2, 20_000] {
            let drawn = batch(64, count).unwrap();
            let mut values = drawn.as_limbs().to_vec();
            values.sort_unstable();
            values.dedup();
            assert_eq!((drawn.len(), values.len()), (count, count));
        }
        assert_eq!(batch(0, 5).unwrap().len(), 5);
    }
}
