//! Bases of short exponents: making and checking them.

use crate::rows::{is_one, shared};
use crate::{Error, KeyError};
use modmill::number::{self, Number};
use modmill::{Engine, Modulus, Public};
use modmill_primes::random;

/// A base of short exponents with the length of these exponents in bits, which is half the length of n if it
/// is not given.
pub(crate) struct ShortBase {
    pub(crate) hs: Number,
    pub(crate) exponent_bits: Option<usize>,
}

/// `hs = h^n mod n^2` for `h = -y^2 mod n` and a random y.
pub(super) fn random_base(engine: &Engine, n: &[u64]) -> Result<Number, Error> {
    let mut n = Number::new(n.to_vec());
    number::truncate(&mut n);
    let y = random_below(&n)?;
    base_of(engine, &n, &number::mul_mod(&y, &y, &n))
}

/// A random number below n.
pub(super) fn random_below(n: &[u64]) -> Result<Number, modmill::Error> {
    // The remainder of a number that is 64 bits longer than n is within 2^-64 of uniform.
    let number = random::number(number::bit_length(n) + 64)?;
    Ok(number::remainder(&number, n))
}

/// `hs = (-x)^n mod n^2` for an x below n, whose last limb is not zero.
pub(super) fn base_of(engine: &Engine, n: &[u64], x: &[u64]) -> Result<Number, Error> {
    let mut h = Number::new(n.to_vec());
    number::sub_assign(&mut h, x);
    let modulus = Modulus::new(&number::mul(n, n))?;
    let power = engine.pow(shared(&h), Public(shared(n)), &modulus)?;
    Ok(Number::new(power.get(0).to_vec()))
}

/// A base is from 2 to `n^2 - 1`, coprime to n, and not 1 or -1 modulo n. Powers of such a number are
/// `±(1 + k n)`, from which anyone reads the plaintext or a multiple of the exponent.
pub(super) fn check_short_base(base: &[u64], modulus: &Modulus, square: &Modulus) -> Result<(), KeyError> {
    let mut difference = Number::new(square.value().to_vec());
    let fits = number::bit_length(base) <= square.bits() && number::sub_assign(&mut difference, base) == 0;
    if !fits || number::bit_length(base) < 2 || number::bit_length(&difference) == 0 {
        return Err(KeyError::Inconsistent("hs is not from 2 to n^2 - 1"));
    }
    let reduced = number::remainder(base, modulus.value());
    if is_one(&reduced) || number::equal(&reduced, &number::minus_one(modulus.value())) {
        return Err(KeyError::Inconsistent("hs is 1 or -1 modulo n, and masks nothing"));
    }
    match number::inv(&reduced, modulus.value()) {
        Some(_) => Ok(()),
        None => Err(KeyError::Inconsistent("hs shares a factor with n")),
    }
}

/// The length of the exponents of Damgård, Jurik and Nielsen for an n of `bits` bits.
pub(super) fn half_bits(bits: usize) -> usize {
    bits.div_ceil(2)
}

/// Exponents are at least as long as those of a subgroup, and not longer than n.
pub(super) fn check_exponent_bits(exponent_bits: usize, bits: usize) -> Result<(), KeyError> {
    match (subgroup_exponent_bits(bits)..=bits).contains(&exponent_bits) {
        true => Ok(()),
        false => Err(KeyError::Inconsistent("the exponents of hs are too short for n, or longer than n")),
    }
}

/// The length of the exponents of a small subgroup for an n of `bits` bits: four times the strength of n in
/// bits, so that finding u or v by collisions takes as long as factoring n. The lengths for 2048, 3072 and
/// 7680 bits are those of Ma, Han and Lei; the others are for strengths of 80, 160 and 208 bits, which are
/// not below those of n.
pub(super) fn subgroup_exponent_bits(bits: usize) -> usize {
    match bits {
        ..=1024 => 320,
        1025..=2048 => 448,
        2049..=3072 => 512,
        3073..=4096 => 640,
        4097..=7680 => 768,
        _ => 832,
    }
}
