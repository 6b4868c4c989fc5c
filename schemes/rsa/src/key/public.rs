//! Public keys.

use super::Sizes;
use crate::KeyError;
use crate::number;
use modmill::Modulus;
use std::fmt;
use std::sync::Arc;

/// A public key. A clone is cheap, and shares the constants that were computed for the modulus.
#[derive(Clone)]
pub struct PublicKey(Arc<Parts>);

struct Parts {
    modulus: Modulus,
    /// The modulus as big-endian bytes, for comparisons with blocks.
    bytes: Vec<u8>,
    exponent: Vec<u64>,
}

impl PublicKey {
    /// The length of the longest public exponent, in bits (FIPS 186-5, section 5.1).
    pub const MAX_EXPONENT_BITS: usize = 256;

    /// Makes a key from a modulus and an exponent, both as big-endian bytes.
    ///
    /// ```
    /// use modmill_rsa::{KeyError, PublicKey, Sizes};
    ///
    /// assert_eq!(PublicKey::new(&[0xff; 256], &[1, 0, 1], Sizes::Standard)?.bits(), 2048);
    /// let refused = PublicKey::new(&[0xff; 128], &[1, 0, 1], Sizes::Standard);
    /// assert_eq!(refused, Err(KeyError::TooShort { bits: 1024, limit: 2048 }));
    /// # Ok::<(), KeyError>(())
    /// ```
    pub fn new(modulus: &[u8], exponent: &[u8], sizes: Sizes) -> Result<Self, KeyError> {
        let (modulus, exponent) = (number::from_be_bytes(modulus), number::from_be_bytes(exponent));
        let (bits, limit) = (number::bit_length(&modulus), sizes.min_bits());
        if bits < limit {
            return Err(KeyError::TooShort { bits, limit });
        }
        if bits > Sizes::MAX_BITS {
            return Err(KeyError::TooLong { bits, limit: Sizes::MAX_BITS });
        }
        if modulus[0] & 1 == 0 {
            return Err(KeyError::EvenModulus);
        }
        match number::bit_length(&exponent) {
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

    /// The length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.modulus.bits()
    }

    /// The length of the modulus in bytes. Signatures and ciphertexts have the same length.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.bytes.len()
    }

    /// The modulus as big-endian bytes.
    #[must_use]
    pub fn modulus_bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The public exponent as big-endian bytes.
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
