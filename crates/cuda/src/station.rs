//! A device with the kernels it has loaded, and batches shared out among devices.

use crate::backend::Cuda;
use crate::device::{Device, prefer_large_pages};
use crate::error::{Error, Result};
use crate::fft::Transforms;
use crate::kernels::Kernels;
use crate::variant::Variant;
use modmill_core::Batch;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A device with the kernels it has loaded.
pub(crate) struct Station {
    pub(crate) device: Device,
    kernels: Mutex<HashMap<Variant, Kernels>>,
    transforms: Mutex<Option<Arc<Transforms>>>,
}

impl Station {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, kernels: Mutex::default(), transforms: Mutex::default() }
    }

    pub(crate) fn kernels(&self, variant: Variant) -> Result<Kernels> {
        let known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&variant).cloned();
        if let Some(kernels) = known {
            return Ok(kernels);
        }
        if !variant.exists(self.device.limits()) {
            return Err(Error::NoKernel { name: format!("for {variant:?}") });
        }
        let kernels = Kernels::load(&self.device, variant)?;
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(variant, kernels.clone());
        Ok(kernels)
    }

    pub(crate) fn transforms(&self) -> Result<Arc<Transforms>> {
        let mut transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transforms) = &*transforms {
            return Ok(transforms.clone());
        }
        Ok(transforms.insert(Arc::new(Transforms::load(&self.device)?)).clone())
    }
}

impl Cuda {
    /// Has every device compute a part of the items, into its part of the answers; returns the most seconds
    /// of a device.
    pub(crate) fn share_out(
        &self,
        items: &[usize],
        answers: &mut Batch,
        work: impl Fn(&Station, &[usize], &mut [u64]) -> Result<f64> + Sync,
    ) -> Result<f64> {
        let share = items.len().div_ceil(self.stations.len()).max(1);
        let stride = answers.stride();
        prefer_large_pages(answers.as_limbs_mut());
        let mut parts = self
            .stations
            .iter()
            .zip(items.chunks(share))
            .zip(answers.as_limbs_mut().chunks_mut(share * stride));
        let work = |((station, items), out): ((&Station, &[usize]), &mut [u64])| work(station, items, out);
        std::thread::scope(|scope| {
            let own = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
            let mut slowest: f64 = own.map_or(Ok(0.0), work)?;
            for other in others {
                let lost = |_| Err(Error::Lost { reason: "its thread ended early".to_owned() });
                slowest = f64::max(slowest, other.join().unwrap_or_else(lost)?);
            }
            Ok(slowest)
        })
    }
}
