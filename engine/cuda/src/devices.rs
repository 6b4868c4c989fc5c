//! The devices of this machine: its GPUs, and emulated ones.

use crate::cache::Cache;
use crate::device::{Chip, Device, Limits};
use crate::driver::{self, Gpus, VARIABLE};
use crate::emulator::{Emulator, Faults};
use crate::error::{Error, Result};
use std::env;

/// Multiprocessors of an emulated device: few, so that a batch of a few numbers is several waves.
const EMULATED_MULTIPROCESSORS: u32 = 2;

impl Device {
    /// The devices that `MODMILL_CUDA_DEVICES` names; all GPUs of this machine if it is not set. Its value is
    /// a list of numbers of GPUs, separated by commas, or `emulator`, or `emulator:` and the name of a
    /// [`Chip`] whose limits the emulated device has.
    pub fn from_environment() -> Result<Gpus> {
        let wanted = wanted();
        let emulated = |device| Ok(Gpus { devices: vec![device], failed: Vec::new() });
        match wanted.as_deref().and_then(|value| value.strip_prefix("emulator")) {
            Some("") => emulated(Self::emulator()),
            Some(chip) => {
                let chip = chip.strip_prefix(':').unwrap_or(chip).parse();
                emulated(Self::emulator_like(
                    chip.map_err(|reason| Error::Setting { name: VARIABLE, reason })?,
                ))
            }
            None => driver::gpus(wanted.as_deref()),
        }
    }

    /// The GPUs of this machine, or the GPUs that `MODMILL_CUDA_DEVICES` names by their numbers. An error if
    /// none can be used.
    pub fn gpus() -> Result<Gpus> {
        driver::gpus(wanted().as_deref())
    }

    /// The emulated device: it runs the kernels' sources on the CPU, slowly, for tests. It exists on every
    /// machine with a C++ compiler, and is chosen only where it is named.
    #[must_use]
    pub fn emulator() -> Self {
        Self::emulator_with(Faults::default(), Cache::from_environment())
    }

    /// An emulated device with the faults of `faults`, which keeps compiled kernels in `cache`. It has the
    /// limits of an H200.
    #[must_use]
    pub fn emulator_with(faults: Faults, cache: Cache) -> Self {
        Self::emulated("emulated device".to_owned(), Chip::H200, faults, cache)
    }

    /// An emulated device with the limits of a chip. It refuses launches that the chip refuses.
    #[must_use]
    pub fn emulator_like(chip: Chip) -> Self {
        let name = format!("emulated {}", chip.device_name());
        Self::emulated(name, chip, Faults::default(), Cache::from_environment())
    }

    fn emulated(name: String, chip: Chip, faults: Faults, cache: Cache) -> Self {
        let limits = Limits { multiprocessors: EMULATED_MULTIPROCESSORS, ..chip.limits() };
        Self::new(Box::new(Emulator::new(name, limits, faults, cache)))
    }
}

/// The value of the variable, unless it is empty.
fn wanted() -> Option<String> {
    env::var(VARIABLE).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
