//! Products of several powers modulo one number for each item: interleaved windows with one chain of
//! squarings.

use crate::backend::Cpu;
use crate::cost;
use crate::domain::{Domain, Residue, Workspace};
use crate::kernel::Kernel;
use crate::method::{Method, counted};
use crate::path::{CpuPath, with_kernel};
use crate::pow::{PublicFactors, SecretFactors, fixed_windows};
use crate::run::numbers;
use modmill_core::{Batch, Error, Job, Op, Operand, Request, limbs};

/// The most powers that share a chain of squarings. Their tables pass through the cache for every window, and
/// with sixteen powers a chain is a fiftieth of the work.
const TOGETHER: usize = 16;

/// Powers whose product is wanted: for each item one base and one exponent of every power.
#[derive(Clone, Copy)]
pub struct Powers<'a> {
    /// The bases, as many operands as there are powers. None of them is on a device.
    pub bases: &'a [Operand<'a>],
    /// The exponents, as many operands as there are bases.
    pub exponents: &'a [Operand<'a>],
}

impl Powers<'_> {
    /// Bits of the longest exponent of each power: as declared, or by their values if those are public.
    fn lengths(&self, op: Op, job: &Job<'_>) -> Vec<usize> {
        let length = |exponents: &Operand<'_>| match op {
            Op::PowVartime => {
                let lengths = job.items.iter().map(|item| limbs::bit_length(exponents.get(item)));
                lengths.max().unwrap_or(0)
            }
            _ => exponents.bits(),
        };
        self.exponents.iter().map(length).collect()
    }
}

impl Cpu {
    /// The products of some powers: item i is the product of `bases[k][i]^exponents[k][i]` over all k, modulo
    /// the modulus of item i. `job` has the items and the moduli. `None` if this backend computes such powers
    /// by algorithms that do not interleave.
    ///
    /// For [`Op::Pow`] neither time nor addresses depend on bases and exponents. [`Op::PowVartime`] takes
    /// public exponents.
    pub fn multi_pow(&self, op: Op, job: &Job<'_>, powers: &Powers<'_>) -> Result<Option<Batch>, Error> {
        let Some(longest) = powers.lengths(op, job).into_iter().max() else { return Ok(None) };
        let request = Request::of(op, job).exponents_of(longest);
        let Some(path) = self.lanes_for(&request) else { return Ok(None) };
        let window = cost::window(path, job.bits, longest);
        let name = Method::Lanes(path).path();
        self.record(name, format!("{}, interleaved", counted(powers.bases.len(), "power")), Some(window));
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
        });
        products.map(Some)
    }

    /// The kernel that computes a request in lanes, if it is computed so.
    pub(crate) fn lanes_for(&self, request: &Request) -> Option<CpuPath> {
        match self.choose(request).0 {
            Method::Lanes(path) => Some(path),
            Method::Division(limbs) => Some(limbs.into()),
            _ => None,
        }
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
