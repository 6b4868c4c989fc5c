//! Public keys.

use super::Sizes;
use crate::KeyError;
use crate::number;
use modmill::Modulus;
use modmill_core::limbs;
use std::fmt;
use std::sync::Arc;

/// A public key. Clones are cheap and share what was computed for the modulus.
#[derive(Clone)]
pub struct PublicKey(Arc<Parts>);

struct Parts {
    modulus: Modulus,
    /// The modulus as bytes, to compare with.
    bytes: Vec<u8>,
    exponent: Vec<u64>,
}

impl PublicKey {
    /// The longest public exponent, in bits (FIPS 186-5, section 5.1).
    pub const MAX_EXPONENT_BITS: usize = 256;

    /// A key from modulus and exponent, big-endian.
    pub fn new(modulus: &[u8], exponent: &[u8], sizes: Sizes) -> Result<Self, KeyError> {
        let (modulus, exponent) = (number::from_be_bytes(modulus), number::from_be_bytes(exponent));
        let (bits, limit) = (limbs::bit_length(&modulus), sizes.min_bits());
        if bits < limit {
            return Err(KeyError::TooShort { bits, limit });
        }
        if bits > Sizes::MAX_BITS {
            return Err(KeyError::TooLong { bits, limit: Sizes::MAX_BITS });
        }
        if modulus[0] & 1 == 0 {
            return Err(KeyError::EvenModulus);
        }
        match limbs::bit_length(&exponent) {
            0 | 1 => return Err(KeyError::Exponent("is less than 3")),
            exponent_bits if exponent_bits > Self::MAX_EXPONENT_BITS => {
                return Err(KeyError::Exponent("has more than 256 bits"));
            }
            _ if exponent[0] & 1 == 0 => return Err(KeyError::Exponent("is even")),
            _ => {}
        }
        let bytes = number::to_be_bytes(&modulus).to_vec();
        let modulus = Modulus::new(&modulus).map_err(|_| KeyError::EvenModulus)?;
        Ok(Self(Arc::new(Parts { modulus, bytes, exponent: exponent.to_vec() })))
    }

    /// Length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.modulus.bits()
    }

    /// Length of the modulus in bytes: that of signatures and ciphertexts.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.bytes.len()
    }

    /// The modulus, big-endian.
    #[must_use]
    pub fn modulus_bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The public exponent, big-endian.
    #[must_use]
    pub fn exponent_bytes(&self) -> Vec<u8> {
        number::to_be_bytes(&self.0.exponent).to_vec()
    }

    pub(crate) fn modulus(&self) -> &Modulus {
        &self.0.modulus
    }

    pub(crate) fn exponent(&self) -> &[u64] {
        &self.0.exponent
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        (self.modulus_bytes(), self.exponent()) == (other.modulus_bytes(), other.exponent())
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} bits)", self.bits())
    }
}
