//! Products of several powers modulo one number for each item: interleaved windows with one chain of
//! squarings.

use crate::backend::Cpu;
use crate::domain::{Domain, Residue, Workspace};
use crate::kernel::Kernel;
use crate::method::Method;
use crate::path::{CpuPath, with_kernel};
use crate::planning::Recipe;
use crate::pow::{PublicFactors, SecretFactors, fixed_windows};
use crate::run::{numbers, wrong};
use modmill_core::{Batch, Error, MultiPowers, Op, Plan};

/// The most powers that share a chain of squarings. Their tables pass through the cache for every window, and
/// with sixteen powers a chain is a fiftieth of the work.
const TOGETHER: usize = 16;

impl Cpu {
    /// The products of some powers, by a plan of this backend.
    ///
    /// Neither time nor addresses depend on the bases, nor on secret exponents.
    pub(crate) fn multiply_powers(
        &self,
        plan: &Plan,
        recipe: Recipe,
        powers: &MultiPowers<'_>,
    ) -> Result<Batch, Error> {
        let Recipe { method: Method::Lanes(path), window } = recipe else { return Err(wrong(plan)) };
        let (op, job) = (powers.op(), &powers.job);
        self.record(plan.path, plan.variant.clone(), Some(window));
        let products = with_kernel!(path, K, token => {
            self.run_groups::<K>(token, op, job, |domain, items, work, x| {
                let pairs = powers.bases.chunks(TOGETHER).zip(powers.exponents.chunks(TOGETHER));
                for (chunk, (bases, exponents)) in pairs.enumerate() {
                    let group: Vec<_> = (bases.iter().zip(exponents))
                        .map(|(&base, &exponent)| Power {
                            bases: numbers(base, items),
                            base_bits: base.bits(),
                            exponents: numbers(exponent, items),
                            exponent_bits: exponent.bits(),
                        })
                        .collect();
                    if chunk == 0 {
                        multiply_powers(op, domain, &group, window, x, work);
                    } else {
                        let mut y = std::mem::take(&mut work.y);
                        multiply_powers(op, domain, &group, window, &mut y, work);
                        domain.multiply(x, &y, work);
                        work.y = y;
                    }
                }
                domain.leave(x, work);
                Residue::Wide
            })
        })?;
        // Groups that a stopped call left out are zero.
        if job.is_stopped() { Err(Error::Interrupted) } else { Ok(products) }
    }
}

/// One power for each lane.
struct Power<'a> {
    bases: Vec<&'a [u64]>,
    base_bits: usize,
    exponents: Vec<&'a [u64]>,
    exponent_bits: usize,
}

/// The product of some powers in Montgomery form.
fn multiply_powers<K: Kernel>(
    op: Op,
    domain: &Domain<K>,
    powers: &[Power<'_>],
    window: u32,
    x: &mut [u64],
    work: &mut Workspace,
) {
    if op == Op::PowVartime {
        let mut factors = Vec::with_capacity(powers.len());
        for power in powers {
            domain.enter(&power.bases, power.base_bits, x, work);
            factors.push(PublicFactors::new(domain, x, &power.exponents, window, work));
        }
        fixed_windows(domain, x, window, &mut factors, work);
    } else {
        let mut factors = Vec::with_capacity(powers.len());
        for power in powers {
            domain.enter(&power.bases, power.base_bits, x, work);
            let Power { exponents, exponent_bits, .. } = power;
            factors.push(SecretFactors::new(domain, x, exponents, *exponent_bits, window, work));
        }
        fixed_windows(domain, x, window, &mut factors, work);
    }
}
