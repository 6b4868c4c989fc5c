//! Engines on an emulated GPU.

use modmill::{Backend, Engine, EngineBuilder};
use modmill_cuda::cache::Cache;
use modmill_cuda::{Device, Faults};
use std::path::Path;
use std::process::Command;

/// An engine on an emulated device that fails as `faults` tells. Its compiled kernels are cached in a folder.
/// `None` if there is no C++ compiler to make them.
#[must_use]
pub fn engine(faults: Faults, folder: &str) -> Option<EngineBuilder> {
    let compiler = std::env::var("CXX").unwrap_or("c++".to_owned());
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: no C++ compiler");
        return None;
    }
    let cache = Cache::at(Path::new(folder).join("cuda-cache"));
    Some(Engine::builder().devices(vec![Device::emulator_with(faults, cache)]).backend(Backend::Cuda))
}
