//! ECDSA (FIPS 186-5, section 6), written once over the curves.

pub(crate) mod check;
pub(crate) mod encoding;
mod nonce;
pub(crate) mod sign;
#[cfg(test)]
mod tests;
pub(crate) mod verify;

use crate::field::Field;
use crate::group::Weierstrass;
use crate::{Digest, PrivateKey};

/// A message that is signed: its index in its call, its key, and its digest.
pub(crate) struct Signing<'a> {
    pub(crate) index: usize,
    pub(crate) key: &'a PrivateKey,
    pub(crate) digest: Digest,
}

/// The number that a digest stands for: its first bits, as many as the order has. No order here is shorter
/// than a digest by a part of a byte.
pub(crate) fn number<F: Field>(digest: &[u8]) -> F {
    F::read_wide(&digest[..digest.len().min(F::BYTES)])
}

/// The `x` of a point as a number modulo the order.
pub(crate) fn to_scalar<C: Weierstrass>(x: C::Base) -> C::Scalar {
    // The longest coordinate has 66 bytes.
    let mut bytes = [0; 66];
    let bytes = &mut bytes[..C::Base::BYTES];
    x.write(bytes);
    C::Scalar::read_wide(bytes)
}
