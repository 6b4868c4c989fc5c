//! The primality tests of Lucas and Lehmer for `2^q - 1` and of Pepin for `2^(2^m) + 1`, and their sequences.

use crate::Engine;
use modmill_core::limbs::{add_assign, sub_assign};
use modmill_core::{Error, TRANSFORM_MAX_BITS};
use modmill_cpu::long::{MersenneLike, MersenneRing};

/// The Lucas-Lehmer sequence modulo `2^q - 1` for q from 3 to [`TRANSFORM_MAX_BITS`]: it starts at 4 and
/// takes `steps` steps `x <- x^2 - 2`. `progress` is called after each step. The numbers are public.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, primality};
///
/// // Modulo 2^5 - 1 = 31: 4, 14, 8, 0.
/// let engine = Engine::new()?;
/// assert_eq!(primality::lucas_lehmer(&engine, 5, 2, || {})?, [8]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn lucas_lehmer(
    engine: &Engine,
    q: usize,
    steps: usize,
    progress: impl FnMut() + Send,
) -> Result<Vec<u64>, Error> {
    check_range("q", q, 3, TRANSFORM_MAX_BITS)?;
    let modulus = MersenneLike::minus_one(q)?;
    let last = sequence(engine, modulus, 4, steps, progress, move |x| {
        // Minus 2 is plus N - 2.
        let mut minus_two = modulus.value();
        sub_assign(&mut minus_two, &[2]);
        x.push(0);
        add_assign(x, &minus_two);
        *x = modulus.reduce(x);
    });
    Ok(last)
}

/// Pepin's sequence modulo `2^(2^m) + 1` for m from 1 to 33: it starts at 3 and takes `steps` steps
/// `x <- x^2`. `progress` is called after each step.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, primality};
///
/// // Modulo 2^(2^3) + 1 = 257: 3, 9, 81.
/// assert_eq!(primality::pepin(&Engine::new()?, 3, 2, || {})?, [81]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn pepin(
    engine: &Engine,
    m: u32,
    steps: usize,
    progress: impl FnMut() + Send,
) -> Result<Vec<u64>, Error> {
    Ok(sequence(engine, fermat(m)?, 3, steps, progress, |_| {}))
}

/// Whether `2^q - 1` is prime, for a prime q from 3 to [`TRANSFORM_MAX_BITS`].
///
/// # Examples
///
/// ```
/// use modmill::{Engine, primality};
///
/// let engine = Engine::new()?;
/// assert!(primality::is_mersenne_prime(&engine, 127, || {})?);
/// assert!(!primality::is_mersenne_prime(&engine, 131, || {})?);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn is_mersenne_prime(engine: &Engine, q: usize, progress: impl FnMut() + Send) -> Result<bool, Error> {
    let last = lucas_lehmer(engine, q, q.saturating_sub(2), progress)?;
    Ok(last.iter().all(|&limb| limb == 0))
}

/// Whether `2^(2^m) + 1` is prime, for m from 1 to 33. It is if and only if 3 is not a square modulo it.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, primality};
///
/// let engine = Engine::new()?;
/// assert!(primality::is_fermat_prime(&engine, 4, || {})?); // 65537
/// assert!(!primality::is_fermat_prime(&engine, 5, || {})?); // 641 * 6700417
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn is_fermat_prime(engine: &Engine, m: u32, progress: impl FnMut() + Send) -> Result<bool, Error> {
    let number = fermat(m)?;
    let mut x = pepin(engine, m, (1 << m) - 1, progress)?;
    add_assign(&mut x, &[1]);
    Ok(x == number.value())
}

fn sequence(
    engine: &Engine,
    modulus: MersenneLike,
    start: u64,
    steps: usize,
    mut progress: impl FnMut() + Send,
    adjust: impl Fn(&mut Vec<u64>) + Sync,
) -> Vec<u64> {
    let ring = MersenneRing::new(modulus, engine.multiplier());
    engine.install(|| {
        let mut x = modulus.reduce(&[start]);
        for _ in 0..steps {
            x = ring.square_of(&x);
            adjust(&mut x);
            progress();
        }
        x
    })
}

/// `2^(2^m) + 1`, or an error if m is out of range.
fn fermat(m: u32) -> Result<MersenneLike, Error> {
    check_range("m", m as usize, 1, TRANSFORM_MAX_BITS.ilog2() as usize - 1)?;
    MersenneLike::plus_one(1 << m)
}

fn check_range(what: &'static str, value: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Error::OutOfRange { what, value, least, most }) }
}
