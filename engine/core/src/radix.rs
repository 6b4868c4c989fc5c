//! Conversion between 64-bit limbs and digits of another width of up to 64 bits: 50 and 52 bits for
//! vector kernels, 32, 23 and 22 bits for GPUs.

use crate::limbs::bits_at;

/// The number of digits of `width` bits that hold a number of `bits` bits.
#[must_use]
pub const fn digits_for(bits: usize, width: u32) -> usize {
    bits.div_ceil(width as usize)
}

/// Splits a number into digits of `width` bits, least significant first. Digit `i` is written to
/// `out[i * stride]`, so that several numbers can lie side by side in vector lanes.
pub fn split(limbs: &[u64], width: u32, stride: usize, out: &mut [u64]) {
    split_from(limbs, 0, width, stride, out);
}

/// Splits the bits of a number from bit `start` up, as [`split`] does.
pub fn split_from(limbs: &[u64], start: usize, width: u32, stride: usize, out: &mut [u64]) {
    for (index, digit) in out.iter_mut().step_by(stride).enumerate() {
        *digit = bits_at(limbs, start + index * width as usize, width);
    }
}

/// Joins digits of `width` bits, each below `2^width`, into limbs. Digit `i` is read from
/// `digits[i * stride]`. Bits beyond the end of `out` are dropped.
pub fn join(digits: &[u64], width: u32, stride: usize, out: &mut [u64]) {
    join_at(digits, 0, width, stride, out);
}

/// Joins digits to a number that starts at bit `start`, as [`join`] does.
pub fn join_at(digits: &[u64], start: usize, width: u32, stride: usize, out: &mut [u64]) {
    out.fill(0);
    for (index, &digit) in digits.iter().step_by(stride).enumerate() {
        let bit = start + index * width as usize;
        let (word, shift) = (bit / 64, bit % 64);
        if let Some(limb) = out.get_mut(word) {
            *limb |= digit << shift;
        }
        if let Some(limb) = out.get_mut(word + 1) {
            // Two shifts: for shift = 0 a single one would be by 64 bits, which overflows.
            *limb |= digit >> 1 >> (63 - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_round_trips() {
        let number: Vec<u64> = (1..=9u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for number in [number, vec![u64::MAX; 9], vec![0; 9], vec![0, 1, 0, 1 << 63]] {
            for width in [22, 23, 32, 51, 52, 63, 64] {
                for stride in [1, 4, 8] {
                    let mut digits = vec![0; stride * digits_for(64 * number.len(), width)];
                    split(&number, width, stride, &mut digits);
                    assert!(digits.iter().all(|&digit| digit <= u64::MAX >> (64 - width)));
                    let mut back = vec![1; number.len()];
                    join(&digits, width, stride, &mut back);
                    assert_eq!(back, number, "{width} bits, stride {stride}");
                }
            }
        }
    }

    #[test]
    fn a_known_split() {
        let mut digits = [0; 3];
        split(&[u64::MAX, 1], 52, 1, &mut digits);
        assert_eq!(digits, [(1 << 52) - 1, (1 << 13) - 1, 0]);
    }
}
