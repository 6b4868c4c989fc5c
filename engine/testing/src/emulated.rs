//! Engines on an emulated GPU.

use modmill::{Backend, Engine, EngineBuilder};
use modmill_cuda::cache::Cache;
use modmill_cuda::{Device, Faults};
use std::process::Command;

/// Whether tests run on this machine's GPUs instead of the emulated device.
#[must_use]
pub fn is_gpu() -> bool {
    std::env::var_os("MODMILL_TEST_DEVICE").is_some_and(|value| value == "gpu")
}

/// An engine on an emulated device that fails as `faults` tells; `None` if there is no C++ compiler to make
/// its kernels. All test programs share the compiled kernels, in the user's cache.
///
/// With `MODMILL_TEST_DEVICE=gpu` tests without faults run on this machine's GPUs.
#[must_use]
pub fn engine(faults: Faults) -> Option<EngineBuilder> {
    if is_gpu() && faults == Faults::default() {
        return Some(Engine::builder().backend(Backend::Cuda));
    }
    let compiler = std::env::var("CXX").unwrap_or("c++".to_owned());
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: no C++ compiler");
        return None;
    }
    let device = Device::emulator_with(faults, Cache::from_environment());
    Some(Engine::builder().devices(vec![device]).backend(Backend::Cuda))
}
