//! PSS (RFC 8017, section 9.1): `maskedDB | H | bc`. `DB` consists of zeros, a one and the salt. `H` is the
//! digest of eight zeros, the digest of the message and the salt.

use super::{ct, mask};
use crate::{Hash, ItemError};

/// The parameters of PSS.
///
/// ```
/// use modmill_rsa::{Hash, Pss, SaltLength, SignatureScheme};
///
/// // A salt as long as possible, as `openssl dgst` signs by default.
/// let pss = Pss { salt: SaltLength::Longest, ..Pss::new(Hash::Sha256) };
/// let scheme = SignatureScheme::Pss(pss);
/// # let _ = scheme;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pss {
    /// The hash of the message, and of the digest `H` inside the encoding.
    pub hash: Hash,
    /// The hash of the mask generation function. SHAKE128 and SHAKE256 are their own mask generation
    /// functions.
    pub mask_hash: Hash,
    /// The length of the salt.
    pub salt: SaltLength,
}

/// The length of the salt of PSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaltLength {
    /// Signs with a salt as long as the digest, and verifies a salt of any length.
    #[default]
    Any,
    /// Signs and verifies with a salt as long as the digest only.
    Digest,
    /// Signs and verifies with a salt of this many bytes only.
    Bytes(usize),
    /// Signs and verifies with the longest salt that the key has room for only.
    Longest,
}

impl Pss {
    /// `hash` for the message and for the mask, and [`SaltLength::Any`].
    #[must_use]
    pub fn new(hash: Hash) -> Self {
        Self { hash, mask_hash: hash, salt: SaltLength::Any }
    }

    /// The length in bytes of the salt that a key of `key_bits` bits signs with.
    pub(crate) fn salt_len(&self, key_bits: usize) -> Result<usize, ItemError> {
        let room = encoded_len(key_bits).checked_sub(self.hash.len() + 2).ok_or(ItemError::KeyTooShort)?;
        let wanted = match self.salt {
            SaltLength::Digest | SaltLength::Any => self.hash.len(),
            SaltLength::Bytes(len) => len,
            SaltLength::Longest => room,
        };
        if wanted <= room { Ok(wanted) } else { Err(ItemError::KeyTooShort) }
    }

    /// Writes the encoding of `digest` and `salt` into `block`, which is as long as the modulus.
    pub(crate) fn encode(
        &self,
        digest: &[u8],
        salt: &[u8],
        key_bits: usize,
        block: &mut [u8],
    ) -> Result<(), ItemError> {
        let len = encoded_len(key_bits);
        let mask_len = len.checked_sub(self.hash.len() + 1).ok_or(ItemError::KeyTooShort)?;
        let one = mask_len.checked_sub(salt.len() + 1).ok_or(ItemError::KeyTooShort)?;
        let hashed = self.hash.digest(&[&[0; 8], digest, salt]);
        block.fill(0);
        let start = block.len() - len;
        let (masked, rest) = block[start..].split_at_mut(mask_len);
        masked[one] = 1;
        masked[one + 1..].copy_from_slice(salt);
        mask::apply(self.mask_hash, hashed.as_ref(), masked);
        masked[0] &= 0xff >> unused_bits(key_bits);
        rest[..hashed.as_ref().len()].copy_from_slice(hashed.as_ref());
        rest[hashed.as_ref().len()] = 0xbc;
        Ok(())
    }

    /// Whether `block` is an encoding of `digest`. Overwrites the block. All values are public.
    pub(crate) fn verify(&self, digest: &[u8], key_bits: usize, block: &mut [u8]) -> bool {
        let len = encoded_len(key_bits);
        let (above, encoded) = block.split_at_mut(block.len() - len);
        let Some(mask_len) = len.checked_sub(self.hash.len() + 1).filter(|&len| len > 0) else {
            return false;
        };
        let (masked, rest) = encoded.split_at_mut(mask_len);
        let (hashed, end) = rest.split_at(self.hash.len());
        let unused = !(0xff >> unused_bits(key_bits));
        if above.iter().any(|&byte| byte != 0) || end != [0xbc] || masked[0] & unused != 0 {
            return false;
        }
        mask::apply(self.mask_hash, hashed, masked);
        masked[0] &= !unused;
        let Some(one) = masked.iter().position(|&byte| byte != 0) else { return false };
        let salt = &masked[one + 1..];
        let right_salt = match self.salt {
            SaltLength::Any => true,
            _ => self.salt_len(key_bits) == Ok(salt.len()),
        };
        masked[one] == 1
            && right_salt
            && ct::equal(self.hash.digest(&[&[0; 8], digest, salt]).as_ref(), hashed).declassify()
    }
}

/// The length of the encoding in bytes. The encoding is one bit shorter than the modulus.
fn encoded_len(key_bits: usize) -> usize {
    (key_bits - 1).div_ceil(8)
}

/// The number of bits of the encoding's first byte that are always zero.
fn unused_bits(key_bits: usize) -> usize {
    8 * encoded_len(key_bits) - (key_bits - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_verifies_and_nothing_else() {
        for key_bits in [1024, 1025, 1026, 1031, 1032, 1033] {
            let scheme = Pss { salt: SaltLength::Bytes(20), ..Pss::new(Hash::Sha256) };
            let digest = Hash::Sha256.digest(&[b"message"]);
            let digest = digest.as_ref();
            let mut block = vec![0xff; usize::div_ceil(key_bits, 8)];
            scheme.encode(digest, &[7; 20], key_bits, &mut block).unwrap();
            let verifies = |scheme: &Pss, digest: &[u8], block: &[u8]| {
                scheme.verify(digest, key_bits, &mut block.to_vec())
            };
            assert!(verifies(&scheme, digest, &block));
            assert!(verifies(&Pss { salt: SaltLength::Any, ..scheme }, digest, &block));
            for salt in [SaltLength::Digest, SaltLength::Longest, SaltLength::Bytes(19)] {
                assert!(!verifies(&Pss { salt, ..scheme }, digest, &block));
            }
            assert!(!verifies(&Pss { mask_hash: Hash::Sha1, ..scheme }, digest, &block));
            assert!(!verifies(&scheme, Hash::Sha256.digest(&[]).as_ref(), &block));
            for bit in 0..8 * block.len() {
                block[bit / 8] ^= 1 << (bit % 8);
                assert!(!verifies(&scheme, digest, &block), "{key_bits} bits, bit {bit}");
                block[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn salts_take_the_room_there_is() {
        let scheme = |salt| Pss { salt, ..Pss::new(Hash::Sha512) };
        assert_eq!(scheme(SaltLength::Longest).salt_len(1024), Ok(128 - 66));
        assert_eq!(scheme(SaltLength::Longest).salt_len(1025), Ok(128 - 66));
        assert_eq!(scheme(SaltLength::Digest).salt_len(1024), Err(ItemError::KeyTooShort));
        assert_eq!(scheme(SaltLength::Bytes(0)).salt_len(521), Err(ItemError::KeyTooShort));
        assert_eq!(scheme(SaltLength::Bytes(0)).salt_len(529), Ok(0));
    }
}
