//! Signed digits of scalars.

use zeroize::Zeroize;

/// The width of digits of secret scalars. A table has `2^(WIDTH - 1)` entries for a place.
pub(super) const WIDTH: usize = 5;

/// The number of multiples that a table holds for one place.
pub(super) const ENTRIES: usize = 1 << (WIDTH - 1);

/// A scalar as `sum d_i 2^(w i)` with `-2^(w - 1) <= d_i <= 2^(w - 1)` (Booth's recoding): `d_i` comes from
/// the bits `w i - 1` to `w i + w - 1`. No step depends on the scalar.
pub(super) struct Digits<I: Zeroize> {
    integer: I,
    width: usize,
}

/// A digit: its magnitude, and all ones as `negative` if it is negative. A negative zero may occur.
#[derive(Clone, Copy)]
pub(super) struct Digit {
    pub(super) magnitude: u64,
    pub(super) negative: u64,
}

impl<I: AsRef<[u64]> + Zeroize> Digits<I> {
    pub(super) fn new(integer: I, width: usize) -> Self {
        Self { integer, width }
    }

    /// The number of digits of a number of `bits` bits. The highest digit is not negative, because the bit
    /// above the number is zero.
    pub(super) const fn places(bits: usize, width: usize) -> usize {
        (bits + 1).div_ceil(width)
    }

    pub(super) fn get(&self, place: usize) -> Digit {
        let (limbs, width) = (self.integer.as_ref(), self.width);
        let limb = |index: usize| limbs.get(index).copied().unwrap_or(0);
        // The bit below the lowest one is zero.
        let bits = match place * width {
            0 => limb(0) << 1,
            start => {
                let (index, shift) = ((start - 1) / 64, (start - 1) % 64);
                (u128::from(limb(index)) | u128::from(limb(index + 1)) << 64).wrapping_shr(shift as u32)
                    as u64
            }
        };
        let bits = bits & ((2 << width) - 1);
        let negative = (bits >> width).wrapping_neg();
        // Half of the bits, rounded up, without the branch of a division.
        let upper = (bits + 1) >> 1;
        // `2^w - upper` for a negative digit.
        let magnitude = (upper ^ negative).wrapping_sub(negative).wrapping_add(negative & (1 << width));
        Digit { magnitude, negative }
    }
}

impl<I: Zeroize> Drop for Digits<I> {
    fn drop(&mut self) {
        self.integer.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_to_the_number() {
        let numbers = [0, 1, 2, 15, 16, 17, 31, 32, 33, u64::MAX, 1 << 63, 0xf0f0_f0f0_0f0f_0f0f];
        for low in numbers {
            for high in numbers {
                for width in [3, 4, 5, 6] {
                    let digits = Digits::new([low, high >> 1], width);
                    let places = Digits::<[u64; 2]>::places(127, width);
                    let value = (0..places).rev().fold(0i128, |value, place| {
                        let Digit { magnitude, negative } = digits.get(place);
                        assert!(magnitude <= 1 << (width - 1));
                        let digit = i128::from(magnitude);
                        value.wrapping_shl(width as u32).wrapping_add(if negative == 0 {
                            digit
                        } else {
                            -digit
                        })
                    });
                    assert_eq!(value, i128::from(high >> 1) << 64 | i128::from(low));
                }
            }
        }
    }
}
