//! Running a plan for inverses, greatest common divisors or Jacobi symbols: item by item, or in lanes.

use crate::backend::Cpu;
use crate::divsteps::kernels::Kernels;
use crate::divsteps::{self, Inputs, Space};
use crate::inverse;
use crate::long::gcd::{self, Scratch, gcd_into};
use crate::method::Method;
use crate::planning::Recipe;
use crate::power_of_two::Residue;
use crate::run::{numbers, wrong};
use crate::vector_choice::with_vectors;
use modmill_core::limbs::bit_length;
use modmill_core::{
    Batch, Divisors, Error, Inverses, KERNEL_MAX_BITS, Moduli, Operand, Plan, Watch, watched,
};

impl Cpu {
    /// `a^-1 mod N` in as many limbs as the modulus has, whose highest limb is not zero; `None` if there is
    /// none. Half-gcd inverts numbers longer than [`KERNEL_MAX_BITS`], in time that depends on them; division
    /// steps invert shorter ones.
    #[must_use]
    pub fn inverse_of(&self, a: &[u64], modulus: &[u64]) -> Option<Residue> {
        if 64 * modulus.len().max(a.len()) <= KERNEL_MAX_BITS {
            return inverse::invert(a, modulus);
        }
        let mut inverse = gcd::invert(&self.multiplier(), a, modulus)?;
        inverse.resize(modulus.len(), 0);
        Some(inverse.into())
    }

    /// Inverses by a plan of this backend, with the items that have none.
    pub(crate) fn invert(&self, plan: &Plan, call: &Inverses<'_>) -> Result<Batch, Error> {
        let (method, job) = (recipe(plan)?.method, &call.job);
        self.record_method(plan);
        let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
        let stride = answers.stride();
        match method {
            Method::StepLanes(lanes) => with_vectors!(lanes, V, token => {
                let size = divsteps::GROUPS * lanes.lanes();
                let group = |space: &mut Space<V>, index: usize, out: &mut [u64]| {
                    let items = job.items.chunk(index, size);
                    let moduli: Vec<&[u64]> = items.iter().map(|item| job.moduli.get(item)).collect();
                    let inputs = Inputs { numbers: &numbers(job.a, items), moduli: &moduli, bits: job.bits };
                    watched(job.watch, items.len(), || V::inverses(inputs, space, out, stride));
                };
                self.each_chunk(answers.as_limbs_mut(), (size * stride, 1), &|| Space::new(token), &group);
            }),
            Method::DivisionSteps | Method::HalfGcd(_) => {
                let item = |_: &mut (), index: usize, out: &mut [u64]| {
                    let item = job.items.get(index);
                    let modulus = job.moduli.get(item);
                    let modulus = &modulus[..bit_length(modulus).div_ceil(64)];
                    let inverse = || self.inverse_of(job.a.limbs(item), modulus);
                    if let Some(inverse) = watched(job.watch, 1, inverse).flatten() {
                        out[..inverse.len()].copy_from_slice(&inverse);
                    }
                };
                self.each_chunk(answers.as_limbs_mut(), (stride, 1), &|| (), &item);
            }
            _ => return Err(wrong(plan)),
        }
        if job.is_stopped() {
            return Err(Error::Interrupted);
        }
        // Modulo a number of at least 3 no inverse is zero. All limbs are read, because an inverse is secret.
        let is_missing = |row: &[u64]| row.iter().fold(0, |any, limb| any | limb) == 0;
        let rows = job.items.iter().zip(answers.iter());
        call.missing.lock().extend(rows.filter(|(_, row)| is_missing(row)).map(|(item, _)| item));
        Ok(answers)
    }

    /// Greatest common divisors of public numbers, by a plan of this backend.
    pub(crate) fn common_divisors(&self, plan: &Plan, call: &Divisors<'_>) -> Result<Batch, Error> {
        let &Divisors { a, b, count, watch } = call;
        let method = recipe(plan)?.method;
        self.record_method(plan);
        let mut answers = Batch::try_zeros(call.bits(), count)?;
        let stride = answers.stride().max(1);
        match method {
            Method::HalfGcd(multiplier) => {
                let item = |scratch: &mut Scratch, item: usize, out: &mut [u64]| {
                    watched(watch, 1, || gcd_into(&multiplier, a.limbs(item), b.limbs(item), out, scratch));
                };
                self.each_chunk(answers.as_limbs_mut(), (stride, 1), &Scratch::default, &item);
            }
            Method::StepLanes(lanes) => with_vectors!(lanes, V, token => {
                let (size, multiplier) = (divsteps::GROUPS * lanes.lanes(), self.multiplier());
                let space = || (Space::new(token), Scratch::default());
                let group = |(space, scratch): &mut (Space<V>, Scratch), index: usize, out: &mut [u64]| {
                    let mut rows: Vec<(usize, &mut [u64])> =
                        (index * size..).zip(out.chunks_exact_mut(stride)).collect();
                    let items = rows.len();
                    let together =
                        |row: &(usize, &mut [u64])| is_pair_for_lanes(a.limbs(row.0), b.limbs(row.0));
                    rows.sort_by_key(|row| !together(row));
                    let pairs = rows.partition_point(together);
                    let (some, alone) = rows.split_at_mut(pairs);
                    watched(watch, items, || {
                        if !some.is_empty() {
                            V::divisors([a, b], some, space);
                        }
                        for (item, row) in alone {
                            gcd_into(&multiplier, a.limbs(*item), b.limbs(*item), row, scratch);
                        }
                    });
                };
                self.each_chunk(answers.as_limbs_mut(), (size * stride, 1), &space, &group);
            }),
            _ => return Err(wrong(plan)),
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
                    let symbol = || crate::jacobi::symbol(a.limbs(item), n.get(item));
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
