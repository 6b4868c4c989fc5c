//! Random bytes and single numbers from the operating system.
//! [`modmill::random::bits`] draws batches.

use modmill::Error;
use modmill::number::{self, Number};
use zeroize::Zeroizing;

/// Overwrites `bytes` with random bytes.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))
}

/// Draws a number below `2^bits`, in `bits.div_ceil(64)` limbs.
pub fn number(bits: usize) -> Result<Number, Error> {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    fill(&mut bytes)?;
    if let Some(first) = bytes.first_mut() {
        *first &= 0xff >> ((8 - bits % 8) % 8);
    }
    let mut number = Number::new(vec![0; bits.div_ceil(64)]);
    number::copy_be_bytes(&bytes, &mut number);
    Ok(number)
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
}
