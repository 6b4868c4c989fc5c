//! Mask generation: MGF1 (RFC 8017, appendix B.2.1), or SHAKE itself (RFC 8702, section 2.2).

use crate::Hash;

/// Combines `bytes` with the mask of `seed` by exclusive or.
pub(crate) fn apply(hash: Hash, seed: &[u8], bytes: &mut [u8]) {
    if hash.is_extendable() {
        let mut mask = zeroize::Zeroizing::new(vec![0; bytes.len()]);
        hash.extend(seed, &mut mask);
        return bytes.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
    }
    for (counter, chunk) in (0u32..).zip(bytes.chunks_mut(hash.len())) {
        let mask = hash.digest(&[seed, &counter.to_be_bytes()]);
        chunk.iter_mut().zip(mask.as_ref()).for_each(|(byte, mask)| *byte ^= mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_digests_of_seed_and_counter() {
        let mut mask = [0; 70];
        apply(Hash::Sha256, b"seed", &mut mask);
        let block = |counter: u8| Hash::Sha256.digest(&[b"seed", &[0, 0, 0, counter]]);
        assert_eq!(mask[..32], *block(0).as_ref());
        assert_eq!(mask[64..], block(2).as_ref()[..6]);
        // A mask that is applied twice cancels out.
        apply(Hash::Sha256, b"seed", &mut mask);
        assert_eq!(mask, [0; 70]);
        apply(Hash::Shake128, b"seed", &mut mask);
        assert_eq!(mask[..32], *Hash::Shake128.digest(&[b"seed"]).as_ref());
    }
}
