//! PKCS #1 v1.5 (RFC 8017, sections 7.2 and 9.2), with implicit rejection
//! (draft-irtf-cfrg-rsa-guidance, section 7).

use super::ct::{self, Flag};
use crate::{Hash, ItemError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// The least number of bytes in addition to the message: two at the front, eight of padding, and a zero.
const OVERHEAD: usize = 11;

/// Writes the encoding of a digest for a signature into `block`: `00 01 ff .. ff 00 prefix digest`.
pub(crate) fn encode_digest(prefix: &[u8], digest: &[u8], block: &mut [u8]) -> Result<(), ItemError> {
    let zero = block.len().checked_sub(prefix.len() + digest.len() + 1).filter(|&zero| zero >= 10);
    let zero = zero.ok_or(ItemError::KeyTooShort)?;
    block[..2].copy_from_slice(&[0, 1]);
    block[2..zero].fill(0xff);
    block[zero] = 0;
    block[zero + 1..][..prefix.len()].copy_from_slice(prefix);
    block[zero + 1 + prefix.len()..].copy_from_slice(digest);
    Ok(())
}

/// The length of the longest message for a block of `block_len` bytes.
pub(crate) fn capacity(block_len: usize) -> Result<usize, ItemError> {
    block_len.checked_sub(OVERHEAD).ok_or(ItemError::KeyTooShort)
}

/// Writes the encoding of `message` into `block`: `00 02 padding 00 message`. `random` fills bytes with
/// random ones. Bytes of the padding that are zero are drawn again.
pub(crate) fn encode_message<E: From<ItemError>>(
    message: &[u8],
    block: &mut [u8],
    mut random: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let limit = capacity(block.len())?;
    if message.len() > limit {
        return Err(ItemError::MessageTooLong { limit, found: message.len() }.into());
    }
    let zero = block.len() - message.len() - 1;
    block[..2].copy_from_slice(&[0, 2]);
    random(&mut block[2..zero])?;
    for byte in &mut block[2..zero] {
        while *byte == 0 {
            random(std::slice::from_mut(byte))?;
        }
    }
    block[zero] = 0;
    block[zero + 1..].copy_from_slice(message);
    Ok(())
}

/// Returns where the message in a block starts and whether the padding is right, without a branch.
fn find_message(block: &[u8]) -> (usize, Flag) {
    let (mut looking, mut start) = (Flag::TRUE, 0);
    for (index, &byte) in block.iter().enumerate().skip(2) {
        let zero = Flag::zero(byte);
        start = looking.and(zero).choose(index + 1, start);
        looking = looking.and(zero.not());
    }
    let right = Flag::zero(block[0])
        .and(Flag::equal(block[1].into(), 2))
        .and(looking.not())
        .and(Flag::less(start, OVERHEAD).not());
    (start, right)
}

/// Returns the message in `block`, which is overwritten. If the padding is wrong, returns a substitute that
/// `key` and `ciphertext` determine, so that the caller cannot tell whether the padding was right.
///
/// The time depends on the length of the returned message only, in both cases alike.
pub(crate) fn decode_message<'b>(
    key: &RejectionKey,
    ciphertext: &[u8],
    block: &'b mut [u8],
) -> Result<&'b [u8], ItemError> {
    let limit = capacity(block.len())?;
    let substitute = key.substitute(ciphertext, limit);
    let (start, right) = find_message(block);
    let start = right.choose(start, block.len() - substitute.len);
    for (byte, other) in block.iter_mut().zip(substitute.bytes.iter()) {
        *byte = right.choose_byte(*byte, *other);
    }
    ct::shift_to_front(block, start);
    // The caller learns the length of the message or of its substitute, so that it may show from here on.
    Ok(&block[..block.len() - start])
}

/// The secret that substitutes are derived from: the digest of the private exponent.
pub(crate) struct RejectionKey(Zeroizing<[u8; 32]>);

/// A substitute message: the last `len` bytes of a block.
struct Substitute {
    bytes: Zeroizing<Vec<u8>>,
    len: usize,
}

impl RejectionKey {
    /// Derives the secret from the private exponent, written with as many bytes as the modulus has.
    pub(crate) fn new(exponent: &[u8]) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        key.copy_from_slice(Hash::Sha256.digest(&[exponent]).as_ref());
        Self(key)
    }

    /// The substitute for the message of `ciphertext`, at most `limit` bytes long.
    fn substitute(&self, ciphertext: &[u8], limit: usize) -> Substitute {
        let derived = prf_block(&*self.0, &[ciphertext]);
        let mut bytes = Zeroizing::new(vec![0; limit + OVERHEAD]);
        expand(&derived, b"message", &mut bytes);
        let mut candidates = Zeroizing::new([0; 256]);
        expand(&derived, b"length", &mut *candidates);
        // Candidates are cut to as many bits as the limit has. The last one that is not above the limit
        // counts.
        let mask = (limit + 2).next_power_of_two() - 1;
        let len = candidates.chunks_exact(2).fold(0, |len, pair| {
            let candidate = usize::from(u16::from_be_bytes([pair[0], pair[1]])) & mask;
            Flag::less(candidate, limit + 1).choose(candidate, len)
        });
        Substitute { bytes, len }
    }
}

