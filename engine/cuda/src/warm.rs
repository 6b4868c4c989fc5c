//! Kernels compiled before they are needed.

use crate::backend::Cuda;
use crate::bundle::MachineCodeEntry;
use crate::error::Result;
use crate::modular::KernelPlan;
use crate::planning::Recipe;
use crate::task::{Reads, Task};
use modmill_core::{ModuliForm, Op, Plan, Request};

/// The public exponent of nearly all RSA keys.
const PUBLIC_EXPONENT: [u64; 1] = [65_537];

impl Cuda {
    /// Compiles what a plan of this backend runs, on every device, and keeps it in the cache of kernels. It
    /// does nothing for a plan of another backend.
    pub fn warm(&self, plan: &Plan) -> Result<()> {
        for loaded in self.loaded() {
            match plan.recipe.get() {
                Some(Recipe::Kernels(KernelPlan { variant, task, .. }, passed_over)) => {
                    let variant = passed_over.map_or(*variant, |passed_over| passed_over.variant);
                    loaded.kernels(variant)?.of(task, true)?;
                    let is_one = plan.request.moduli == ModuliForm::Shared;
                    let merged = variant.merged_program(task.part());
                    if let Some(program) = merged.filter(|_| is_one && task.is_power()) {
                        loaded.device.compile(&program)?;
                    }
                }
                Some(Recipe::Transforms(choice)) => {
                    loaded.transforms(&choice.length)?;
                }
                Some(Recipe::Digits(steps)) => {
                    loaded.device.compile(&steps.program())?;
                }
                Some(Recipe::FixedBase | Recipe::Step) | None => {}
            }
        }
        Ok(())
    }

    /// Compiles what private and public operations of RSA run for `count` items and keys of `bits` bits with
    /// two primes and the public exponent 65537. Returns whether there are kernels for them.
    pub fn warm_rsa(&self, bits: usize, count: usize) -> Result<bool> {
        let request = Request {
            shortest_bits: 64 * bits.div_ceil(128),
            check: Some(PUBLIC_EXPONENT.into()),
            ..Request::new(Op::CrtPow, bits, count).exponents_of(bits.div_ceil(2))
        };
        let Some(plan) = self.plan_crt(&request) else { return Ok(false) };
        let task = Task::power(Reads::Whole, request.exponent_bits(), plan.window)?;
        for loaded in self.loaded() {
            loaded.compile_rsa(plan.power, plan.check, task.part())?;
        }
        Ok(true)
    }

    /// Runs `work`. Meanwhile every batch waits for the kernels that suit it best, however long they take to
    /// compile, so that they are in the cache of kernels afterwards.
    pub fn warm_by<T>(&self, work: impl FnOnce() -> T) -> T {
        let _endless = self.patience.endless();
        work()
    }

    /// The machine code of all kernels that are loaded, for a [bundle](crate::bundle). Devices of one kind
    /// have the same.
    pub fn machine_code(&self) -> Result<Vec<MachineCodeEntry>> {
        let mut all: Vec<MachineCodeEntry> = Vec::new();
        for device in self.devices() {
            for entry in device.machine_code()? {
                if all.iter().all(|(key, _)| *key != entry.0) {
                    all.push(entry);
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Settings;
    use crate::cache::Cache;
    use crate::device::Device;
    use crate::emulator::Faults;
    use crate::error::Error;
    use modmill_core::{Family, Op, Request};

    /// `warm` leaves the kernels in the cache, and a second device compiles nothing more.
    #[test]
    fn a_warm_cache_has_what_a_plan_runs() {
        let folder = tempfile::tempdir().unwrap();
        let entries = || std::fs::read_dir(folder.path()).map_or(0, Iterator::count);
        let cuda = || {
            let device = Device::emulator_with(Faults::default(), Cache::at(folder.path().to_owned()));
            Cuda::on(vec![device], Settings { family: Some(Family::Row), ..Settings::default() })
        };
        let first = cuda();
        let plan = first.plan(&Request::new(Op::MulMod, 128, 4)).unwrap();
        match first.warm(&plan) {
            Err(Error::NoHostCompiler { reason }) => return println!("skipped: {reason}"),
            result => result.unwrap(),
        }
        let compiled = entries();
        assert!(compiled > 0, "nothing was compiled");
        cuda().warm(&plan).unwrap();
        assert_eq!(entries(), compiled, "the second device finds everything");
        assert_eq!(first.machine_code(), Ok(Vec::new()), "no other process can load what is emulated");
    }
}
