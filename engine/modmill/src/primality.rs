//! Primality tests: Miller-Rabin rounds and the strong Lucas test for a batch of candidates, and the tests of
//! Lucas and Lehmer and of Pepin.

mod special;

use crate::Engine;
use crate::engine::{check_huge_widths, common_length};
use crate::integers;
use crate::near::OnHost;
use modmill_core::{Batch, Error, Operand, limbs};
use modmill_cpu::lucas::is_strong_probable_prime;
use zeroize::Zeroizing;

pub use modmill_cpu::long::MersenneLike;
pub use special::{is_fermat_prime, is_mersenne_prime, lucas_lehmer, pepin};

/// Whether each candidate passes a Miller-Rabin round to every public base of `bases`. A base is reduced
/// modulo the candidate; a base that reduces to 0, 1 or -1 says nothing and passes.
///
/// The powers are constant-time in the candidates. The time shows how often 2 divides `n - 1`, and
/// whether a candidate was composite.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, primality};
///
/// // 2^61 - 1 is prime; 2047 = 23 * 89 passes the round to base 2 and fails the one to base 3.
/// let candidates = Batch::from_hex(["1fffffffffffffff", "7ff"])?;
/// let engine = Engine::new()?;
/// assert_eq!(primality::is_probable_prime(&engine, &candidates, &[2])?, [true, true]);
/// assert_eq!(primality::is_probable_prime(&engine, &candidates, &[2, 3])?, [true, false]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn is_probable_prime(engine: &Engine, candidates: &Batch, bases: &[u64]) -> Result<Vec<bool>, Error> {
    let mut verdicts = could_be_prime(candidates)?;
    for base in bases {
        let base = Operand::Shared { bits: 64, value: std::slice::from_ref(base) };
        run_rounds(engine, candidates, base, &mut verdicts)?;
    }
    Ok(verdicts)
}

/// Whether each candidate passes one Miller-Rabin round, to its own base or to one base for all. The
/// conventions are those of [`is_probable_prime`].
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, primality};
///
/// let candidates = Batch::from_hex(["7ff", "7ff"])?;
/// let bases = Batch::from_hex(["2", "3"])?;
/// assert_eq!(primality::miller_rabin(&Engine::new()?, &candidates, &bases)?, [true, false]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn miller_rabin<'a>(
    engine: &Engine,
    candidates: &Batch,
    bases: impl Into<Operand<'a>>,
) -> Result<Vec<bool>, Error> {
    let bases = OnHost::of(bases.into())?;
    let bases = bases.operand();
    common_length(&[("candidates", Some(candidates.len())), ("bases", bases.len())])?;
    let mut verdicts = could_be_prime(candidates)?;
    run_rounds(engine, candidates, bases, &mut verdicts)?;
    Ok(verdicts)
}

/// Whether each candidate passes the strong Lucas test with Selfridge's parameters. Squares fail. The time
/// depends on the candidates, so they must be public.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, primality};
///
/// // 5459 = 53 * 103 passes this test, and fails the Miller-Rabin round to base 2; 2047 = 23 * 89 does not.
/// let candidates = Batch::from_hex(["1fffffffffffffff", "1553", "7ff"])?;
/// let engine = Engine::new()?;
/// assert_eq!(primality::strong_lucas(&engine, &candidates)?, [true, true, false]);
/// assert_eq!(primality::is_probable_prime(&engine, &candidates, &[2])?, [true, false, true]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn strong_lucas(engine: &Engine, candidates: &Batch) -> Result<Vec<bool>, Error> {
    let mut verdicts = could_be_prime(candidates)?;
    let squares = integers::is_square(engine, candidates)?;
    let multiplier = engine.multiplier();
    let passed = engine.each_item(candidates.len(), |item| {
        let n = candidates.get(item);
        // 2 is the only even number that could be prime.
        verdicts[item] && !squares[item] && (n[0] & 1 == 0 || is_strong_probable_prime(&multiplier, n))
    })?;
    verdicts.copy_from_slice(&passed);
    Ok(verdicts)
}

/// Whether each candidate passes the test of Baillie, Pomerance, Selfridge and Wagstaff: the Miller-Rabin
/// round to base 2 and the strong Lucas test. No composite number is known that does, and none has at most 64
/// bits. The time depends on the candidates, so they must be public.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, primality};
///
/// let candidates = Batch::from_hex(["1fffffffffffffff", "1553", "7ff"])?;
/// assert_eq!(primality::baillie_psw(&Engine::new()?, &candidates)?, [true, false, false]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn baillie_psw(engine: &Engine, candidates: &Batch) -> Result<Vec<bool>, Error> {
    let mut verdicts = is_probable_prime(engine, candidates, &[2])?;
    let left: Vec<usize> = (0..verdicts.len()).filter(|&item| verdicts[item]).collect();
    let survivors = engine.gather(candidates, &left)?;
    for (item, passed) in left.into_iter().zip(strong_lucas(engine, &survivors)?) {
        verdicts[item] = passed;
    }
    Ok(verdicts)
}

