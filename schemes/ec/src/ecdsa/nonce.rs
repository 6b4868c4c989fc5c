//! Nonces: hedged, or by RFC 6979.

use super::number;
use crate::field::Field;
use crate::{Digest, Hash};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroizing;

/// A nonce from random bytes of the call, the index of the item, the private key and the digest, by SHA-512.
/// Its bits are 64 more than the order's at least, so that no value is more likely than another by more than
/// 2^-64.
pub(super) fn hedged<F: Field>(seed: &[u8; 32], item: usize, secret: &[u8], digest: &Digest) -> F {
    let blocks = (F::BITS + 64).div_ceil(512) as u8;
    let mut bytes = Zeroizing::new([0; 128]);
    for block in 0..blocks {
        let hash = Sha512::new()
            .chain_update(b"modmill ECDSA nonce")
            .chain_update([block])
            .chain_update(seed)
            .chain_update((item as u64).to_be_bytes())
            .chain_update(secret)
            .chain_update(digest);
        let mut output = hash.finalize();
        bytes[64 * usize::from(block)..][..64].copy_from_slice(&output);
        zeroize::Zeroize::zeroize(output.as_mut_slice());
    }
    // A field's numbers take twice their own length at most.
    let len = (64 * usize::from(blocks)).min(2 * F::BYTES);
    F::read_wide(&bytes[..len])
}

/// The nonce of RFC 6979, section 3.2. The number of rejected candidates shows, which is nearly always none,
/// and says nothing about the one that is taken.
pub(super) fn rfc6979<F: Field>(hash: Hash, secret: &[u8], digest: &Digest) -> F {
    let mut reduced = Zeroizing::new([0; 66]);
    let reduced = &mut reduced[..F::BYTES];
    number::<F>(digest.as_ref()).write(reduced);
    let len = hash.len();
    let (mut key, mut value) = (Zeroizing::new([0; Hash::MAX_LEN]), Zeroizing::new([1; Hash::MAX_LEN]));
    for round in 0..2u8 {
        key = hmac(hash, &key[..len], &[&value[..len], &[round], secret, reduced]);
        value = hmac(hash, &key[..len], &[&value[..len]]);
    }
    loop {
        let mut candidate = Zeroizing::new([0; 66]);
        for piece in candidate[..F::BYTES].chunks_mut(len) {
            value = hmac(hash, &key[..len], &[&value[..len]]);
            piece.copy_from_slice(&value[..piece.len()]);
        }
        shift_right(&mut candidate[..F::BYTES], 8 * F::BYTES - F::BITS);
        let (nonce, in_range) = F::read(&candidate[..F::BYTES]);
        if in_range & !nonce.is_zero() != 0 {
            return nonce;
        }
        key = hmac(hash, &key[..len], &[&value[..len], &[0]]);
        value = hmac(hash, &key[..len], &[&value[..len]]);
    }
}

/// Shifts a big-endian number by fewer than 8 bits.
fn shift_right(bytes: &mut [u8], count: usize) {
    let mut above = 0u16;
    for byte in bytes {
        let both = above << 8 | u16::from(*byte);
        above = u16::from(*byte);
        *byte = (both >> count) as u8;
    }
}

/// HMAC (RFC 2104) with a key that is not longer than a block. It is padded with zeros to the hash's length.
fn hmac(hash: Hash, key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; Hash::MAX_LEN]> {
    // The longest block is that of SHA3-224.
    let mut pads = [Zeroizing::new([0x36; 144]), Zeroizing::new([0x5c; 144])];
    for pad in &mut pads {
        pad.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
    }
    let [inner, outer] = pads.each_ref().map(|pad| &pad[..block_len(hash)]);
    let inner = Zeroizing::new(hash.digest(&[&[inner], parts].concat()));
    let digest = Zeroizing::new(hash.digest(&[outer, (*inner).as_ref()]));
    let mut output = Zeroizing::new([0; Hash::MAX_LEN]);
    output[..hash.len()].copy_from_slice((*digest).as_ref());
    output
}

/// The length of a block of a hash with a fixed output, in bytes.
fn block_len(hash: Hash) -> usize {
    match hash {
        Hash::Sha1 | Hash::Sha224 | Hash::Sha256 => 64,
        Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 => 200 - 2 * hash.len(),
        _ => 128,
    }
}
