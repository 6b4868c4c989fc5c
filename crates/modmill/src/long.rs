//! Operations modulo long numbers on GPUs, which take moduli of one length with their reciprocals, or the first bits of
//! them if every item has its own modulus; those come from the CPU.

use crate::backends::{Backends, Shape, answers_and_seconds};
use modmill_core::limbs::{add_assign, bit_length, shift_left, shift_right};
use modmill_core::{Batch, Error, Job, Moduli, Modulus, Op};
use modmill_cpu::long::{Multiplier, reciprocal};
use modmill_cuda::{Cuda, LongModuli, LongModulus, Run, SeededModulus};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Whether factors and bases are at most twice as long as moduli, as transforms take them.
pub(crate) fn factors_fit(op: Op, job: &Job<'_>) -> bool {
    let multiplies = op == Op::MulMod;
    let factor_bits = job.a.bits().max(if multiplies { job.b.bits() } else { 0 });
    job.items.iter().all(|&item| factor_bits <= 2 * bit_length(job.moduli.get(item)))
}

impl Backends {
    /// Computes a group of items whose [`factors_fit`] by transforms on GPUs, where they are done sooner there.
    pub(crate) fn run_long(&self, op: Op, job: &Job<'_>) -> Result<Option<Batch>, Error> {
        let groups = by_bits(job);
        let shape = Shape { op, bits: job.bits, count: job.items.len(), exponent_bits: job.b.bits() };
        self.on_gpus(shape, |cuda| {
            if let (1, true) = (groups.len(), job.moduli.bits() == job.bits) {
                return self.run_group(cuda, op, job).map(answers_and_seconds);
            }
            let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
            let mut seconds = 0.0;
            for places in groups.values() {
                let items: Vec<usize> = places.iter().map(|&place| job.items[place]).collect();
                let run = self.run_group(cuda, op, &job.part(&items))?;
                seconds += run.kernel_seconds;
                for (&place, answer) in places.iter().zip(run.answers.iter()) {
                    answers.get_mut(place)[..answer.len()].copy_from_slice(answer);
                }
            }
            Ok((answers, seconds))
        })
    }

    /// Computes items whose moduli have the same number of bits.
    fn run_group(&self, cuda: &Cuda, op: Op, job: &Job<'_>) -> modmill_cuda::Result<Run> {
        let multiplier = self.cpu.multiplier();
        let (one, each);
        let moduli = match job.moduli {
            Moduli::Shared(modulus) => {
                one = self.cpu.install(|| long_modulus(&multiplier, modulus));
                LongModuli::One(&one)
            }
            moduli => {
                let of = |item: usize| match moduli {
                    Moduli::Prepared(moduli) => {
                        moduli[item].constants(|modulus| seeded_modulus(&multiplier, modulus.value()))
                    }
                    moduli => Arc::new(seeded_modulus(&multiplier, moduli.get(item))),
                };
                let all = || job.items.par_iter().map(|&item| (item, of(item))).collect();
                each = self.cpu.install::<HashMap<_, _>>(all);
                LongModuli::Each(&each)
            }
        };
        match op {
            Op::Pow => cuda.pow_long(job.a, job.b, moduli, job.items),
            Op::PowVartime => cuda.pow_long_vartime(job.a, job.b, moduli, job.items),
            Op::SquareMod => cuda.mul_mod_long(job.a, None, moduli, job.items),
            _ => cuda.mul_mod_long(job.a, Some(job.b), moduli, job.items),
        }
    }
}

/// Places of the items of a job by the bits of their moduli.
fn by_bits(job: &Job<'_>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups = BTreeMap::<usize, Vec<usize>>::new();
    if let Moduli::Shared(modulus) = job.moduli {
        groups.insert(modulus.bits(), (0..job.items.len()).collect());
    } else {
        for (place, &item) in job.items.iter().enumerate() {
            groups.entry(bit_length(job.moduli.get(item))).or_default().push(place);
        }
    }
    groups
}

/// `floor((2^2n - 1) / N)` beside N of n bits, computed once for a modulus.
fn long_modulus(multiplier: &Multiplier, modulus: &Modulus) -> Arc<LongModulus> {
    modulus.constants(|modulus| {
        let (normalised, shift) = normalised(modulus.value());
        // floor((2^(2n + 2 shift) - 1) / (2^shift N)), over 2^shift.
        let above = reciprocal(multiplier, &normalised);
        let mut exact = Zeroizing::new(vec![0; above.len()]);
        shift_right(&above, shift, &mut exact);
        LongModulus::new(modulus.value(), &exact)
    })
}

/// The first bits of the reciprocal beside N.
fn seeded_modulus(multiplier: &Multiplier, modulus: &[u64]) -> SeededModulus {
    let (mut normalised, _) = normalised(modulus);
    let limbs = SeededModulus::seed_limbs(bit_length(modulus));
    let start = normalised.len() - limbs;
    let leading = &mut normalised[start..];
    // One more, which leaves nothing of all ones.
    let mut power = vec![0; limbs + 1];
    power[limbs] = 1;
    let seed = match add_assign(leading, &[1]) {
        0 => reciprocal(multiplier, leading),
        _ => Zeroizing::new(power),
    };
    SeededModulus::new(modulus, &seed)
}

/// The modulus without zeros above, and by how many bits it was shifted for that.
fn normalised(modulus: &[u64]) -> (Zeroizing<Vec<u64>>, usize) {
    let bits = bit_length(modulus);
    let limbs = bits.div_ceil(64);
    let shift = 64 * limbs - bits;
    let mut normalised = Zeroizing::new(vec![0; limbs]);
    shift_left(&modulus[..limbs], shift, &mut normalised);
    (normalised, shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn reciprocals_are_exact() {
        let multiplier = Multiplier::detect(None).pop().unwrap();
        for text in ["3", "8000000000000000", "ffffffffffffffff", "10000000000000001", "5432123456789abcdef"]
        {
            let modulus = Modulus::from_hex(text).unwrap();
            let value = BigUint::parse_bytes(text.as_bytes(), 16).unwrap();
            let power = BigUint::from(1u8) << (2 * modulus.bits());
            let expected = (power - 1u8) / value - (BigUint::from(1u8) << modulus.bits());
            let long = long_modulus(&multiplier, &modulus);
            let mut limbs = expected.to_u64_digits();
            limbs.resize(modulus.value().len(), 0);
            assert_eq!((long.bits(), long.reciprocal()), (modulus.bits(), &limbs[..]));
        }
    }
}
