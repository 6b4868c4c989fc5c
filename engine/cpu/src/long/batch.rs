//! Batches of long numbers. Items share the threads, and the remaining threads share an item.

use super::memory::clear_at_end;
use super::modular::PreparedModulus;
use super::multiplier::{Multiplier, PreparedFactor};
use crate::fft::memory::prefer_large_pages;
use crate::team::Workers;
use crate::threads::Share;
use modmill_core::{Batch, Error, Job, Moduli, Modulus, Operand};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Computes a job item by item, on the threads of `workers`. `is_power` says whether an item is a power,
/// which takes many products.
pub(crate) fn run(
    workers: &Workers,
    multiplier: Multiplier,
    is_power: bool,
    job: &Job<'_>,
    compute: impl Fn(&PreparedModulus, usize) -> Zeroizing<Vec<u64>> + Sync,
) -> Result<Batch, Error> {
    let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
    let stride = answers.stride();
    let kept =
        |modulus: &Modulus| modulus.constants(|modulus| PreparedModulus::new(multiplier, modulus.value()));
    let lead = |compute: &dyn Fn() -> Zeroizing<Vec<u64>>| {
        led(workers, job.items.len(), is_power || job.bits >= TEAM_BITS, || clear_at_end(compute))
    };
    workers.install(|| {
        answers.as_limbs_mut().par_chunks_mut(stride).enumerate().each(|(place, out)| {
            let item = job.items.get(place);
            let answer = lead(&|| match job.moduli {
                Moduli::Shared(modulus) => compute(&kept(modulus), item),
                Moduli::Prepared(moduli) => compute(&kept(moduli[item]), item),
                Moduli::Each(_) | Moduli::Resident(_) => {
                    compute(&PreparedModulus::new(multiplier, job.moduli.get(item)), item)
                }
            });
            out[..answer.len()].copy_from_slice(&answer);
        });
    });
    Ok(answers)
}

/// Full products `a b`. A factor that all items share is transformed once.
pub(crate) fn products(
    workers: &Workers,
    multiplier: Multiplier,
    a: Operand<'_>,
    b: Operand<'_>,
    count: usize,
) -> Result<Batch, Error> {
    let (each, shared) = match (a, b) {
        (Operand::Shared { .. }, Operand::Each(_)) => (b, Some(a)),
        (Operand::Each(_), Operand::Shared { .. }) => (a, Some(b)),
        _ => (a, None),
    };
    let prepare = |shared: Operand<'_>| {
        workers.install(|| multiplier.prepare(shared.limbs(0), each.bits().div_ceil(64)))
    };
    if let Some(shared) = shared.filter(|_| count > 1) {
        return products_prepared(workers, multiplier, each, (&prepare(shared), shared.bits()), count);
    }
    let limbs = |item| a.limbs(item).len() + b.limbs(item).len();
    each_item(workers, a.bits() + b.bits(), count, limbs, |item, out| {
        multiplier.multiply(a.limbs(item), b.limbs(item), out);
    })
}

/// Full products `a b` with a factor of `bits` bits that this multiplier prepared.
pub(crate) fn products_prepared(
    workers: &Workers,
    multiplier: Multiplier,
    a: Operand<'_>,
    (b, bits): (&PreparedFactor, usize),
    count: usize,
) -> Result<Batch, Error> {
    each_item(
        workers,
        a.bits() + bits,
        count,
        |item| a.limbs(item).len() + b.limbs(),
        |item, out| {
            multiplier.multiply_prepared(a.limbs(item), b, out);
        },
    )
}

/// Full squares `a^2`.
pub(crate) fn squares(
    workers: &Workers,
    multiplier: Multiplier,
    a: Operand<'_>,
    count: usize,
) -> Result<Batch, Error> {
    let limbs = |item| 2 * a.limbs(item).len();
    each_item(workers, 2 * a.bits(), count, limbs, |item, out| multiplier.square(a.limbs(item), out))
}

/// Bits of a number from which a team shares a single product. Shorter products are done before a thread
/// wakes up; measured.
pub(super) const TEAM_BITS: usize = 1 << 19;

/// Runs `compute` for one of `count` items. A team of threads shares the item if there are more threads than
/// items and the item takes long enough.
pub(super) fn led<T>(workers: &Workers, count: usize, is_long: bool, compute: impl FnOnce() -> T) -> T {
    if is_long && count < workers.count() { workers.team.lead(compute) } else { compute() }
}

/// Computes `count` answers of `bits` bits, with bits at least 1. `limbs` is the number of limbs that an item
/// needs. Excess top limbs are zero and are dropped; missing top limbs are filled with zeros.
fn each_item(
    workers: &Workers,
    bits: usize,
    count: usize,
    limbs: impl Fn(usize) -> usize + Sync,
    compute: impl Fn(usize, &mut [u64]) + Sync,
) -> Result<Batch, Error> {
    let mut answers = Batch::try_zeros(bits, count)?;
    let stride = answers.stride();
    prefer_large_pages(answers.as_limbs_mut());
    let compute =
        |item: usize, out: &mut [u64]| led(workers, count, bits >= 2 * TEAM_BITS, || compute(item, out));
    workers.install(|| {
        answers.as_limbs_mut().par_chunks_mut(stride).enumerate().each(|(item, out)| {
            if limbs(item) == stride {
                return compute(item, out);
            }
            let mut own = Zeroizing::new(vec![0; limbs(item)]);
            compute(item, &mut own);
            let copied = stride.min(own.len());
            out[..copied].copy_from_slice(&own[..copied]);
        });
    });
    Ok(answers)
}
