//! Conversions between batches and the numbers of other libraries, behind features.

use crate::Batch;
#[cfg(feature = "crypto-bigint")]
use zeroize::Zeroizing;

#[cfg(feature = "num-bigint")]
impl Batch {
    /// A batch from `num-bigint` values. The width is the bit length of the largest value.
    #[must_use]
    pub fn from_biguints<'a>(values: impl IntoIterator<Item = &'a num_bigint::BigUint>) -> Self {
        Self::from_values(values.into_iter().map(num_bigint::BigUint::to_u64_digits))
    }

    /// Item `index` as a `num-bigint` value.
    #[must_use]
    pub fn to_biguint(&self, index: usize) -> num_bigint::BigUint {
        num_bigint::BigUint::new(
            self.get(index).iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect(),
        )
    }
}

#[cfg(feature = "crypto-bigint")]
impl Batch {
    /// A batch from `crypto-bigint` values. Their precision becomes the width.
    #[must_use]
    pub fn from_uints<const LIMBS: usize>(values: &[crypto_bigint::Uint<LIMBS>]) -> Self {
        let mut batch = Self::zeros(crypto_bigint::Uint::<LIMBS>::BITS as usize, values.len());
        for (index, value) in values.iter().enumerate() {
            crate::limbs::copy_be_bytes(value.to_be_bytes().as_ref(), batch.get_mut(index));
        }
        batch
    }

    /// Item `index` as a `crypto-bigint` value; `None` if the width exceeds the type's precision.
    #[must_use]
    pub fn to_uint<const LIMBS: usize>(&self, index: usize) -> Option<crypto_bigint::Uint<LIMBS>> {
        let width = crypto_bigint::Uint::<LIMBS>::BITS as usize;
        if self.bits() > width {
            return None;
        }
        let bytes = Zeroizing::new(crate::limbs::to_be_bytes(self.get(index), width / 8));
        Some(crypto_bigint::Uint::from_be_slice(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "num-bigint")]
    fn biguints_round_trip() {
        let values = [num_bigint::BigUint::from(5u8), num_bigint::BigUint::from(1u8) << 100];
        let batch = Batch::from_biguints(&values);
        assert_eq!(batch.bits(), 101);
        assert_eq!([batch.to_biguint(0), batch.to_biguint(1)], values);
    }

    #[test]
    #[cfg(feature = "crypto-bigint")]
    fn uints_round_trip() {
        use crypto_bigint::{U128, U256};
        let values = [
            U256::from_be_hex("00000000000000000000000000000000f0000000000000010000000000000002"),
            U256::MAX,
        ];
        let batch = Batch::from_uints(&values);
        assert_eq!(batch.bits(), 256);
        assert_eq!([batch.to_uint(0), batch.to_uint(1)], values.map(Some));
        assert_eq!(batch.to_uint::<{ U128::LIMBS }>(0), None);
    }
}
