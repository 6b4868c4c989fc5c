//! Montgomery's ladder on Curve25519 (RFC 7748, section 5), of `u` alone.

use crate::field::{Field, P25519};
use modmill_core::mask;
use zeroize::Zeroize;

/// `(486662 - 2) / 4`.
const A24: P25519 = P25519::constant("1db41");

/// The multiple of the point with this `u` by a secret clamped scalar (big-endian): `u` as a numerator and a
/// denominator. A point of small order gives the identity, whose denominator is zero. Its inverse is taken as
/// zero, and then `u` is zero, as RFC 7748 demands.
pub(crate) fn multiple(scalar: &[u8; 32], u: P25519) -> [P25519; 2] {
    let (mut a, mut b) = ([P25519::ONE, P25519::ZERO], [u, P25519::ONE]);
    let mut swapped = 0;
    for position in (0..255).rev() {
        let bit = u64::from(scalar[31 - position / 8] >> (position % 8) & 1);
        swap(mask::from_bit(swapped ^ bit), &mut a, &mut b);
        swapped = bit;
        let (sum_a, difference_a) = (a[0] + a[1], a[0] - a[1]);
        let (sum_b, difference_b) = (b[0] + b[1], b[0] - b[1]);
        let (cross, other) = (difference_b * sum_a, sum_b * difference_a);
        let (aa, bb) = (sum_a.square(), difference_a.square());
        let e = aa - bb;
        b = [(cross + other).square(), u * (cross - other).square()];
        a = [aa * bb, e * (aa + A24 * e)];
    }
    swap(mask::from_bit(swapped), &mut a, &mut b);
    b.zeroize();
    a
}

#[inline(always)]
fn swap(mask: u64, a: &mut [P25519; 2], b: &mut [P25519; 2]) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (P25519::select(mask, *b, *a), P25519::select(mask, *a, *b));
    }
}
