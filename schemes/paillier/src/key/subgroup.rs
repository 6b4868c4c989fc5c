//! Keys whose masks lie in a small subgroup: Ma, Han, Lei, "Optimized Paillier's cryptosystem with fast
//! encryption and decryption", ACSAC 2021.
//!
//! The primes are `p = 2 u s + 1` and `q = 2 v t + 1` for short primes u and v and odd s and t. The base is
//! `h = -y^(2 s t) mod n` for a random y. Modulo p the group of units has the order `2 u s`, so that
//! `y^(2 s t)` has an order that divides u, and h one that divides `2 u`; modulo q the same holds for `2 v`.
//! So a mask `(h^n)^a` to the power `2 u` is 1 modulo `p^2`, and decryption takes exponents of the length of
//! u instead of that of p.

use super::PrivateKey;
use super::base::{ShortBase, base_of, random_below, subgroup_exponent_bits};
use super::pair::pair;
use crate::Error;
use crate::rows::{halved, shared};
use modmill::number::{self, Number};
use modmill::{Engine, Modulus};
use modmill_primes::{find, find_drawn, random};

/// A prime `2 u s + 1` with its u.
struct Found {
    prime: Number,
    order: Number,
}

/// Generates a key of `bits` bits, which is even.
pub(super) fn generate(engine: &Engine, bits: usize) -> Result<PrivateKey, Error> {
    let exponent_bits = subgroup_exponent_bits(bits);
    let [p, q] = pair(|| find_primes(engine, bits / 2, exponent_bits / 2), |found| &found.prime)?;
    let n = {
        let mut n = number::mul(&p.prime, &q.prime);
        number::truncate(&mut n);
        n
    };
    let cofactors = number::mul(&cofactor(&p), &cofactor(&q));
    let mut exponent = Number::new(vec![0; cofactors.len() + 1]);
    number::shift_left(&cofactors, 1, &mut exponent);
    let y = random_below(&n)?;
    let power = engine.pow(shared(&y), shared(&exponent), &Modulus::new(&n)?)?;
    let hs = base_of(engine, &n, power.get(0))?;
    let base = ShortBase { hs, exponent_bits: Some(exponent_bits) };
    Ok(PrivateKey::of_numbers(&p.prime, &q.prime, Some(base), Some([p.order, q.order]))?)
}

/// Primes of `bits` bits that are 3 modulo 4 and have the same prime u of `order_bits` bits in `p - 1`; there
/// may be none.
fn find_primes(engine: &Engine, bits: usize, order_bits: usize) -> Result<Vec<Found>, modmill::Error> {
    let Some(order) = find(engine, order_bits, |_| true)?.pop() else { return Ok(Vec::new()) };
    let draw = || {
        // 2 u s + 1 has at most one bit more than `bits` for an s of this length.
        let mut cofactor = random::number(bits - order_bits)?;
        cofactor[0] |= 1;
        let product = number::mul(&order, &cofactor);
        let mut candidate = Number::new(vec![0; product.len() + 1]);
        number::shift_left(&product, 1, &mut candidate);
        candidate[0] |= 1;
        // One that is too long becomes zero, which is drawn again.
        let mut fitting = Number::new(vec![0; bits.div_ceil(64)]);
        if number::bit_length(&candidate) == bits {
            fitting.copy_from_slice(&candidate[..bits.div_ceil(64)]);
        }
        Ok(fitting)
    };
    // Two primes of a key must not share their u. One prime is enough: the next call draws another u.
    let primes = find_drawn(engine, bits, draw, |candidate| candidate[0] & 3 == 3)?;
    Ok(primes.into_iter().take(1).map(|prime| Found { prime, order: order.clone() }).collect())
}

/// `(p - 1) / (2 u)`: the division is exact, and is a product by the inverse of u modulo a power of two.
fn cofactor(found: &Found) -> Number {
    let half = halved(&found.prime);
    let mut power_of_two = vec![0; half.len() + 1];
    power_of_two[half.len()] = 1;
    // u is odd, and so has an inverse.
    let inverse = number::inv(&found.order, &power_of_two).unwrap_or_default();
    let mut cofactor = number::mul(&half, &inverse);
    cofactor.truncate(half.len());
    number::truncate(&mut cofactor);
    cofactor
}
