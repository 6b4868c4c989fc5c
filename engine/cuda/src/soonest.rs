//! The choice that answers a request soonest: whether a batch waits for kernels that take long to compile.

use crate::backend::Cuda;
use crate::part::Part;
use crate::patience::{PassedOver, SHORT, compile_seconds};
use crate::table::Choice;
use crate::variant::Variant;
use modmill_core::{ModuliForm, Op, Request};

/// The part that has the kernel of an operation.
fn part_of(op: Op, has_direct_tables: bool) -> Part {
    match op {
        Op::Pow if has_direct_tables => Part::PowerVartime,
        Op::Pow => Part::Power,
        Op::PowVartime => Part::PowerVartime,
        _ => Part::Multiply,
    }
}

impl Cuda {
    /// Puts the choice that answers a request soonest before the others, which are sorted by their time.
    /// Returns the kernels that it does not wait for.
    pub(crate) fn put_soonest_first(&self, request: &Request, choices: &mut [Choice]) -> Option<PassedOver> {
        let best = *choices.first()?;
        let part = part_of(request.op, self.settings.direct_tables);
        let is_one = request.moduli == ModuliForm::Shared && request.op.is_power();
        let place = self.sooner_than(&best, choices, part, is_one)?;
        let loss = choices[place].seconds - best.seconds;
        choices[..=place].rotate_right(1);
        Some(PassedOver { variant: best.variant, part, loss })
    }

    /// The place of a choice that is there sooner than `best`, if `best` is not worth its compilation yet.
    fn sooner_than(&self, best: &Choice, choices: &[Choice], part: Part, is_one: bool) -> Option<usize> {
        let compiling = compile_seconds(&best.variant);
        if compiling < SHORT || self.patience.is_endless() || self.is_at_hand(best.variant, part, is_one) {
            return None;
        }
        let place = choices.iter().position(|choice| compile_seconds(&choice.variant) < SHORT)?;
        let loss = choices[place].seconds - best.seconds;
        (self.patience.lost(best.variant, part) + loss < compiling).then_some(place)
    }

    /// Whether the kernels of RSA's powers in residues are not worth their compilation yet.
    pub(crate) fn passes_over(&self, best: &Choice, op: Op, choices: &[Choice]) -> bool {
        self.sooner_than(best, choices, part_of(op, false), true).is_some()
    }

    /// Whether the kernels of a part need not be compiled. `is_one` asks for those of one modulus too.
    fn is_at_hand(&self, variant: Variant, part: Part, is_one: bool) -> bool {
        self.patience.is_at_hand((variant, part, is_one), |is_first| {
            let mut programs: Vec<_> = variant.program(part).into_iter().collect();
            programs.extend(variant.merged_program(part).filter(|_| is_one));
            // Only the first look goes to the disk: later ones wait for this process to compile them.
            self.devices().next().is_none_or(|device| {
                programs
                    .iter()
                    .all(|program| device.is_loaded(program) || is_first && device.has_code(program))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Settings;
    use crate::cache::Cache;
    use crate::device::Device;
    use crate::emulator::Faults;
    use crate::planning::Recipe;
    use modmill_core::Family;
    use modmill_core::Plan;

    fn cuda(compiles_slowly: bool) -> Cuda {
        let faults = Faults { compiles_slowly, ..Faults::default() };
        Cuda::on(vec![Device::emulator_with(faults, Cache::off())], Settings::default())
    }

    fn passed_over(plan: &Plan) -> Option<PassedOver> {
        match plan.recipe.get() {
            Some(Recipe::Kernels(_, passed_over)) => *passed_over,
            _ => None,
        }
    }

    #[test]
    fn few_items_do_not_wait_and_many_do() {
        let few = Request::new(Op::Pow, 4096, 20_000);
        let many = Request::new(Op::Pow, 4096, 100_000_000);
        assert_eq!(cuda(false).plan(&few).unwrap().family(), Family::Rns, "the kernels are at hand");
        let cuda = cuda(true);
        let plan = cuda.plan(&few).unwrap();
        assert!(plan.family() != Family::Rns && plan.reason.contains("compiled first"), "{plan}");
        assert_eq!(passed_over(&plan).unwrap().variant.family, Family::Rns);
        let plan = cuda.plan(&many).unwrap();
        assert!(plan.family() == Family::Rns && passed_over(&plan).is_none(), "{plan}");
        assert_eq!(cuda.plan(&Request::new(Op::Pow, 1024, 200_000)).unwrap().family(), Family::Rns);
    }

    #[test]
    fn batches_wait_while_kernels_are_warmed() {
        let cuda = cuda(true);
        let family = || cuda.plan(&Request::new(Op::Pow, 4096, 20_000)).unwrap().family();
        assert_eq!(cuda.warm_by(family), Family::Rns);
        assert_ne!(family(), Family::Rns);
        // Also if a call panics.
        let panics = std::panic::AssertUnwindSafe(|| cuda.warm_by(|| panic!("as tests do")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_ne!(family(), Family::Rns);
    }

    /// Batches that do not wait lose less than the time of compiling, all together.
    #[test]
    fn the_loss_is_bounded() {
        let cuda = cuda(true);
        let request = Request::new(Op::Pow, 4096, 20_000);
        let mut lost = 0.0;
        let best = loop {
            let plan = cuda.plan(&request).unwrap();
            let Some(passed_over) = passed_over(&plan) else { break plan };
            assert!(passed_over.loss > 0.0);
            cuda.patience.note(&passed_over);
            lost += passed_over.loss;
        };
        assert_eq!(best.family(), Family::Rns);
        let compiling = compile_seconds(&cuda.variant_of(&best).unwrap());
        assert!(lost > 0.0 && lost < compiling, "{lost} s were lost, and compiling takes {compiling} s");
    }
}
