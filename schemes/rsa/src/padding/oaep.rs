//! OAEP (RFC 8017, section 7.1): `0 | maskedSeed | maskedDB`. `DB` consists of the digest of the label,
//! zeros, a one and the message.

use super::ct::{self, Flag};
use super::mask;
use crate::{Hash, ItemError};

/// The parameters of OAEP.
///
/// ```
/// use modmill_rsa::{EncryptionScheme, Hash, Oaep};
///
/// let oaep = Oaep { label: b"any bytes", mask_hash: Hash::Sha1, ..Oaep::new(Hash::Sha256) };
/// let scheme = EncryptionScheme::Oaep(oaep);
/// # let _ = scheme;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oaep<'a> {
    /// The hash of the label.
    pub hash: Hash,
    /// The hash of the mask generation function.
    pub mask_hash: Hash,
    /// A byte string that sender and receiver agree on. It is usually empty.
    pub label: &'a [u8],
}

impl Oaep<'_> {
    /// `hash` for the label and for the masks, and an empty label.
    #[must_use]
    pub fn new(hash: Hash) -> Self {
        Self { hash, mask_hash: hash, label: &[] }
    }

    /// The length of the longest message for a block of `block_len` bytes.
    pub(crate) fn capacity(&self, block_len: usize) -> Result<usize, ItemError> {
        block_len.checked_sub(2 * self.hash.len() + 2).ok_or(ItemError::KeyTooShort)
    }

    /// Writes the encoding of `message` into `block`, which is as long as the modulus. `seed` is random and
    /// as long as a digest.
    pub(crate) fn encode(&self, message: &[u8], seed: &[u8], block: &mut [u8]) -> Result<(), ItemError> {
        let limit = self.capacity(block.len())?;
        if message.len() > limit {
            return Err(ItemError::MessageTooLong { limit, found: message.len() });
        }
        block.fill(0);
        let (masked_seed, data) = block[1..].split_at_mut(self.hash.len());
        masked_seed.copy_from_slice(seed);
        data[..seed.len()].copy_from_slice(self.hash.digest(&[self.label]).as_ref());
        let one = data.len() - message.len() - 1;
        data[one] = 1;
        data[one + 1..].copy_from_slice(message);
        mask::apply(self.mask_hash, masked_seed, data);
        mask::apply(self.mask_hash, data, masked_seed);
        Ok(())
    }

    /// Returns the message in `block`, which is overwritten. The time depends on the length of the message,
    /// and on whether there is one. It does not depend on the first byte, which Manger's attack asks for.
    pub(crate) fn decode<'b>(&self, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
        self.capacity(block.len())?;
        let (first, rest) = block.split_at_mut(1);
        let (seed, data) = rest.split_at_mut(self.hash.len());
        mask::apply(self.mask_hash, data, seed);
        mask::apply(self.mask_hash, seed, data);
        let (label, data) = data.split_at_mut(self.hash.len());
        let right_label = ct::equal(label, self.hash.digest(&[self.label]).as_ref());
        let (mut looking, mut broken, mut start) = (Flag::TRUE, Flag::TRUE.not(), 0);
        for (index, &byte) in data.iter().enumerate() {
            let one = Flag::equal(byte.into(), 1);
            start = looking.and(one).choose(index + 1, start);
            broken = broken.or(looking.and(one.or(Flag::zero(byte)).not()));
            looking = looking.and(one.not());
        }
        let right = Flag::zero(first[0]).and(right_label).and(looking.or(broken).not());
        ct::shift_to_front(data, start);
        // The caller learns whether the block decrypts and how long the message is, so that both may show
        // from here on.
        match right.declassify() {
            true => Ok(&data[..data.len() - start]),
            false => Err(ItemError::Decryption),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_every_length_come_back() {
        let scheme = Oaep { label: b"label", ..Oaep::new(Hash::Sha256) };
        let limit = scheme.capacity(128).unwrap();
        for len in 0..=limit {
            let message = vec![len as u8; len];
            let mut block = [0; 128];
            scheme.encode(&message, &[9; 32], &mut block).unwrap();
            for wrong in [Oaep::new(Hash::Sha256), Oaep { mask_hash: Hash::Sha1, ..scheme }] {
                assert_eq!(wrong.decode(&mut block.clone()), Err(ItemError::Decryption));
            }
            assert_eq!(*scheme.decode(&mut block).unwrap(), message);
        }
        let too_long = scheme.encode(&vec![0; limit + 1], &[9; 32], &mut [0; 128]);
        assert_eq!(too_long, Err(ItemError::MessageTooLong { limit, found: limit + 1 }));
        assert_eq!(scheme.decode(&mut [0; 65]), Err(ItemError::KeyTooShort));
    }

    #[test]
    fn a_flipped_bit_does_not_decrypt_to_the_message() {
        let scheme = Oaep::new(Hash::Sha256);
        let mut block = [0; 80];
        scheme.encode(b"message", &[9; 32], &mut block).unwrap();
        for bit in 0..8 * block.len() {
            let mut block = block;
            block[bit / 8] ^= 1 << (bit % 8);
            // A bit of the message's masked bytes changes the seed, and with it everything else.
            assert_ne!(scheme.decode(&mut block).ok(), Some(&b"message"[..]), "bit {bit}");
        }
        // Data without a one, and data in which another byte comes before it.
        for data in [[0u8; 15], [2; 15]] {
            let mut block = [0; 80];
            let (seed, rest) = block[1..].split_at_mut(32);
            rest[..32].copy_from_slice(Hash::Sha256.digest(&[b""]).as_ref());
            rest[32..].copy_from_slice(&data);
            mask::apply(Hash::Sha256, seed, rest);
            mask::apply(Hash::Sha256, rest, seed);
            assert_eq!(scheme.decode(&mut block), Err(ItemError::Decryption));
        }
    }
}
