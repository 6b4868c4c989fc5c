//! Batches of long numbers: several items share the threads, and what threads are left share an item.

use super::{Modular, Multiplier, Prepared};
use crate::backend::Cpu;
use modmill_core::{Batch, Job, Moduli, Modulus, Operand};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Computes a job item by item.
pub(crate) fn run(
    cpu: &Cpu,
    multiplier: Multiplier,
    job: &Job<'_>,
    compute: impl Fn(&Modular, usize) -> Zeroizing<Vec<u64>> + Sync,
) -> Batch {
    let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
    let stride = answers.stride();
    let kept = |modulus: &Modulus| modulus.constants(|modulus| Modular::new(multiplier, modulus.value()));
    cpu.install(|| {
        job.items.par_iter().zip(answers.as_limbs_mut().par_chunks_mut(stride)).for_each(|(&item, out)| {
            let answer = match job.moduli {
                Moduli::Shared(modulus) => compute(&kept(modulus), item),
                Moduli::Prepared(moduli) => compute(&kept(moduli[item]), item),
                Moduli::Each(_) => compute(&Modular::new(multiplier, job.moduli.get(item)), item),
            };
            out[..answer.len()].copy_from_slice(&answer);
        });
    });
    answers
}

/// Full products `a b`; a factor that all items share is transformed once.
pub(crate) fn products(
    cpu: &Cpu,
    multiplier: Multiplier,
    a: Operand<'_>,
    b: Operand<'_>,
    count: usize,
) -> Batch {
    let (each, shared) = match (a, b) {
        (Operand::Shared { .. }, Operand::Each(_)) => (b, Some(a)),
        (Operand::Each(_), Operand::Shared { .. }) => (a, Some(b)),
        _ => (a, None),
    };
    let prepare =
        |shared: Operand<'_>| cpu.install(|| multiplier.prepare(shared.get(0), each.bits().div_ceil(64)));
    if let Some(shared) = shared.filter(|_| count > 1) {
        return products_prepared(cpu, multiplier, each, (&prepare(shared), shared.bits()), count);
    }
    each_item(cpu, a.bits() + b.bits(), count, |item| {
        let mut out = Zeroizing::new(vec![0; a.get(item).len() + b.get(item).len()]);
        multiplier.multiply(a.get(item), b.get(item), &mut out);
        out
    })
}

/// Full products `a b` with a factor of so many bits that was prepared by this multiplier.
pub(crate) fn products_prepared(
    cpu: &Cpu,
    multiplier: Multiplier,
    a: Operand<'_>,
    (b, bits): (&Prepared, usize),
    count: usize,
) -> Batch {
    each_item(cpu, a.bits() + bits, count, |item| {
        let mut out = Zeroizing::new(vec![0; a.get(item).len() + b.limbs()]);
        multiplier.multiply_prepared(a.get(item), b, &mut out);
        out
    })
}

/// Full squares `a^2`.
pub(crate) fn squares(cpu: &Cpu, multiplier: Multiplier, a: Operand<'_>, count: usize) -> Batch {
    each_item(cpu, 2 * a.bits(), count, |item| {
        let mut out = Zeroizing::new(vec![0; 2 * a.get(item).len()]);
        multiplier.square(a.get(item), &mut out);
        out
    })
}

/// Answers of `bits` bits; they may be computed with zeros on top.
fn each_item(
    cpu: &Cpu,
    bits: usize,
    count: usize,
    compute: impl Fn(usize) -> Zeroizing<Vec<u64>> + Sync,
) -> Batch {
    let mut answers = Batch::zeros(bits, count);
    let stride = answers.stride();
    cpu.install(|| {
        answers.as_limbs_mut().par_chunks_mut(stride).enumerate().for_each(|(item, out)| {
            out.copy_from_slice(&compute(item)[..stride]);
        });
    });
    answers
}
