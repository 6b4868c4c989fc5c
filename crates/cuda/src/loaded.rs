//! A device with the kernels it has loaded.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::fft::{Length, Transforms, programs_for};
use crate::kernels::Kernels;
use crate::variant::Variant;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A device with the kernels it has loaded so far. Kernels are compiled when they are first asked for.
pub(crate) struct LoadedDevice {
    pub(crate) device: Device,
    kernels: Mutex<HashMap<Variant, Kernels>>,
    transforms: Mutex<Option<Arc<Transforms>>>,
}

impl LoadedDevice {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, kernels: Mutex::default(), transforms: Mutex::default() }
    }

    /// The kernels of a variant.
    pub(crate) fn kernels(&self, variant: Variant) -> Result<Kernels> {
        let known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&variant).cloned();
        if let Some(kernels) = known {
            return Ok(kernels);
        }
        if !variant.exists(self.device.limits()) {
            return Err(Error::NoKernel { name: format!("for {variant:?}") });
        }
        let kernels = Kernels::new(&self.device, variant);
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(variant, kernels.clone());
        Ok(kernels)
    }

    /// The kernels and tables of transforms. The first call compiles what transforms of `length` need side by side;
    /// what other lengths need beyond that is compiled when they need it.
    pub(crate) fn transforms(&self, length: &Length) -> Result<Arc<Transforms>> {
        let mut transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transforms) = &*transforms {
            return Ok(transforms.clone());
        }
        self.device.compile_all(&programs_for(length, self.device.limits()))?;
        Ok(transforms.insert(Arc::new(Transforms::load(&self.device)?)).clone())
    }
}