fn prf_block(key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    Zeroizing::new(mac.finalize().into_bytes().into())
}

/// The draft's IRPRF: blocks of `HMAC(key, counter | label | bits of output)`.
fn expand(key: &[u8; 32], label: &[u8], out: &mut [u8]) {
    let bits = (8 * out.len() as u16).to_be_bytes();
    for (counter, chunk) in (0u16..).zip(out.chunks_mut(32)) {
        let block = prf_block(key, &[&counter.to_be_bytes(), label, &bits]);
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(message: &[u8], len: usize) -> Vec<u8> {
        let mut block = vec![0; len];
        let mut next = 0u8;
        let random = |bytes: &mut [u8]| {
            bytes.fill_with(|| {
                next = next.wrapping_mul(5).wrapping_add(3);
                next
            });
            Ok::<(), ItemError>(())
        };
        encode_message(message, &mut block, random).unwrap();
        block
    }

    #[test]
    fn messages_of_every_length_come_back() {
        let key = RejectionKey::new(&[1; 64]);
        for len in 0..=64 - OVERHEAD {
            let message: Vec<u8> = (0..len as u8).collect();
            let mut block = encoded(&message, 64);
            assert!(block[2..63 - len].iter().all(|&byte| byte != 0));
            assert_eq!(*decode_message(&key, b"ciphertext", &mut block).unwrap(), message);
        }
        let refused = encode_message(&[0; 54], &mut [0; 64], |_| Ok::<(), ItemError>(()));
        assert_eq!(refused, Err(ItemError::MessageTooLong { limit: 53, found: 54 }));
    }

    #[test]
    fn wrong_paddings_give_messages_that_key_and_ciphertext_determine() {
        let key = RejectionKey::new(&[1; 64]);
        let good = encoded(b"message", 64);
        let mut wrong = Vec::new();
        for (place, byte) in [(0, 1), (1, 1), (2, 0), (9, 0)] {
            let mut block = good.clone();
            block[place] = byte;
            wrong.push(block);
        }
        // A block without a zero after the padding.
        wrong.push([&[0, 2][..], &[7; 62]].concat());
        let mut first = wrong[0].clone();
        let expected = decode_message(&key, b"one", &mut first).unwrap();
        assert!(expected.len() <= 53);
        for mut block in wrong {
            assert_eq!(decode_message(&key, b"one", &mut block.clone()).unwrap(), expected);
            assert_ne!(decode_message(&key, b"two", &mut block.clone()).unwrap(), expected);
            let other = RejectionKey::new(&[2; 64]);
            assert_ne!(decode_message(&other, b"one", &mut block).unwrap(), expected);
        }
        // Eight bytes of padding suffice.
        let mut block = good;
        block[10] = 0;
        assert_eq!(decode_message(&key, b"one", &mut block.clone()).unwrap()[..], block[11..]);
    }

    #[test]
    fn lengths_of_substitutes_are_spread_and_fit() {
        let key = RejectionKey::new(&[3; 256]);
        let lengths: Vec<usize> =
            (0..400u32).map(|item| key.substitute(&item.to_be_bytes(), 245).len).collect();
        assert!(lengths.iter().all(|&len| len <= 245));
        assert!(lengths.iter().filter(|&&len| len > 122).count() > 150);
        assert!(lengths.iter().filter(|&&len| len < 61).count() > 50);
    }

    #[test]
    fn substitutes_are_those_of_the_draft() {
        // From Python's hmac and hashlib, by the draft's text.
        for (size, ciphertext, len, start, end) in [
            (64, "ciphertext", 27, 0xef63_6621_0b2a_1ba5, 0x3c7c_b6f3),
            (128, "another", 22, 0x0965_3b5c_18d6_fb6f, 0xf362_1e50),
            (256, "third", 168, 0x5aee_5b9e_f818_bed0, 0xecf9_29b8),
        ] {
            let key = RejectionKey::new(&vec![1; size]);
            let found = key.substitute(ciphertext.as_bytes(), size - OVERHEAD);
            assert_eq!((found.len, found.bytes.len()), (len, size));
            assert_eq!(found.bytes[..8], u64::to_be_bytes(start));
            assert_eq!(found.bytes[size - 4..], u32::to_be_bytes(end));
        }
    }

    #[test]
    fn digests_fit_or_the_key_is_too_short() {
        let mut block = [1; 62];
        let prefix = Hash::Sha256.digest_info_prefix().unwrap();
        encode_digest(&prefix, &[5; 32], &mut block).unwrap();
        assert_eq!(block[..12], [0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x30]);
        assert_eq!(encode_digest(&prefix, &[5; 32], &mut [0; 61]), Err(ItemError::KeyTooShort));
    }
}
