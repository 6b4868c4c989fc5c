//! Products, squares and Montgomery's reduction of any length, from strips.
#![allow(unsafe_code)]

use super::{passes, strips};
use crate::isa::Adx;

/// The least number of limbs of a block.
pub(super) const LEAST: usize = 4;

/// The width of the next blocks if `left` limbs are left, of which there are at least [`LEAST`], and how many
/// of them follow one another.
const fn blocks(left: usize) -> (usize, usize) {
    match left {
        0..=8 => (left, 1),
        // The rest after it is a block as well.
        9..=11 => (left - LEAST, 1),
        _ => (8, left / 8 - matches!(left % 8, 1..LEAST) as usize),
    }
}

/// The rounds of a strip of W limbs for a streamed factor of `limbs` limbs, and in three bits the steps
/// before.
const fn shape<const W: usize>(limbs: usize) -> usize {
    limbs / W * 8 + limbs % W
}

/// `sum += a b`, for a factor `b` of at least [`LEAST`] limbs. `carry` is one more carry (0 or 1) into the
/// limb `sum[a.len()]`. Returns the carry out of the limbs of the product.
pub(super) fn add(_: Adx, sum: &mut [u64], a: &[u64], b: &[u64], carry: u64) -> u64 {
    assert!(b.len() >= LEAST && sum.len() >= a.len() + b.len());
    let (mut carry, mut done) = (carry, 0);
    while done < b.len() {
        let (width, count) = blocks(b.len() - done);
        // SAFETY: the token proves the instructions. The strips read all of `a` and the limbs of `b` from
        // `done` to `done + width count`, and change as many limbs of `sum` from `done` on as `a` and these
        // limbs of `b` have together; the assertion says that all are there.
        carry = unsafe {
            let (sum, a, limbs, b) = (sum.as_mut_ptr().add(done), a.as_ptr(), a.len(), b.as_ptr().add(done));
            match width {
                4 => strips::add_4(sum, a, shape::<4>(limbs), b, count, carry),
                5 => strips::add_5(sum, a, shape::<5>(limbs), b, count, carry),
                6 => strips::add_6(sum, a, shape::<6>(limbs), b, count, carry),
                7 => strips::add_7(sum, a, shape::<7>(limbs), b, count, carry),
                _ => strips::add_8(sum, a, shape::<8>(limbs), b, count, carry),
            }
        };
        done += width * count;
    }
    carry
}

/// `out <- a b`, for a shorter factor of at least [`LEAST`] limbs. The length of `out` is the sum of the
/// lengths of the factors.
#[inline(always)]
pub(super) fn multiply(token: Adx, a: &[u64], b: &[u64], out: &mut [u64]) {
    assert!(out.len() == a.len() + b.len());
    if a.len() == b.len() && (LEAST..=8).contains(&a.len()) {
        // SAFETY: the token proves the instructions. The functions read as many limbs of both factors as they
        // are named for, and write twice as many; the assertion says that all are there.
        return unsafe {
            let (out, a, b, length) = (out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), a.len());
            match length {
                4 => strips::multiply_4(out, a, b),
                5 => strips::multiply_5(out, a, b),
                6 => strips::multiply_6(out, a, b),
                7 => strips::multiply_7(out, a, b),
                _ => strips::multiply_8(out, a, b),
            }
        };
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    out.fill(0);
    add(token, out, long, short, 0);
}

/// `out <- x^2` for four limbs.
#[inline(always)]
pub(super) fn square_4(_: Adx, x: &[u64], out: &mut [u64]) {
    assert!(x.len() == 4 && out.len() == 8);
    // SAFETY: the token proves the instructions. The function reads four limbs and writes eight; the
    // assertion says that all are there.
    unsafe { passes::square_4(out.as_mut_ptr(), x.as_ptr()) }
}

/// Montgomery's reduction of the 2n limbs of `t` by an odd modulus of n limbs, at least [`LEAST`]: the sum of
/// t and a multiple of the modulus has zeros in its low n limbs, and its high n limbs replace those of t. The
/// low ones hold anything afterwards. Returns the carry (0 or 1) out of the top.
pub(super) fn reduce(_: Adx, t: &mut [u64], modulus: &[u64], negated_inverse: u64) -> u64 {
    let n = modulus.len();
    assert!(n >= LEAST && t.len() == 2 * n);
    let (mut carry, mut done) = (0, 0);
    while done < n {
        let (width, count) = blocks(n - done);
        // SAFETY: the token proves the instructions. The strips read the modulus, and change the n limbs of t
        // from `done` on and `width count` limbs above them, which are at most 2n together.
        carry = unsafe {
            let (t, modulus, rest) = (t.as_mut_ptr().add(done), modulus.as_ptr(), n - width);
            match width {
                4 => strips::reduce_4(t, modulus, shape::<4>(rest), negated_inverse, count, carry),
                5 => strips::reduce_5(t, modulus, shape::<5>(rest), negated_inverse, count, carry),
                6 => strips::reduce_6(t, modulus, shape::<6>(rest), negated_inverse, count, carry),
                7 => strips::reduce_7(t, modulus, shape::<7>(rest), negated_inverse, count, carry),
                _ => strips::reduce_8(t, modulus, shape::<8>(rest), negated_inverse, count, carry),
            }
        };
        done += width * count;
    }
    carry
}

