//! Running a plan for square roots with remainders, in lanes or item by item. The derivations are in
//! `docs/algorithms/lanes.md` and `docs/algorithms/square-root.md`.

use crate::backend::Cpu;
use crate::divsteps::Space;
use crate::inverses::recipe;
use crate::method::Method;
use crate::out_of_memory::returned;
use crate::run::wrong;
use crate::scalar_choice::with_scalar;
use crate::schoolbook::divide::{Numbers, Rows};
use crate::schoolbook::items_at_once;
use crate::schoolbook::kernels::Kernels;
use crate::schoolbook::root;
use crate::square_root::{Roots, Scratch};
use crate::vector_choice::with_vectors;
use modmill_core::{Batch, Error, Operand, Plan, Watch};
use std::ops::Range;

impl Cpu {
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
        let method = recipe(plan)?.method;
        self.record_method(plan);
        let root_bits = a.bits().div_ceil(2);
        let widths = [root_bits, if with_remainders { root_bits + 1 } else { 0 }];
        let multiplier = self.multiplier();
        let limbs = match method {
            Method::RowLanes(lanes) if a.bits() > 0 => {
                return with_vectors!(lanes, V, token => with_scalar!(multiplier.limbs(), scalar => {
                    let rests = Roots { scalar, multiplier };
                    let group = |work: &mut (Space<V>, Scratch), items: Range<usize>, rows: [Rows<'_>; 2]| {
                        let [Rows { limbs: roots, stride }, rest] = rows;
                        let numbers: Vec<&[u64]> = items.map(|item| a.limbs(item)).collect();
                        let call = root::Roots {
                            numbers: Numbers { limbs: &numbers, bits: a.bits() },
                            rows: Rows { limbs: roots, stride },
                        };
                        V::roots(call, &mut work.0);
                        if rest.stride > 0 {
                            let rests_of = rest.limbs.chunks_exact_mut(rest.stride);
                            let rows = roots.chunks_exact(stride).zip(rests_of);
                            for (a, (root, rest)) in numbers.iter().zip(rows) {
                                let len = rest.len().min(a.len());
                                rests.rest(a, root, &mut rest[..len], &mut work.1);
                            }
                        }
                    };
                    let workspace = || (Space::new(token), Scratch::default());
                    self.pairs((plan, widths), items_at_once::<V>(), watch, workspace, group)
                }));
            }
            Method::RowLanes(_) => multiplier.limbs(),
            Method::Division(limbs) => limbs,
            Method::Transforms(multiplier) => multiplier.limbs(),
            _ => return Err(wrong(plan)),
        };
        with_scalar!(limbs, scalar => returned(|| {
            let roots = Roots { scalar, multiplier };
            let item = |scratch: &mut Scratch, items: Range<usize>, [root, rest]: [Rows<'_>; 2]| {
                let a = a.limbs(items.start);
                let len = rest.limbs.len().min(a.len());
                roots.root(a, (&mut root.limbs[..a.len().div_ceil(2)], &mut rest.limbs[..len]), scratch);
            };
            self.pairs((plan, widths), 1, watch, Scratch::default, item)
        }))
    }
}
