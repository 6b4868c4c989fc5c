//! The GPUs of this machine, through NVIDIA's driver.

mod api;
mod gpu;
#[cfg(test)]
mod tests;

use crate::compiler::Compiler;
use crate::device::Device;
use crate::error::{Error, Result};
use api::Api;
use gpu::Gpu;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

/// The environment variable that names devices.
pub(crate) const VARIABLE: &str = "MODMILL_CUDA_DEVICES";

/// The GPUs that were found.
#[derive(Debug)]
pub struct Gpus {
    /// The GPUs that can be used; at least one.
    pub devices: Vec<Device>,
    /// Why other GPUs cannot be used.
    pub failed: Vec<Error>,
}

/// The GPUs that a list of numbers names, as far as they can be used; without a list all of them.
pub(crate) fn gpus(wanted: Option<&str>) -> Result<Gpus> {
    static DRIVER: OnceLock<Result<Arc<Api>>> = OnceLock::new();
    let api = DRIVER.get_or_init(|| Api::of_system().map(Arc::new)).clone()?;
    gpus_of(&api, Compiler::from_environment(), wanted)
}

fn gpus_of(api: &Arc<Api>, compiler: Compiler, wanted: Option<&str>) -> Result<Gpus> {
    let ordinals = ordinals(wanted, count(api)?)?;
    let compiler = Arc::new(compiler);
    let (mut devices, mut failed) = (Vec::new(), Vec::new());
    for ordinal in ordinals {
        match Gpu::new(api.clone(), compiler.clone(), ordinal) {
            Ok(gpu) => devices.push(Device::new(Box::new(gpu))),
            Err(error) => failed.push(error),
        }
    }
    match devices.is_empty() {
        true => Err(failed.into_iter().next().unwrap_or(Error::NoDevice)),
        false => Ok(Gpus { devices, failed }),
    }
}

#[allow(unsafe_code)]
fn count(api: &Api) -> Result<u32> {
    let mut count: c_int = 0;
    // SAFETY: the driver has started; writes a number.
    api.check("cuDeviceGetCount", unsafe { (api.device_count)(&mut count) })?;
    Ok(count as u32)
}

/// The GPUs that a list of numbers names, in its order; without a list all of them.
fn ordinals(wanted: Option<&str>, count: u32) -> Result<Vec<u32>> {
    let Some(list) = wanted else { return Ok((0..count).collect()) };
    let refused = |reason: String| Error::Setting { name: VARIABLE, reason };
    let mut ordinals = Vec::new();
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let ordinal: u32 =
            text.parse().map_err(|_| refused(format!("{text:?} is not the number of a GPU")))?;
        if ordinal >= count {
            return Err(refused(format!("there is no GPU {ordinal}; this machine has {count}")));
        }
        if !ordinals.contains(&ordinal) {
            ordinals.push(ordinal);
        }
    }
    Ok(ordinals)
}