/// Sets the verdict of every candidate that fails a round to `false`.
fn run_rounds(
    engine: &Engine,
    candidates: &Batch,
    bases: Operand<'_>,
    verdicts: &mut [bool],
) -> Result<(), Error> {
    let tested: Vec<usize> =
        (0..candidates.len()).filter(|&item| verdicts[item] && candidates.get(item)[0] & 1 == 1).collect();
    for (item, passed) in tested.iter().zip(round(engine, candidates, &tested, bases)?) {
        verdicts[*item] = passed;
    }
    Ok(())
}

/// One round for odd candidates of at least 3.
fn round(
    engine: &Engine,
    candidates: &Batch,
    tested: &[usize],
    bases: Operand<'_>,
) -> Result<Vec<bool>, Error> {
    if tested.is_empty() {
        return Ok(Vec::new());
    }
    let pick = |shape: &dyn Fn(&[u64], &mut [u64])| {
        let mut batch = Batch::try_zeros(candidates.bits(), tested.len())?;
        for (index, &item) in tested.iter().enumerate() {
            shape(candidates.get(item), batch.get_mut(index));
        }
        Ok::<_, Error>(batch)
    };
    let moduli = pick(&|n, out| out.copy_from_slice(n))?;
    let minus_one = pick(&|n, out| {
        out.copy_from_slice(n);
        out[0] -= 1;
    })?;
    let twos = |n: &[u64]| {
        let mut even = Zeroizing::new(n.to_vec());
        even[0] -= 1;
        limbs::trailing_zeros(&even).unwrap_or(0)
    };
    let odd_exponents = pick(&|n, out| {
        let mut even = Zeroizing::new(n.to_vec());
        even[0] -= 1;
        limbs::shift_right(&even, twos(n), out);
    })?;
    let mut picked = Batch::try_zeros(bases.bits(), if bases.len().is_some() { tested.len() } else { 0 })?;
    for (index, &item) in tested.iter().enumerate().take(picked.len()) {
        picked.get_mut(index).copy_from_slice(bases.limbs(item));
    }
    let base = if picked.is_empty() { bases } else { Operand::from(&picked) };
    let reduced = engine.mul_mod(base, Operand::Shared { bits: 1, value: &[1] }, &moduli)?;
    let mut powers = engine.pow(base, &odd_exponents, &moduli)?;
    let is_one = |value: &[u64]| value[0] == 1 && value[1..].iter().all(|&limb| limb == 0);
    let mut passed: Vec<bool> = (0..tested.len())
        .map(|index| {
            let base = reduced.get(index);
            let trivial = base.iter().all(|&limb| limb == 0) || is_one(base) || base == minus_one.get(index);
            let power = powers.get(index);
            trivial || is_one(power) || power == minus_one.get(index)
        })
        .collect();
    let longest = moduli.iter().map(twos).max().unwrap_or(0);
    for squarings in 1..longest {
        if passed.iter().all(|&passed| passed) {
            break;
        }
        powers = engine.square_mod(&powers, &moduli)?;
        for (index, passed) in passed.iter_mut().enumerate() {
            *passed |= squarings < twos(moduli.get(index)) && powers.get(index) == minus_one.get(index);
        }
    }
    Ok(passed)
}

/// The verdicts before any round: 0, 1 and even numbers other than 2 are not prime; all others may be.
fn could_be_prime(candidates: &Batch) -> Result<Vec<bool>, Error> {
    check_huge_widths(&[("candidate", candidates.bits())])?;
    let verdict = |n: &[u64]| match (limbs::bit_length(n), n.first()) {
        (2, Some(2)) => true,
        (0 | 1, _) => false,
        (_, low) => low.is_some_and(|low| low & 1 == 1),
    };
    Ok(candidates.iter().map(verdict).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_sorted_right() {
        let engine = Engine::new().unwrap();
        let candidates = Batch::from_values((0..2000u64).map(|n| [n]));
        let verdicts = is_probable_prime(&engine, &candidates, &[2, 3, 5, 7]).unwrap();
        for (n, verdict) in verdicts.into_iter().enumerate() {
            let prime = n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(verdict, prime, "{n}");
        }
    }

    #[test]
    fn strong_pseudoprimes_fool_one_base_only() {
        let engine = Engine::new().unwrap();
        // 2047 = 23 * 89 is a strong pseudoprime to base 2, 3215031751 to 2, 3, 5 and 7.
        let candidates = Batch::from_values([[2047u64], [3_215_031_751]]);
        assert_eq!(is_probable_prime(&engine, &candidates, &[2]).unwrap(), [true, true]);
        assert_eq!(is_probable_prime(&engine, &candidates, &[3, 2, 5, 7]).unwrap(), [false, true]);
        assert_eq!(is_probable_prime(&engine, &candidates, &[11]).unwrap(), [true, false]);
    }

    #[test]
    fn every_candidate_may_have_its_own_base() {
        let engine = Engine::new().unwrap();
        let candidates = Batch::from_values([[2047u64], [2047], [8], [2], [7919]]);
        let bases = Batch::from_values([[2u64], [3], [3], [3], [1234]]);
        assert_eq!(miller_rabin(&engine, &candidates, &bases).unwrap(), [true, false, false, true, true]);
        let short = Batch::from_values([[2u64]]);
        assert!(matches!(miller_rabin(&engine, &candidates, &short), Err(Error::LengthMismatch { .. })));
    }
}
