//! Items hashed to numbers.

use sha2::{Digest, Sha256};

/// Bytes of a SHA-256 digest.
const DIGEST: usize = 32;

/// Overwrites `out` with bytes that depend on `item` and `domain` as a random function would:
/// `expand_message_xmd` of [RFC 9380](https://www.rfc-editor.org/rfc/rfc9380#section-5.3.1) with SHA-256.
///
/// `out` has at most 255 * 32 bytes and `domain` at most 255: the function's counter and the domain's length
/// are single bytes.
pub(crate) fn expand(item: &[u8], domain: &[u8], out: &mut [u8]) {
    debug_assert!(out.len() <= 255 * DIGEST && domain.len() <= 255);
    let end = |hasher: Sha256| hasher.chain_update(domain).chain_update([domain.len() as u8]).finalize();
    let first = Sha256::new().chain_update([0; 64]).chain_update(item);
    let first = end(first.chain_update((out.len() as u16).to_be_bytes()).chain_update([0]));
    let mut last = [0; DIGEST];
    for (counter, piece) in (1..).zip(out.chunks_mut(DIGEST)) {
        let mixed: [u8; DIGEST] = std::array::from_fn(|index| first[index] ^ last[index]);
        last = end(Sha256::new().chain_update(mixed).chain_update([counter])).into();
        piece.copy_from_slice(&last[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    /// The vectors of RFC 9380, appendix K.1.
    #[test]
    fn the_vectors_of_the_rfc_hold() {
        let domain = b"QUUX-V01-CS02-with-expander-SHA256-128";
        for (item, expected) in [
            ("", "68a985b87eb6b46952128911f2a4412bbc302a9d759667f87f7a21d803f07235"),
            ("abc", "d8ccab23b5985ccea865c6c97b6e5b8350e794e603b4b97902f53a8a0d605615"),
            ("abcdef0123456789", "eff31487c770a893cfb36f912fbfcbff40d5661771ca4b2cb4eafe524333f5c1"),
        ] {
            let mut out = [0; 32];
            expand(item.as_bytes(), domain, &mut out);
            assert_eq!(hex(&out), expected, "{item}");
        }
        let mut out = [0; 128];
        expand(b"abc", domain, &mut out);
        assert_eq!(
            hex(&out),
            "abba86a6129e366fc877aab32fc4ffc70120d8996c88aee2fe4b32d6c7b6437a647e6c3163d40b76a73cf6a5674ef1d890f95b664ee0afa5359a5c4e07985635bbecbac65d747d3d2da7ec2b8221b17b0ca9dc8a1ac1c07ea6a1e60583e2cb00058e77b7b72a298425cd1b941ad4ec65e8afc50303a22c0f99b0509b4c895f40"
        );
    }
}
