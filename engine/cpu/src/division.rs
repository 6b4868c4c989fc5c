//! Running a plan for quotients with remainders, or for square roots with remainders, item by item. The
//! derivations are in `docs/algorithms/division.md` and `docs/algorithms/square-root.md`.

use crate::backend::{Cpu, LONG};
use crate::inverses::recipe;
use crate::limbs::with_scalar;
use crate::long::BarrettDivisor;
use crate::method::Method;
use crate::out_of_memory::returned;
use crate::remainder::{Scratch, div_rem};
use crate::run::wrong;
use crate::square_root::{self, Roots};
use crate::threads::Share;
use modmill_core::limbs::bit_length;
use modmill_core::{Batch, Error, Moduli, Operand, Plan, Watch, watched};
use rayon::prelude::*;

impl Cpu {
    /// Quotients `floor(a / N)` and remainders, by a plan of this backend: the quotients are as wide as a,
    /// and the remainders as wide as the divisors. Where a divisor is zero, so are both.
    ///
    /// The time depends on declared widths and on the lengths of the divisors.
    pub fn divide(
        &self,
        plan: &Plan,
        (a, divisors): (Operand<'_>, Moduli<'_>),
        watch: Option<&Watch>,
    ) -> Result<[Batch; 2], Error> {
        let method = recipe(plan)?.method;
        self.record_method(plan);
        let widths = [a.bits(), divisors.bits()];
        match method {
            Method::Division(limbs) => with_scalar!(limbs, scalar => {
                let item = |scratch: &mut Scratch, item: usize, [quotient, rest]: [&mut [u64]; 2]| {
                    let (a, n) = (a.limbs(item), divisors.get(item));
                    if bit_length(n) > 0 {
                        div_rem(scalar, a, n, (&mut quotient[..a.len()], rest), scratch);
                    }
                };
                self.pairs((plan, widths), watch, || Scratch::new(0, 0), item)
            }),
            // Threads share the products of a divisor that is prepared for all items.
            Method::Transforms(multiplier) => returned(|| {
                self.install(|| {
                    let divisor = |n: &[u64]| BarrettDivisor::new(multiplier, n);
                    let shared = match divisors {
                        Moduli::Shared(modulus) => Some(divisor(modulus.value())),
                        Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => None,
                    };
                    let item = |_: &mut (), item: usize, [quotient, rest]: [&mut [u64]; 2]| {
                        let (a, n) = (a.limbs(item), divisors.get(item));
                        let answers = match &shared {
                            Some(shared) => shared.quotient_and_remainder(a),
                            None if bit_length(n) > 0 => divisor(n).quotient_and_remainder(a),
                            None => return,
                        };
                        quotient[..a.len()].copy_from_slice(&answers.0);
                        rest[..answers.1.len()].copy_from_slice(&answers.1);
                    };
                    self.pairs((plan, widths), watch, || (), item)
                })
            }),
            _ => Err(wrong(plan)),
        }
    }

    /// `floor(sqrt(a))` by a plan of this backend, in half as many bits as a has, rounded up. The second
    /// batch has the remainders, in one bit more, if they are wanted, and otherwise numbers of no bits.
    ///
    /// The time depends on the declared width.
    pub fn square_roots(
        &self,
        plan: &Plan,
        a: Operand<'_>,
        with_remainders: bool,
        watch: Option<&Watch>,
    ) -> Result<[Batch; 2], Error> {
        let limbs = match recipe(plan)?.method {
            Method::Division(limbs) => limbs,
            Method::Transforms(multiplier) => multiplier.limbs(),
            _ => return Err(wrong(plan)),
        };
        self.record_method(plan);
        let root_bits = a.bits().div_ceil(2);
        let widths = [root_bits, if with_remainders { root_bits + 1 } else { 0 }];
        let multiplier = self.multiplier();
        with_scalar!(limbs, scalar => returned(|| {
            let roots = Roots { scalar, multiplier };
            let item = |scratch: &mut square_root::Scratch, item: usize, [root, rest]: [&mut [u64]; 2]| {
                let a = a.limbs(item);
                let rest_limbs = rest.len().min(a.len());
                roots.root(a, (&mut root[..a.len().div_ceil(2)], &mut rest[..rest_limbs]), scratch);
            };
            self.pairs((plan, widths), watch, square_root::Scratch::default, item)
        }))
    }

    /// Two batches of the widths `widths`, whose rows of each item `compute` writes, on all threads.
    fn pairs<W>(
        &self,
        (plan, widths): (&Plan, [usize; 2]),
        watch: Option<&Watch>,
        workspace: impl Fn() -> W + Sync,
        compute: impl Fn(&mut W, usize, [&mut [u64]; 2]) + Sync,
    ) -> Result<[Batch; 2], Error> {
        let count = plan.request.count;
        let [mut first, mut second] =
            [Batch::try_zeros(widths[0], count)?, Batch::try_zeros(widths[1], count)?];
        // An item of few limbs takes less time than to look for another.
        let limbs = plan.request.bits.div_ceil(64);
        let items = (256 / (limbs * limbs).max(1)).max(1);
        let strides = [first.stride(), second.stride()];
        let each = |space: &mut W, index: usize, [first, second]: [&mut [u64]; 2]| {
            let (mut first, mut second) = (first, second);
            for item in (index * items..count).take(items) {
                let own;
                let other;
                (own, first) = std::mem::take(&mut first).split_at_mut(strides[0]);
                (other, second) = std::mem::take(&mut second).split_at_mut(strides[1]);
                watched(watch, 1, || compute(space, item, [own, other]));
            }
        };
        let chunks = count.div_ceil(items);
        let parts = parts(first.as_limbs_mut(), items * strides[0], chunks).zip(parts(
            second.as_limbs_mut(),
            items * strides[1],
            chunks,
        ));
        let parts: Vec<_> = parts.collect();
        self.install_if(chunks > 1 || limbs >= LONG, || {
            let parts = parts.into_par_iter().enumerate();
            parts
                .each_with(&workspace, |space, (index, (first, second))| each(space, index, [first, second]));
        });
        if watch.is_some_and(Watch::is_stopped) { Err(Error::Interrupted) } else { Ok([first, second]) }
    }
}

/// Cuts limbs into `count` parts of `size` limbs, of which the last may be shorter.
fn parts(limbs: &mut [u64], size: usize, count: usize) -> impl Iterator<Item = &mut [u64]> {
    let mut rest = limbs;
    (0..count).map(move |_| {
        let part;
        let size = size.min(rest.len());
        (part, rest) = std::mem::take(&mut rest).split_at_mut(size);
        part
    })
}
