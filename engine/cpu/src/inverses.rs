//! Running a plan for inverses, greatest common divisors or Jacobi symbols: item by item, or in lanes.

use crate::backend::Cpu;
use crate::divsteps::kernels::Kernels;
use crate::divsteps::{self, Inputs, Space};
use crate::inverse;
use crate::long::Multiplier;
use crate::long::gcd::{self, Scratch, gcd_into};
use crate::method::Method;
use crate::planning::Recipe;
use crate::power_of_two::Residue;
use crate::run::{numbers, wrong};
use crate::step_lanes::{StepLanes, with_vectors};
use modmill_core::limbs::bit_length;
use modmill_core::{Batch, Error, Job, KERNEL_MAX_BITS, Moduli, Operand, Plan, Watch, watched};

/// A way to find inverses, as a plan says.
#[derive(Debug, Clone, Copy)]
pub enum Inverter {
    /// Division steps, in constant time.
    DivisionSteps,
    /// Division steps of several numbers side by side, in constant time.
    Lanes(Lanes),
    /// Half-gcd for numbers longer than [`KERNEL_MAX_BITS`], in time that depends on them; division steps for
    /// shorter ones.
    HalfGcd(Multiplier),
}

/// Vectors for division steps.
#[derive(Debug, Clone, Copy)]
pub struct Lanes(StepLanes);

impl Inverter {
    /// `a^-1 mod N` in as many limbs as the modulus has, whose highest limb is not zero; `None` if there is
    /// none.
    #[must_use]
    pub fn invert(&self, a: &[u64], modulus: &[u64]) -> Option<Residue> {
        match self {
            Self::HalfGcd(multiplier) if 64 * modulus.len().max(a.len()) > KERNEL_MAX_BITS => {
                let mut inverse = gcd::invert(multiplier, a, modulus)?;
                inverse.resize(modulus.len(), 0);
                Some(inverse.into())
            }
            Self::DivisionSteps | Self::Lanes(_) | Self::HalfGcd(_) => inverse::invert(a, modulus),
        }
    }
}

/// A way to find greatest common divisors, as a plan says.
#[derive(Debug, Clone, Copy)]
pub enum Divider {
    /// Half-gcd, and division steps for short numbers.
    HalfGcd(Multiplier),
    /// Division steps of several pairs side by side; the multiplier is for pairs of very different lengths.
    Lanes(Lanes, Multiplier),
}

impl Cpu {
    /// The way to find inverses that a plan of this backend says.
    pub fn inverter(&self, plan: &Plan) -> Result<Inverter, Error> {
        let inverter = match recipe(plan)?.method {
            Method::DivisionSteps => Inverter::DivisionSteps,
            Method::StepLanes(lanes) => Inverter::Lanes(Lanes(lanes)),
            Method::HalfGcd(multiplier) => Inverter::HalfGcd(multiplier),
            _ => return Err(wrong(plan)),
        };
        self.record_method(plan);
        Ok(inverter)
    }

    /// The way to find divisors that a plan of this backend says.
    pub fn divider(&self, plan: &Plan) -> Result<Divider, Error> {
        let divider = match recipe(plan)?.method {
            Method::StepLanes(lanes) => Divider::Lanes(Lanes(lanes), self.multiplier()),
            Method::HalfGcd(multiplier) => Divider::HalfGcd(multiplier),
            _ => return Err(wrong(plan)),
        };
        self.record_method(plan);
        Ok(divider)
    }

    /// Inverses of the numbers `a` of a job, which have no more bits than the job says. A row is zero if the
    /// item has no inverse.
    pub fn inverses(&self, Lanes(lanes): Lanes, job: &Job<'_>) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
        let stride = answers.stride();
        with_vectors!(lanes, V, token => {
            let size = divsteps::GROUPS * lanes.lanes();
            let group = |space: &mut Space<V>, index: usize, out: &mut [u64]| {
                let items = job.items.chunk(index, size);
                let moduli: Vec<&[u64]> = items.iter().map(|item| job.moduli.get(item)).collect();
                let inputs = Inputs { numbers: &numbers(job.a, items), moduli: &moduli, bits: job.bits };
                watched(job.watch, items.len(), || V::inverses(inputs, space, out, stride));
            };
            self.each_chunk(answers.as_limbs_mut(), (size * stride, 1), &|| Space::new(token), &group);
        });
        if job.is_stopped() { Err(Error::Interrupted) } else { Ok(answers) }
    }

