//! Random numbers by the system's generator.

use crate::Engine;
use modmill_core::{Batch, Error, Modulus, limbs};
use modmill_cpu::threads::Share;
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Limbs that one thread draws at least.
const GRAIN: usize = 1 << 12;

/// `count` numbers below `bound`, each with the same probability, from the generator of the operating
/// system. They are as wide as `bound`.
///
/// Numbers of the length of `bound` are drawn until one is below it, twice on average at worst. The time
/// tells how many were drawn, and nothing about those that are returned.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, Modulus, random};
///
/// let numbers = random::below(&Engine::new()?, &Modulus::from_hex("65")?, 1000)?;
/// assert!(numbers.len() == 1000 && numbers.iter().all(|number| number[0] < 0x65));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn below(engine: &Engine, bound: &Modulus, count: usize) -> Result<Batch, Error> {
    draw(engine, bound.bits(), count, |number| is_below(number, bound.value()))
}

/// `count` numbers from 1 to `bound - 1`, drawn as [`below`] draws them. `bound` is at
/// least 2.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, Error, Modulus, random};
///
/// let engine = Engine::new()?;
/// let numbers = random::nonzero_below(&engine, &Modulus::from_hex("2")?, 10)?;
/// assert!(numbers.iter().all(|number| number == [1]));
/// let none = random::nonzero_below(&engine, &Modulus::from_hex("1")?, 10);
/// assert!(matches!(none, Err(Error::OutOfRange { .. })));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn nonzero_below(engine: &Engine, bound: &Modulus, count: usize) -> Result<Batch, Error> {
    if bound.bits() < 2 {
        return Err(Error::OutOfRange { what: "the bound", value: 1, least: 2, most: usize::MAX });
    }
    draw(engine, bound.bits(), count, |number| {
        number.iter().fold(0, |bits, limb| bits | limb) != 0 && is_below(number, bound.value())
    })
}

/// `count` numbers below `2^bits`, each with the same probability, from the generator of the operating
/// system.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, random};
///
/// let exponents = random::bits(&Engine::new()?, 70, 3)?;
/// assert_eq!((exponents.bits(), exponents.len()), (70, 3));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn bits(engine: &Engine, bits: usize, count: usize) -> Result<Batch, Error> {
    draw(engine, bits, count, |_| true)
}

/// `count` numbers of `bits` bits that `is_wanted` accepts, on all threads.
fn draw(
    engine: &Engine,
    bits: usize,
    count: usize,
    is_wanted: impl Fn(&[u64]) -> bool + Sync,
) -> Result<Batch, Error> {
    let mut numbers = Batch::try_zeros(bits, count)?;
    let stride = numbers.stride();
    if stride == 0 {
        return Ok(numbers);
    }
    let draw = |part: &mut [u64]| -> Result<(), Error> {
        fill(part, bits)?;
        for number in part.chunks_exact_mut(stride) {
            while !is_wanted(number) {
                fill(number, bits)?;
            }
        }
        Ok(())
    };
    let grain = GRAIN.div_ceil(stride) * stride;
    let limbs = numbers.as_limbs_mut();
    engine.cpu().install_if(limbs.len() > grain, || limbs.par_chunks_mut(grain).try_each(draw))?;
    Ok(numbers)
}

/// Overwrites whole numbers of `bits` bits with random bits.
fn fill(numbers: &mut [u64], bits: usize) -> Result<(), Error> {
    let mut octets = Zeroizing::new(vec![0; 8 * numbers.len()]);
    getrandom::fill(&mut octets).map_err(|error| Error::Random(error.to_string()))?;
    let (words, _) = octets.as_chunks::<8>();
    numbers.iter_mut().zip(words).for_each(|(limb, &octets)| *limb = u64::from_le_bytes(octets));
    let unused = (64 - bits % 64) % 64;
    for number in numbers.chunks_exact_mut(bits.div_ceil(64)) {
        number.last_mut().into_iter().for_each(|top| *top &= u64::MAX >> unused);
    }
    Ok(())
}

/// Whether a number is below a bound with as many limbs. All limbs are looked at.
fn is_below(number: &[u64], bound: &[u64]) -> bool {
    number.iter().zip(bound).fold(false, |borrow, (&a, &b)| limbs::sub_borrowing(a, b, borrow).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    #[test]
    fn every_number_below_a_bound_is_drawn() {
        let engine = Engine::builder().threads(2).build().unwrap();
        for bound in [1u64, 2, 3, 64, 65, 100] {
            let modulus = Modulus::new(&[bound]).unwrap();
            let mut seen = vec![0; bound as usize];
            let numbers = below(&engine, &modulus, 100 * bound as usize).unwrap();
            numbers.iter().for_each(|number| seen[number[0] as usize] += 1);
            // A hundred are expected of each, give or take ten.
            assert!(seen.iter().all(|&count| count > 20), "{bound}: {seen:?}");
            if bound > 1 {
                let numbers = nonzero_below(&engine, &modulus, 100 * bound as usize).unwrap();
                assert!(numbers.iter().all(|number| (1..bound).contains(&number[0])));
            }
        }
    }

    #[test]
    fn numbers_reach_their_length_on_all_threads() {
        let engine = Engine::builder().threads(2).build().unwrap();
        for width in [1, 63, 64, 65, 521] {
            let numbers = bits(&engine, width, 20_000).unwrap();
            let longest = numbers.iter().map(limbs::bit_length).max();
            assert_eq!((numbers.bits(), longest), (width, Some(width)));
            let mut bound = vec![0; width.div_ceil(64)];
            *bound.last_mut().unwrap() = 1 << ((width - 1) % 64);
            // The bound is a power of two, so that half of the numbers are drawn again.
            let below = below(&engine, &Modulus::new(&bound).unwrap(), 20_000).unwrap();
            assert!(below.iter().all(|number| limbs::bit_length(number) < width));
        }
        assert!(bits(&engine, 0, 3).unwrap().as_limbs().is_empty());
        assert!(bits(&engine, 64, 0).unwrap().is_empty());
    }
}
