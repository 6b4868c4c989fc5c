//! Products of polynomials with signed coefficients as products of long integers: Kronecker's substitution.
//!
//! A polynomial is packed as its value at `2^(64 slot)`: coefficient i stands in the `slot` limbs from limb
//! `i slot` on, and a negative one borrows from the slot above. The value is kept as magnitude and sign. The
//! product of two values is the value of the product, and its coefficients can be read back as long as each
//! is below `2^(64 slot - 1)` in magnitude.

use modmill_core::limbs::{add_assign, negate, sub_assign};

/// Packs coefficients, in two's complement of any number of limbs up to `slot`, into `out`. Returns whether
/// the value is negative; `out` then holds its magnitude.
pub(super) fn pack<'a>(coefficients: impl Iterator<Item = &'a [u64]>, slot: usize, out: &mut [u64]) -> bool {
    let mut borrow = 0;
    for (place, coefficient) in out.chunks_mut(slot).zip(coefficients) {
        let (low, high) = place.split_at_mut(coefficient.len());
        low.copy_from_slice(coefficient);
        high.fill(sign(coefficient));
        sub_assign(place, &[borrow]);
        // A coefficient is small for its slot, so that its sign is that of the difference.
        borrow = sign(place) & 1;
    }
    if borrow == 1 {
        negate(out);
    }
    borrow == 1
}

/// `a - x b` of two packed products with their signs, in place of `a`, as a value in two's complement.
pub(super) fn subtract_shifted(
    a: &mut [u64],
    is_a_negative: bool,
    b: &[u64],
    is_b_negative: bool,
    slot: usize,
) {
    if is_a_negative {
        negate(a);
    }
    // A product of two polynomials of m coefficients has 2m - 1: the last slot is empty.
    let b = &b[..b.len() - slot];
    match is_b_negative {
        true => add_assign(&mut a[slot..], b),
        false => sub_assign(&mut a[slot..], b),
    };
}

/// Replaces the slots of a value in two's complement by the coefficients, each in two's complement.
pub(super) fn unpack(value: &mut [u64], slot: usize) {
    let mut carry = 0;
    for place in value.chunks_mut(slot) {
        let overflow = add_assign(place, &[carry]);
        // The slot above was borrowed from by a negative coefficient.
        carry = overflow | sign(place) & 1;
    }
}

/// Reduces unpacked coefficients modulo `y^m + 1` to the first m.
pub(super) fn fold(coefficients: &mut [u64], slot: usize) {
    let half = coefficients.len() / 2;
    let (low, high) = coefficients.split_at_mut(half);
    for (low, high) in low.chunks_mut(slot).zip(high.chunks(slot)) {
        sub_assign(low, high);
    }
}

/// All ones for a negative number in two's complement, otherwise zero.
pub(super) fn sign(number: &[u64]) -> u64 {
    number.last().map_or(0, |limb| ((*limb as i64) >> 63) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(values: &[i64], slot: usize) -> (Vec<u64>, bool) {
        let coefficients: Vec<[u64; 1]> = values.iter().map(|value| [*value as u64]).collect();
        let mut out = vec![0; values.len() * slot];
        let is_negative = pack(coefficients.iter().map(|limbs| &limbs[..]), slot, &mut out);
        (out, is_negative)
    }

    #[test]
    fn products_of_packed_polynomials_are_packed_products() {
        let patterns = [
            [0, 0, 0, 0],
            [1, -1, 1, -1],
            [-1, 0, 0, 0],
            [0, 0, 0, -1],
            [-7, 1 << 40, 0, -(1 << 62)],
            [5, 5, 5, 5],
        ];
        let slot = 3;
        let mul = |a: &[i64; 4], b: &[i64; 4]| {
            let ((a, a_sign), (b, b_sign)) = (packed(a, slot), packed(b, slot));
            (modmill::number::mul(&a, &b).to_vec(), a_sign != b_sign)
        };
        for a in &patterns {
            for b in &patterns {
                for (c, d) in [(a, b), (b, &patterns[4])] {
                    let ((mut value, ab), (other, cd)) = (mul(a, b), mul(c, d));
                    subtract_shifted(&mut value, ab, &other, cd, slot);
                    unpack(&mut value, slot);
                    fold(&mut value, slot);
                    let mut expected = [0i128; 4];
                    for i in 0..4 {
                        for j in 0..4 {
                            let wrap = |place: usize| if place / 4 % 2 == 1 { -1 } else { 1 };
                            expected[(i + j) % 4] += wrap(i + j) * i128::from(a[i]) * i128::from(b[j]);
                            expected[(i + j + 1) % 4] -=
                                wrap(i + j + 1) * i128::from(c[i]) * i128::from(d[j]);
                        }
                    }
                    for (place, expected) in value.chunks(slot).zip(expected) {
                        assert_eq!(place[..2], [expected as u64, (expected >> 64) as u64]);
                        assert_eq!(place[2], (expected >> 127) as u64);
                    }
                }
            }
        }
    }
}
