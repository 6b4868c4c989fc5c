//! A device with the kernels it has loaded.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::fft::{Length, Transforms, programs_for};
use crate::kernels::Kernels;
use crate::part::Part;
use crate::variant::Variant;
use modmill_core::sync::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A device with the kernels it has loaded so far. Kernels are compiled when they are first asked for.
pub(crate) struct LoadedDevice {
    pub(crate) device: Device,
    kernels: Mutex<HashMap<Variant, Kernels>>,
    transforms: Mutex<Option<Arc<Transforms>>>,
    /// The variants of powers and of checks, and the parts of powers, whose programs for RSA are compiled.
    rsa: Mutex<HashSet<(Variant, Variant, Part)>>,
}

impl LoadedDevice {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, kernels: Mutex::default(), transforms: Mutex::default(), rsa: Mutex::default() }
    }

    /// The kernels of a variant.
    pub(crate) fn kernels(&self, variant: Variant) -> Result<Kernels> {
        let known = self.kernels.lock().get(&variant).cloned();
        if let Some(kernels) = known {
            return Ok(kernels);
        }
        if !variant.exists(self.device.limits()) {
            return Err(Error::NoKernel { name: format!("for {variant:?}") });
        }
        let kernels = Kernels::new(&self.device, variant);
        self.kernels.lock().insert(variant, kernels.clone());
        Ok(kernels)
    }

    /// Compiles all programs of private operations of RSA side by side, the first time that they are asked
    /// for: powers by one part of the variant `power`, and a check by the variant `check`.
    pub(crate) fn compile_rsa(&self, power: Variant, check: Variant, part: Part) -> Result<()> {
        let compiled = || self.rsa.lock();
        if compiled().contains(&(power, check, part)) {
            return Ok(());
        }
        let programs = [
            power.program(part),
            power.merged_program(part),
            power.program(Part::Conversion),
            power.garner_program(),
            check.public_program(),
        ];
        // The emulated device has all parts of a variant in one program.
        if !self.device.properties().emulated {
            self.device.compile_all(&programs.into_iter().flatten().collect::<Vec<_>>())?;
        }
        compiled().insert((power, check, part));
        Ok(())
    }

    /// The kernels and tables of transforms. The first call compiles what transforms of `length` need side by
    /// side; what other lengths need beyond that is compiled when they need it.
    pub(crate) fn transforms(&self, length: &Length) -> Result<Arc<Transforms>> {
        let mut transforms = self.transforms.lock();
        if let Some(transforms) = &*transforms {
            return Ok(transforms.clone());
        }
        self.device.compile_all(&programs_for(length, self.device.limits()))?;
        Ok(transforms.insert(Arc::new(Transforms::load(&self.device)?)).clone())
    }
}
