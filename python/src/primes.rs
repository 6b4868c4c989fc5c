//! Primality tests.

use crate::answers::Target;
use crate::answers::{deliver, truth_values};
use crate::arguments::{Call, Options, with_unread};
use crate::checks::whole;
use crate::column::{Column, Form};
use crate::errors::OrRaise;
use modmill::{Batch, Engine, Error, primality};
use modmill_core::limbs;
use modmill_primes::next_primes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Bases that decide every number of at most 64 bits (Sorenson and Webster, 2017: the first twelve primes do
/// so up to 3.1 * 10^23).
const SMALL_BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Whether the numbers are prime, by Miller-Rabin rounds to random bases.
#[pyfunction]
pub(crate) fn is_prime<'py>(
    n: &Bound<'py, PyAny>,
    rounds: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let rounds = whole("rounds", rounds, 0..=u32::MAX as usize)?;
    verdicts_of(n, options, |engine, candidates| test(engine, candidates, rounds))
}

/// The least primes above numbers.
#[pyfunction]
pub(crate) fn next_prime<'py>(n: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (call, [n], _) = Call::of(options, [("n", n)])?;
    let mut numbers = n.batch().or_raise(call.py)?;
    // 2 is the least prime above negative numbers as well.
    n.negative.iter().for_each(|&item| numbers.get_mut(item).fill(0));
    call.answer(&[&n], usize::MAX, |engine| next_primes(engine, &numbers))
}

/// Whether the numbers pass the strong Lucas test with Selfridge's parameters.
#[pyfunction]
pub(crate) fn is_strong_selfridge_prp<'py>(
    n: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    verdicts_of(n, options, primality::strong_lucas)
}

/// Whether the numbers pass the test of Baillie, Pomerance, Selfridge and Wagstaff.
#[pyfunction]
pub(crate) fn is_strong_bpsw_prp<'py>(
    n: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    verdicts_of(n, options, primality::baillie_psw)
}

/// The verdicts of a test. Negative numbers fail.
fn verdicts_of<'py>(
    n: &Bound<'py, PyAny>,
    options: Options<'py>,
    test: impl Fn(&Engine, &Batch) -> Result<Vec<bool>, Error> + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [n], _) = Call::of(options, [("n", n)])?;
    let candidates = n.batch().or_raise(call.py)?;
    let limbs = candidates.stride();
    let steps = n.bits().saturating_mul(limbs * limbs);
    let verdicts = call.run(candidates.len(), steps, |engine| test(engine, &candidates))?;
    deliver_verdicts(&call, &n, verdicts.or_raise(call.py)?)
}

/// Python's objects for the verdicts of numbers. Negative numbers fail.
pub(crate) fn deliver_verdicts<'py>(
    call: &Call<'py>,
    n: &Column,
    mut verdicts: Vec<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    n.negative.iter().for_each(|&item| verdicts[item] = false);
    let failed = with_unread(Vec::new(), &[n]);
    let Target::New(form) = call.target(&[n]) else {
        return Err(PyValueError::new_err("truth values are not written to an array of limbs"));
    };
    let form = if form == Form::Bytes { Form::Int } else { form };
    let object = truth_values(call.py, &verdicts, &failed, form)?;
    deliver(call.py, object, verdicts.len(), failed, form, call.on_failure)
}

/// Whether each candidate passes a round to base 2 and `rounds` rounds to random bases. Numbers of at most 64
/// bits are decided for certain.
fn test(engine: &Engine, candidates: &Batch, rounds: usize) -> Result<Vec<bool>, Error> {
    if candidates.bits() <= 64 {
        return primality::is_probable_prime(engine, candidates, &SMALL_BASES);
    }
    let mut verdicts = primality::is_probable_prime(engine, candidates, &[2])?;
    for _ in 0..rounds {
        let left: Vec<usize> = (0..candidates.len()).filter(|&item| verdicts[item]).collect();
        if left.is_empty() {
            break;
        }
        let mut numbers = Batch::try_zeros(candidates.bits(), left.len())?;
        let mut bases = Batch::try_zeros(candidates.bits(), left.len())?;
        for (place, &item) in left.iter().enumerate() {
            numbers.get_mut(place).copy_from_slice(candidates.get(item));
            random_below(candidates.get(item), bases.get_mut(place))?;
        }
        for (item, passed) in left.into_iter().zip(primality::miller_rabin(engine, &numbers, &bases)?) {
            verdicts[item] = passed;
        }
    }
    Ok(verdicts)
}

/// A random number of as many bits as `n`, less one: at least 2, and below `n - 1`, if `n` is above 8.
fn random_below(n: &[u64], out: &mut [u64]) -> Result<(), Error> {
    let bits = limbs::bit_length(n).saturating_sub(1);
    let mut bytes = vec![0; 8 * out.len()];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unavailable(format!("no random numbers: {error}")))?;
    for (index, (limb, word)) in out.iter_mut().zip(bytes.as_chunks().0).enumerate() {
        let kept = bits.saturating_sub(64 * index).min(64);
        *limb = u64::from_le_bytes(*word) & u64::MAX.checked_shr(64 - kept as u32).unwrap_or(0);
    }
    Ok(())
}