/// `out <- x^2`, for x of at least [`LEAST`] limbs. `out` is twice as long as x.
///
/// Let D be the limbs of 2x, where the bit that is shifted out of a limb goes to the next. Row j of the
/// square is `x_j^2` and twice the products of `x_j` and the limbs below it. These are `x_j` times the j
/// lowest limbs of D, and once more `x_j` if the top bit of `x_(j-1)` is set, because that bit is not among
/// them. So first `x_j^2`, and `x_j` if that bit is set, fill the result without overlap, and then the
/// products of limbs of x and D are added.
pub(super) fn square(_: Adx, x: &[u64], out: &mut [u64]) {
    let n = x.len();
    assert!(n >= LEAST && out.len() == 2 * n);
    // SAFETY: the token proves the instructions, and the assertion says that `out` has room for all squares.
    unsafe { passes::square_limbs(out.as_mut_ptr(), x.as_ptr(), n) };
    let (mut carry, mut done, mut below) = (0, 0, 0);
    while done < n {
        let (width, count) = blocks(n - done);
        // SAFETY: the token proves the instructions. The strips read x from `done` on, and change the limbs
        // of `out` from `2 done` to `n + done + width count`, which is at most 2n.
        carry = unsafe {
            let (out, x, rest) = (out.as_mut_ptr().add(2 * done), x.as_ptr().add(done), n - done - width);
            match width {
                4 => strips::square_4(out, x, shape::<4>(rest), below, count, carry),
                5 => strips::square_5(out, x, shape::<5>(rest), below, count, carry),
                6 => strips::square_6(out, x, shape::<6>(rest), below, count, carry),
                7 => strips::square_7(out, x, shape::<7>(rest), below, count, carry),
                _ => strips::square_8(out, x, shape::<8>(rest), below, count, carry),
            }
        };
        done += width * count;
        below = x[done - 1];
    }
}

/// Whether [`montgomery_multiply`] and [`montgomery_square`] take numbers of n limbs.
pub(super) const fn is_usual(n: usize) -> bool {
    n == 4 || (n > 0 && n.is_multiple_of(8))
}

/// `x <- x y / R` modulo an odd N of n limbs, of a usual number, without detours between the strips.
pub(super) fn montgomery_multiply(
    _: Adx,
    x: &mut [u64],
    y: &[u64],
    space: &mut [u64],
    modulus: &[u64],
    negated_inverse: u64,
) {
    let n = modulus.len();
    assert!(is_usual(n) && x.len() == n && y.len() == n && space.len() >= 2 * n);
    let (x, y, t, modulus) = (x.as_mut_ptr(), y.as_ptr(), space.as_mut_ptr(), modulus.as_ptr());
    // SAFETY: the token proves the instructions. All strips are as in `add` and `reduce`; the assertion says
    // that x, y and N have n limbs and the space has 2n.
    unsafe {
        match n {
            4 => return passes::montgomery_4(x, x, y, modulus, negated_inverse),
            8 => strips::multiply_8(t, x, y),
            _ => {
                t.write_bytes(0, 2 * n);
                strips::add_8(t, x, shape::<8>(n), y, n / 8, 0);
            }
        }
        finish(x, t, modulus, n, negated_inverse);
    }
}

/// `x <- x^2 / R` modulo an odd N of n limbs, of a usual number, without detours between the strips.
pub(super) fn montgomery_square(
    _: Adx,
    x: &mut [u64],
    space: &mut [u64],
    modulus: &[u64],
    negated_inverse: u64,
) {
    let n = modulus.len();
    assert!(is_usual(n) && x.len() == n && space.len() >= 2 * n);
    let (x, t, modulus) = (x.as_mut_ptr(), space.as_mut_ptr(), modulus.as_ptr());
    // SAFETY: as above; the strips of squares are as in `square`.
    unsafe {
        match n {
            4 => return passes::montgomery_4(x, x, x, modulus, negated_inverse),
            8 => strips::multiply_8(t, x, x),
            _ => {
                passes::square_limbs(t, x, n);
                strips::square_8(t, x, shape::<8>(n - 8), 0, n / 8, 0);
            }
        }
        finish(x, t, modulus, n, negated_inverse);
    }
}

