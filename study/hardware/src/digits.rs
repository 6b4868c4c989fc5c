//! Numbers as digits of less than a limb, and back.

use crate::error::Error;
use modmill_core::limbs::{bit_length, bits_at};

/// The digits of `limbs`, the least significant first. `operand` stands in the error.
pub(crate) fn split(
    operand: &'static str,
    limbs: &[u64],
    bits: u32,
    count: usize,
) -> Result<Vec<u64>, Error> {
    let (length, limit) = (bit_length(limbs), count * bits as usize);
    if length > limit {
        return Err(Error::OperandTooLong { operand, bits: length, limit });
    }
    Ok((0..count).map(|index| bits_at(limbs, index * bits as usize, bits)).collect())
}

/// The limbs of a number of digits.
pub(crate) fn join(digits: &[u64], bits: u32) -> Vec<u64> {
    let mut limbs = vec![0; (digits.len() * bits as usize).div_ceil(64)];
    for (index, &digit) in digits.iter().enumerate() {
        let start = index * bits as usize;
        let wide = u128::from(digit) << (start % 64);
        limbs[start / 64] |= wide as u64;
        if let Some(next) = limbs.get_mut(start / 64 + 1) {
            *next |= (wide >> 64) as u64;
        }
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_join_to_the_number() {
        let limbs = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978];
        for bits in [16, 22, 24] {
            let count = 192usize.div_ceil(bits as usize);
            let digits = split("a", &limbs, bits, count).unwrap();
            assert_eq!(join(&digits, bits)[..3], limbs);
        }
        let error = split("b", &limbs, 24, 7).unwrap_err();
        assert_eq!(error.to_string(), "operand b has 188 bits, and the machine takes 168");
    }
}
