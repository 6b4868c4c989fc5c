//! Running a plan for quotients with remainders, in lanes or item by item. The derivations are in
//! `docs/algorithms/lanes.md` and `docs/algorithms/division.md`.

use crate::backend::Cpu;
use crate::inverses::recipe;
use crate::lane_division::LaneDivision;
use crate::long::BarrettDivisor;
use crate::method::Method;
use crate::out_of_memory::returned;
use crate::remainder::{Scratch, div_rem};
use crate::run::wrong;
use crate::scalar_choice::with_scalar;
use crate::schoolbook::divide::{Numbers, Rows};
use crate::schoolbook::items_at_once;
use crate::vector_choice::with_vectors;
use modmill_core::limbs::bit_length;
use modmill_core::{Batch, Error, Moduli, Operand, Plan, Watch};
use std::ops::Range;

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
            Method::RowLanes(lanes) => with_vectors!(lanes, V, token => {
                with_scalar!(self.multiplier().limbs(), scalar => {
                    let group = |work: &mut LaneDivision<V>, items: Range<usize>, rows: [Rows<'_>; 2]| {
                        let numbers: Vec<&[u64]> = items.clone().map(|item| a.limbs(item)).collect();
                        let divisors: Vec<&[u64]> = items.map(|item| divisors.get(item)).collect();
                        let a = Numbers { limbs: &numbers, bits: a.bits() };
                        work.divide(scalar, (a, None), &divisors, rows);
                    };
                    let workspace = || LaneDivision::new(token);
                    self.pairs((plan, widths), items_at_once::<V>(), watch, workspace, group)
                })
            }),
            Method::Division(limbs) => with_scalar!(limbs, scalar => {
                let item = |scratch: &mut Scratch, items: Range<usize>, [quotient, rest]: [Rows<'_>; 2]| {
                    let (a, n) = (a.limbs(items.start), divisors.get(items.start));
                    if bit_length(n) > 0 {
                        div_rem(scalar, a, n, (&mut quotient.limbs[..a.len()], rest.limbs), scratch);
                    }
                };
                self.pairs((plan, widths), 1, watch, || Scratch::new(0, 0), item)
            }),
            // Threads share the products of a divisor that is prepared for all items.
            Method::Transforms(multiplier) => returned(|| {
                self.install(|| {
                    let divisor = |n: &[u64]| BarrettDivisor::new(multiplier, n);
                    let shared = match divisors {
                        Moduli::Shared(modulus) => Some(divisor(modulus.value())),
                        Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => None,
                    };
                    let item = |_: &mut (), items: Range<usize>, [quotient, rest]: [Rows<'_>; 2]| {
                        let (a, n) = (a.limbs(items.start), divisors.get(items.start));
                        let answers = match &shared {
                            Some(shared) => shared.quotient_and_remainder(a),
                            None if bit_length(n) > 0 => divisor(n).quotient_and_remainder(a),
                            None => return,
                        };
                        quotient.limbs[..a.len()].copy_from_slice(&answers.0);
                        rest.limbs[..answers.1.len()].copy_from_slice(&answers.1);
                    };
                    self.pairs((plan, widths), 1, watch, || (), item)
                })
            }),
            _ => Err(wrong(plan)),
        }
    }
}
