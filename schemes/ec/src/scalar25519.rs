//! Scalars of Ed25519 and X25519 as bytes, and the scalars of private keys.

use crate::field::{Field, N25519};
use sha2::{Digest as _, Sha512};
use zeroize::{Zeroize, Zeroizing};

/// The inverse of 8.
pub(crate) const EIGHTH: N25519 =
    N25519::constant("600000000000000000000000000000007d39db37d1cdad06106e529e2dc2f79");

/// Reads a little-endian number of 32 or 64 bytes, and reduces it.
pub(crate) fn read_scalar(bytes: &[u8]) -> N25519 {
    let mut reversed = Zeroizing::new([0; 64]);
    let reversed = &mut reversed[..bytes.len()];
    reversed.copy_from_slice(bytes);
    reversed.reverse();
    N25519::read_wide(reversed)
}

/// Reads a little-endian number below the order.
pub(crate) fn read_canonical(bytes: &[u8; 32]) -> Option<N25519> {
    let mut reversed = *bytes;
    reversed.reverse();
    let (number, in_range) = N25519::read(&reversed);
    (in_range != 0).then_some(number)
}

/// Writes a number as 32 little-endian bytes.
pub(crate) fn write_scalar(number: N25519) -> [u8; 32] {
    let mut bytes = [0; 32];
    number.write(&mut bytes);
    bytes.reverse();
    bytes
}

/// The two halves of the hash of a private key of Ed25519: a clamped scalar, reduced, and the prefix of
/// nonces.
pub(crate) struct Expanded {
    pub(crate) scalar: N25519,
    pub(crate) prefix: [u8; 32],
}

impl Zeroize for Expanded {
    fn zeroize(&mut self) {
        self.scalar.zeroize();
        self.prefix.zeroize();
    }
}

impl Expanded {
    pub(crate) fn new(secret: &[u8]) -> Zeroizing<Self> {
        let mut output = Sha512::digest(secret);
        let expanded = Self {
            scalar: read_scalar(&*clamped(&output[..32])),
            prefix: std::array::from_fn(|i| output[32 + i]),
        };
        output.as_mut_slice().zeroize();
        Zeroizing::new(expanded)
    }
}

/// A little-endian scalar of 32 bytes without the bits that the cofactor takes, and with the highest one set.
pub(crate) fn clamped(bytes: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut scalar = Zeroizing::new([0; 32]);
    scalar.copy_from_slice(bytes);
    scalar[0] &= 0xf8;
    scalar[31] &= 0x7f;
    scalar[31] |= 0x40;
    scalar
}