    /// Greatest common divisors of `count` pairs of public numbers, as a batch of `bits` bits.
    pub fn divisors(
        &self,
        divider: Divider,
        [a, b]: [Operand<'_>; 2],
        (bits, count): (usize, usize),
        watch: Option<&Watch>,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(bits, count)?;
        let stride = answers.stride().max(1);
        match divider {
            Divider::HalfGcd(multiplier) => {
                let item = |scratch: &mut Scratch, item: usize, out: &mut [u64]| {
                    watched(watch, 1, || gcd_into(&multiplier, a.get(item), b.get(item), out, scratch));
                };
                self.each_chunk(answers.as_limbs_mut(), (stride, 1), &Scratch::default, &item);
            }
            Divider::Lanes(Lanes(lanes), multiplier) => with_vectors!(lanes, V, token => {
                let size = divsteps::GROUPS * lanes.lanes();
                let space = || (Space::new(token), Scratch::default());
                let group = |(space, scratch): &mut (Space<V>, Scratch), index: usize, out: &mut [u64]| {
                    let mut rows: Vec<(usize, &mut [u64])> =
                        (index * size..).zip(out.chunks_exact_mut(stride)).collect();
                    let items = rows.len();
                    let together =
                        |row: &(usize, &mut [u64])| is_pair_for_lanes(a.get(row.0), b.get(row.0));
                    rows.sort_by_key(|row| !together(row));
                    let pairs = rows.partition_point(together);
                    let (some, alone) = rows.split_at_mut(pairs);
                    watched(watch, items, || {
                        if !some.is_empty() {
                            V::divisors([a, b], some, space);
                        }
                        for (item, row) in alone {
                            gcd_into(&multiplier, a.get(*item), b.get(*item), row, scratch);
                        }
                    });
                };
                self.each_chunk(answers.as_limbs_mut(), (size * stride, 1), &space, &group);
            }),
        }
        if watch.is_some_and(Watch::is_stopped) { Err(Error::Interrupted) } else { Ok(answers) }
    }

    /// Jacobi symbols of `count` public numbers modulo odd numbers, by a plan of this backend. Where a
    /// modulus is even there is no symbol.
    pub fn symbols(
        &self,
        plan: &Plan,
        (a, n): (Operand<'_>, Moduli<'_>),
        count: usize,
        watch: Option<&Watch>,
    ) -> Result<Vec<Option<i8>>, Error> {
        let method = recipe(plan)?.method;
        self.record_method(plan);
        let is_odd = |item: usize| n.get(item).first().is_some_and(|low| low & 1 == 1);
        let mut found = vec![0; count];
        match method {
            Method::StepLanes(lanes) => with_vectors!(lanes, V, token => {
                let size = lanes.lanes();
                let group = |space: &mut Space<V>, index: usize, out: &mut [u64]| {
                    let mut rows: Vec<(usize, &mut u64)> = (index * size..).zip(out).collect();
                    let items = rows.len();
                    rows.retain(|(item, _)| is_odd(*item));
                    watched(watch, items, || {
                        if !rows.is_empty() {
                            V::symbols(a, n, &mut rows, space);
                        }
                    });
                };
                self.each_chunk(&mut found, (size, 1), &|| Space::new(token), &group);
            }),
            Method::DivisionSteps => {
                let item = |_: &mut (), item: usize, out: &mut [u64]| {
                    let symbol = || crate::jacobi::symbol(a.get(item), n.get(item));
                    out[0] =
                        watched(watch, 1, || if is_odd(item) { symbol() } else { 0 }).unwrap_or(0) as u64;
                };
                self.each_chunk(&mut found, (1, 1), &|| (), &item);
            }
            _ => return Err(wrong(plan)),
        }
        if watch.is_some_and(Watch::is_stopped) {
            return Err(Error::Interrupted);
        }
        let symbol = |(item, symbol): (usize, u64)| is_odd(item).then_some(symbol as i8);
        Ok(found.into_iter().enumerate().map(symbol).collect())
    }

    pub(crate) fn record_method(&self, plan: &Plan) {
        if let Ok(Recipe { method, .. }) = recipe(plan) {
            self.record(method.path(), method.variant(&plan.request, self.threads()), None);
        }
    }
}

pub(crate) fn recipe(plan: &Plan) -> Result<Recipe, Error> {
    plan.recipe.get().copied().ok_or_else(|| wrong(plan))
}

/// Whether two numbers are not zero and of about one length. Otherwise a division shortens the longer one
/// first.
fn is_pair_for_lanes(a: &[u64], b: &[u64]) -> bool {
    let [a, b] = [a, b].map(bit_length);
    a > 0 && b > 0 && a.abs_diff(b) < 128
}
