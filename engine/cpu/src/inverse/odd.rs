//! Inverses modulo odd numbers by the division steps of Bernstein and Yang.

use super::divsteps::{BATCH, batch, division_steps};
use super::signed::{from_limbs, low_word, negate_and_add, sign, to_limbs, update, update_modulo};
use crate::domain::{Domain, Workspace};
use crate::portable::Portable;
use crate::portable::row::Row;
use crate::power_of_two::Residue;
use modmill_core::limbs::inverse_of_odd;
use zeroize::Zeroizing;

/// `a^-1 mod n` for an odd n without leading zero limbs, or `None` if a and n share a factor. The time
/// depends on the lengths and on whether the inverse exists.
pub(super) fn invert(a: &[u64], n: &[u64]) -> Option<Residue> {
    if n == [1] {
        return Some(Zeroizing::new(vec![0]));
    }
    let bits = 64 * n.len();
    let modulus = from_limbs(n, bits);
    let inverse = inverse_of_odd(n[0]) as i64;
    // The loop invariant is f = a d and g = a e modulo n.
    let mut f = modulus.clone();
    let mut g = from_limbs(&shortened(a, n), bits);
    // An even g is replaced by g + n, which is odd and below 2^(bits + 1).
    let even = (g[0] & 1) - 1;
    negate_and_add(&mut g, 0, &modulus, even);
    let mut d = from_limbs(&[0], bits);
    let mut e = from_limbs(&[1], bits);
    let mut zeta = -1;
    for _ in 0..division_steps(bits + 1).div_ceil(BATCH as usize) {
        let step = batch(&mut zeta, low_word(&f), low_word(&g));
        update(&mut f, &mut g, step);
        update_modulo(&mut d, &mut e, step, &modulus, inverse);
    }
    // Now f is the greatest common divisor or its negative, and a d = f.
    let negative = sign(&f);
    negate_and_add(&mut f, negative, &modulus, 0);
    let others = f[1..].iter().fold(f[0] ^ 1, |all, digit| all | digit);
    if others != 0 {
        return None;
    }
    // d lies between -2N and N. It is brought between -N and N, negated if f is negative, and then made
    // non-negative.
    let below = sign(&d);
    negate_and_add(&mut d, 0, &modulus, below);
    negate_and_add(&mut d, negative, &modulus, 0);
    let below = sign(&d);
    negate_and_add(&mut d, 0, &modulus, below);
    Some(to_limbs(&d, n.len()))
}

/// A number congruent to a modulo n that has at most as many limbs as n.
fn shortened(a: &[u64], n: &[u64]) -> Residue {
    if a.len() <= n.len() {
        return Zeroizing::new(a.to_vec());
    }
    let bits = 64 * n.len();
    let domain = Domain::<Row>::new(Portable, bits, &[n]);
    let mut work = Workspace::new::<Row>(bits);
    let mut x = Zeroizing::new(vec![0; n.len()]);
    domain.enter(&[a], 64 * a.len(), &mut x, &mut work);
    domain.leave(&mut x, &mut work);
    x
}
