//! A number in a record.

use crate::records::Value;
use modmill::TRANSFORM_MAX_BITS;

/// A number in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'a> {
    /// The most significant byte comes first.
    octets: &'a [u8],
    /// The declared length, which may be longer than the value.
    pub(super) bits: usize,
}

impl<'a> Number<'a> {
    /// The number of a field with the length that it is written with.
    pub(super) fn new(value: Value<'a>) -> Result<Self, String> {
        let number = Self { octets: value.octets, bits: value.bits.max(1) };
        // Leading zeros alone do not make a number too long.
        let number = if number.bits > TRANSFORM_MAX_BITS { number.shortened() } else { number };
        if number.bits > TRANSFORM_MAX_BITS {
            return Err(format!("the number has {} bits; the limit is {TRANSFORM_MAX_BITS}", number.bits));
        }
        Ok(number)
    }

    /// The number without leading zeros.
    pub(super) fn shortened(self) -> Self {
        let zeros = self.octets.iter().take_while(|&&octet| octet == 0).count();
        let octets = &self.octets[zeros..];
        let bits = octets.first().map_or(0, |first| 8 * octets.len() - first.leading_zeros() as usize);
        Self { octets, bits: bits.max(1) }
    }

    /// Whether the number, which is public, is zero.
    pub(super) fn is_zero(self) -> bool {
        self.octets.iter().all(|&octet| octet == 0)
    }

    pub(super) fn limbs(self) -> usize {
        self.bits.div_ceil(64)
    }

    /// Writes the number as limbs, the least significant first.
    pub(super) fn copy_to(self, limbs: &mut [u64]) {
        let (first, eights) = self.octets.as_rchunks::<8>();
        for (limb, octets) in limbs.iter_mut().zip(eights.iter().rev()) {
            *limb = u64::from_be_bytes(*octets);
        }
        if let Some(limb) = limbs.get_mut(eights.len()) {
            let mut padded = [0; 8];
            padded[8 - first.len()..].copy_from_slice(first);
            *limb = u64::from_be_bytes(padded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_taken_as_written() {
        let octets = [0, 0, 0, 0, 0, 0, 0, 0, 0xff];
        let number = Number::new(Value { octets: &octets, bits: 72 }).unwrap();
        assert_eq!((number.bits, number.limbs()), (72, 2));
        assert_eq!((number.shortened().bits, number.shortened().octets), (8, &[0xff][..]));
        assert!(!number.is_zero() && Number { octets: &[0, 0], bits: 16 }.is_zero());
    }

    #[test]
    fn only_leading_zeros_may_pass_the_limit() {
        let long = |octets: &'static [u8]| Number::new(Value { octets, bits: TRANSFORM_MAX_BITS + 8 });
        assert_eq!(long(&[0, 0, 0x12]), Ok(Number { octets: &[0x12], bits: 5 }));
        assert_eq!(long(&[0, 0]), Ok(Number { octets: &[], bits: 1 }));
    }

    #[test]
    fn octets_become_limbs() {
        let octets: Vec<u8> = (1..=17).collect();
        for (length, expected) in [
            (0, [0, 0, 0]),
            (1, [1, 0, 0]),
            (8, [0x0102_0304_0506_0708, 0, 0]),
            (9, [0x0203_0405_0607_0809, 1, 0]),
            (17, [0x0a0b_0c0d_0e0f_1011, 0x0203_0405_0607_0809, 1]),
        ] {
            let mut limbs = [0; 3];
            Number { octets: &octets[..length], bits: 8 * length }.copy_to(&mut limbs);
            assert_eq!(limbs, expected);
        }
    }
}
