//! A device with the kernels it has loaded.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::fft::{Length, Transforms, programs_for};
use crate::kernels::Kernels;
use crate::memo::Memo;
use crate::part::Part;
use crate::variant::Variant;
use std::sync::Arc;

/// A device with the kernels it has loaded so far. Kernels are compiled when they are first asked for.
pub(crate) struct LoadedDevice {
    pub(crate) device: Device,
    kernels: Memo<Variant, Arc<Kernels>>,
    transforms: Memo<(), Arc<Transforms>>,
    /// The variants of powers and of checks, and the parts of powers, whose programs for RSA are compiled.
    rsa: Memo<(Variant, Variant, Part), ()>,
}

impl LoadedDevice {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, kernels: Memo::new(), transforms: Memo::new(), rsa: Memo::new() }
    }

    /// The kernels of a variant.
    pub(crate) fn kernels(&self, variant: Variant) -> Result<Arc<Kernels>> {
        self.kernels.get(&variant, || match variant.exists(self.device.limits()) {
            true => Ok(Arc::new(Kernels::new(&self.device, variant))),
            false => Err(Error::NoKernel { name: format!("for {variant:?}") }),
        })
    }

    /// Compiles all programs of private operations of RSA side by side, the first time that they are asked
    /// for: powers by one part of the variant `power`, and a check by the variant `check`.
    pub(crate) fn compile_rsa(&self, power: Variant, check: Variant, part: Part) -> Result<()> {
        // The emulated device has all parts of a variant in one program.
        if self.device.properties().emulated {
            return Ok(());
        }
        self.rsa.get(&(power, check, part), || {
            let programs = [
                power.program(part),
                power.merged_program(part),
                power.program(Part::Conversion),
                power.garner_program(),
                check.public_program(),
            ];
            self.device.compile_all(&programs.into_iter().flatten().collect::<Vec<_>>()).map(drop)
        })
    }

    /// The kernels and tables of transforms. The first call compiles what transforms of `length` need side by
    /// side; what other lengths need beyond that is compiled when they need it.
    pub(crate) fn transforms(&self, length: &Length) -> Result<Arc<Transforms>> {
        self.transforms.get(&(), || {
            self.device.compile_all(&programs_for(length, self.device.limits()))?;
            Ok(Arc::new(Transforms::load(&self.device)?))
        })
    }
}