/// Reduces the 2n limbs of t to the n limbs of x, for a multiple n of eight.
///
/// # Safety
/// The processor has BMI2 and ADX, and the numbers have these limbs.
#[inline(always)]
unsafe fn finish(x: *mut u64, t: *mut u64, modulus: *const u64, n: usize, negated_inverse: u64) {
    // SAFETY: required of the caller. The strips are as in `reduce`.
    unsafe {
        let carry = strips::reduce_8(t, modulus, shape::<8>(n - 8), negated_inverse, n / 8, 0);
        passes::subtract_bit(t.add(n), modulus, carry, n, x, 0);
    }
}

/// `out <- a - bit b` for a bit (0 or 1) and numbers of equal length. The final borrow is dropped.
pub(super) fn difference(_: Adx, a: &[u64], b: &[u64], bit: u64, out: &mut [u64]) {
    assert!(a.len() == b.len() && a.len() == out.len());
    // SAFETY: the token proves the instructions, and the assertion says that all limbs are there.
    unsafe { passes::subtract_bit(a.as_ptr(), b.as_ptr(), bit, a.len(), out.as_mut_ptr(), 0) };
}

/// A function of [`passes`] for sums or differences.
type Combine = unsafe extern "sysv64" fn(*const u64, *const u64, u64, usize, *mut u64, usize) -> u64;

/// Adds `bit b` to a number or subtracts it, for a bit (0 or 1) and `b` no longer than the number. Returns
/// the carry or borrow.
fn change(_: Adx, function: Combine, number: &mut [u64], b: &[u64], bit: u64) -> u64 {
    let rest = number.len().checked_sub(b.len()).expect("b is no longer than the number");
    let number = number.as_mut_ptr();
    // SAFETY: the token proves the instructions. The functions read `b`, and change as many limbs and `rest`
    // more, which the number has. It may be `out` as well, because a limb is read before it is written.
    unsafe { function(number, b.as_ptr(), bit, b.len(), number, rest) }
}

/// `sum += b`, where `b` is no longer than the sum. Returns the carry.
pub(super) fn add_assign(token: Adx, sum: &mut [u64], b: &[u64]) -> u64 {
    change(token, passes::add, sum, b, 1)
}

/// `from -= b`, where `b` is no longer than what it is subtracted from. Returns the borrow.
pub(super) fn sub_assign(token: Adx, from: &mut [u64], b: &[u64]) -> u64 {
    change(token, passes::subtract, from, b, 1)
}

