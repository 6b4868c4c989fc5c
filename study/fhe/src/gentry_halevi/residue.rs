//! Small sums modulo d, in time proportional to their length.

use modmill_core::limbs::{
    add_assign, bits_at, reduce_once, sub_assign_masked, sub_assign_times, sub_borrowing, sub_from,
};
use modmill_core::mask;

/// `x mod d` in place, for x below `2^32 d` and d of at least 65 bits. The limbs of x above those of d become
/// zero.
///
/// The quotient of the first bits, with the divisor rounded up, is at most the true one, and more than the
/// true one less 2: with `D` the first 64 bits of d, q differs from x/d by less than `1 + q / D + 2^-31`
/// before it is rounded down.
pub(super) fn reduce_small(x: &mut [u64], d: &[u64], bits: usize) {
    let shift = bits - 64;
    let first = u128::from(bits_at(x, shift, 64)) | u128::from(bits_at(x, shift + 64, 64)) << 64;
    let divisor = u128::from(bits_at(d, shift, 64)) + 1;
    let quotient = (first / divisor) as u64;
    sub_assign_times(x, d, quotient);
    reduce_once(x, d);
    reduce_once(x, d);
}

/// `x + y mod d` in place, for x and y below d.
pub(super) fn add_mod(x: &mut [u64], y: &[u64], d: &[u64]) {
    let carry = add_assign(x, y);
    // With a carry the sum is above d, and d is subtracted once and for all.
    sub_assign_masked(x, d, mask::from_bit(carry));
    reduce_once(x, d);
}

/// `-x mod d` in place, for x below d.
pub(super) fn negate_mod(x: &mut [u64], d: &[u64]) {
    sub_from(x, d);
    reduce_once(x, d);
}

/// 1 if `2 x > d`, else 0, for x below d.
pub(super) fn exceeds_half(x: &[u64], d: &[u64]) -> u64 {
    let (mut below, mut borrow) = (0, false);
    for (&limb, &modulus) in x.iter().zip(d) {
        let doubled = limb << 1 | below;
        below = limb >> 63;
        borrow = sub_borrowing(modulus, doubled, borrow).1;
    }
    below | u64::from(borrow)
}

/// The lowest bit of x, centred in `(-d/2, d/2]`, for x below an odd d.
pub(super) fn centred_bit(x: &[u64], d: &[u64]) -> bool {
    x.first().map_or(0, |limb| limb & 1) ^ exceeds_half(x, d) == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::limbs::sub_assign;

    #[test]
    fn small_multiples_and_their_neighbours_are_reduced() {
        for d in [[u64::MAX, u64::MAX, 1], [1, 0, 1 << 63], [0, 0, 3], [12345, 1, 1]] {
            let bits = modmill_core::limbs::bit_length(&d);
            for factor in [0, 1, 2, 3, 1000, u64::from(u32::MAX)] {
                for offset in [0u64, 1, u64::MAX] {
                    let times = modmill::number::mul(&d, &[factor]);
                    let mut x = times.to_vec();
                    // One less wraps to d - 1 below the next multiple.
                    let mut expected = [0; 3];
                    match offset {
                        u64::MAX if factor == 0 => continue,
                        u64::MAX => {
                            sub_assign(&mut x, &[1]);
                            expected = d;
                            sub_assign(&mut expected, &[1]);
                        }
                        offset => {
                            add_assign(&mut x, &[offset]);
                            expected[0] = offset;
                        }
                    }
                    reduce_small(&mut x, &d, bits);
                    assert_eq!((&x[..3], x[3]), (&expected[..], 0), "{d:?} {factor} {offset}");
                }
            }
        }
        let d = [u64::MAX, u64::MAX];
        let mut x = [u64::MAX - 1, u64::MAX];
        add_mod(&mut x, &[u64::MAX - 1, u64::MAX], &d);
        assert_eq!(x, [u64::MAX - 2, u64::MAX]);
        let x = [0, 1 << 63];
        assert_eq!((exceeds_half(&x, &d), centred_bit(&x, &d)), (1, true));
        assert_eq!(exceeds_half(&[u64::MAX, u64::MAX >> 1], &d), 0);
        let mut x = [5, 0];
        negate_mod(&mut x, &[7, 1]);
        assert_eq!(x, [2, 1]);
        let mut zero = [0, 0];
        negate_mod(&mut zero, &[7, 1]);
        assert_eq!(zero, [0, 0]);
    }
}