/// `sum += bit b` for a bit (0 or 1), where `b` is no longer than the sum. Returns the carry.
pub(super) fn add_bit(token: Adx, sum: &mut [u64], b: &[u64], bit: u64) -> u64 {
    change(token, passes::add_bit, sum, b, bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portable::Portable;
    use crate::scalar::Scalar;
    use crate::test_support::Random;
    use modmill_core::limbs::{self, inverse_of_odd};

    /// Numbers with long carry chains, and random ones.
    fn hard(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
        let mut top = vec![0; count];
        top[count - 1] = 1 << 63;
        let runs = (0..count).map(|_| (random.word() & 1).wrapping_neg()).collect();
        vec![vec![0; count], vec![u64::MAX; count], top, runs, random.limbs(count), random.limbs(count)]
    }

    #[test]
    fn blocks_fill_every_length() {
        for length in LEAST..200 {
            let mut left = length;
            while left > 0 {
                let (width, count) = blocks(left);
                assert!((LEAST..=8).contains(&width) && count > 0, "{length}");
                left -= width * count;
            }
        }
    }

    #[test]
    fn sums_of_products_at_every_length() {
        let Some(token) = crate::isa::detect_adx() else { return };
        let mut random = Random::new(21);
        for b_len in LEAST..=36 {
            for a_len in (1..=40).chain([64, 65, 70]) {
                let (a, b) = (random.limbs(a_len), vec![u64::MAX; b_len]);
                for a in [a, vec![u64::MAX; a_len]] {
                    let mut sum = random.limbs(a_len + b_len + 1);
                    sum[..a_len].fill(u64::MAX);
                    let mut expected = sum.clone();
                    let mut product = vec![0; a_len + b_len];
                    Portable.multiply(&a, &b, &mut product);
                    let top = expected.pop();
                    let carry = limbs::add_assign(&mut expected, &product);
                    let more = limbs::add_assign(&mut expected[a_len..], &[1]);
                    expected.extend(top);
                    assert_eq!(add(token, &mut sum, &a, &b, 1), carry + more, "{a_len} by {b_len}");
                    assert_eq!(sum, expected, "{a_len} by {b_len}");
                }
            }
        }
    }

    #[test]
    fn squares_and_reductions_agree_with_portable_code() {
        let Some(token) = crate::isa::detect_adx() else { return };
        let mut random = Random::new(22);
        for n in 1..=72 {
            let (mut expected, mut found) = (vec![1; 2 * n], vec![2; 2 * n]);
            for x in hard(n, &mut random) {
                Portable.square(&x, &mut expected);
                token.square(&x, &mut found);
                assert_eq!(found, expected, "{x:x?}");
                if n >= LEAST {
                    square(token, &x, &mut found);
                    assert_eq!(found, expected, "{x:x?}");
                }
                for y in hard(n, &mut random) {
                    Portable.multiply(&x, &y, &mut expected);
                    token.multiply(&x, &y, &mut found);
                    assert_eq!(found, expected, "{x:x?} {y:x?}");
                }
                for mut modulus in hard(n, &mut random) {
                    modulus[0] |= 1;
                    let negated_inverse = inverse_of_odd(modulus[0]).wrapping_neg();
                    for t in [[&x[..], &x[..]].concat(), vec![u64::MAX; 2 * n], random.limbs(2 * n)] {
                        let (mut expected, mut found) = (vec![1; n], vec![2; n]);
                        Portable.reduce(&mut t.clone(), &modulus, negated_inverse, &mut expected);
                        token.reduce(&mut t.clone(), &modulus, negated_inverse, &mut found);
                        assert_eq!(found, expected, "{t:x?} {modulus:x?}");
                    }
                }
            }
        }
    }

    #[test]
    fn limbs_beside_the_result_stay_as_they_are() {
        let Some(token) = crate::isa::detect_adx() else { return };
        let mut random = Random::new(23);
        for n in LEAST..=40 {
            let x = random.limbs(n);
            for is_square in [true, false] {
                let mut memory = vec![0x5a; 2 * n + 16];
                let out = &mut memory[8..2 * n + 8];
                match is_square {
                    true => square(token, &x, out),
                    false => _ = reduce(token, out, &x, 1),
                }
                assert_eq!((&memory[..8], &memory[2 * n + 8..]), (&[0x5a; 8][..], &[0x5a; 8][..]), "{n}");
            }
            let mut memory = vec![0x5a; n + 16];
            difference(token, &x, &x, 1, &mut memory[8..n + 8]);
            assert_eq!((&memory[..8], &memory[n + 8..]), (&[0x5a; 8][..], &[0x5a; 8][..]), "{n}");
            assert_eq!(memory[8..n + 8], vec![0; n]);
        }
    }

    #[test]
    fn montgomery_products_of_usual_lengths_agree_with_portable_code() {
        let Some(token) = crate::isa::detect_adx() else { return };
        let mut random = Random::new(25);
        for n in (1..=72).filter(|&n| is_usual(n)) {
            let mut space = vec![1; 2 * n];
            for x in hard(n, &mut random) {
                for y in hard(n, &mut random) {
                    for mut modulus in hard(n, &mut random) {
                        modulus[0] |= 1;
                        let inverse = inverse_of_odd(modulus[0]).wrapping_neg();
                        let (mut found, mut expected) = (x.clone(), x.clone());
                        montgomery_multiply(token, &mut found, &y, &mut space, &modulus, inverse);
                        Portable.montgomery_multiply(&mut expected, &y, &mut space, &modulus, inverse);
                        assert_eq!(found, expected, "{x:x?} {y:x?} {modulus:x?}");
                        montgomery_square(token, &mut found, &mut space, &modulus, inverse);
                        Portable.montgomery_square(&mut expected, &mut space, &modulus, inverse);
                        assert_eq!(found, expected, "{x:x?} {y:x?} {modulus:x?}");
                    }
                }
            }
        }
    }

    #[test]
    fn sums_and_differences_agree_with_portable_code() {
        let Some(token) = crate::isa::detect_adx() else { return };
        let mut random = Random::new(24);
        for n in 1..=24 {
            for length in 0..=n {
                for number in hard(n, &mut random) {
                    for b in hard(length.max(1), &mut random) {
                        let b = &b[..length];
                        for bit in 0..=1 {
                            let (mut found, mut expected) = (number.clone(), number.clone());
                            let carry = add_bit(token, &mut found, b, bit);
                            assert_eq!(carry, Portable.add_bit(&mut expected, b, bit), "{n} and {length}");
                            assert_eq!(found, expected, "{n} and {length}");
                        }
                        let (mut found, mut expected) = (number.clone(), number.clone());
                        assert_eq!(add_assign(token, &mut found, b), limbs::add_assign(&mut expected, b));
                        assert_eq!(found, expected, "{n} and {length}");
                        assert_eq!(sub_assign(token, &mut found, b), limbs::sub_assign(&mut expected, b));
                        assert_eq!(found, expected, "{n} and {length}");
                    }
                }
            }
        }
    }
}
