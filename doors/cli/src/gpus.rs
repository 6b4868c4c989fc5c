//! The GPUs that an engine uses, or why it uses none.

use modmill::Engine;
use modmill_cuda::{Cuda, Device, Properties, compiler};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The GPUs of an engine and the compiler of their kernels.
pub(crate) struct Gpus {
    pub(crate) devices: Vec<Properties>,
    /// Why other GPUs are not used, and which batches the CPU finished after a GPU failed.
    pub(crate) faults: Vec<String>,
    /// The version of NVRTC, or why there is none.
    pub(crate) compiler: Result<String, String>,
    /// The file that NVRTC was loaded from.
    pub(crate) compiler_file: Option<PathBuf>,
    /// Problems that did not stop anything.
    pub(crate) warnings: Vec<String>,
}

pub(crate) fn found(engine: &Engine) -> Gpus {
    let devices = engine.cuda().into_iter().flat_map(Cuda::devices);
    Gpus {
        devices: devices.map(Device::properties).cloned().collect(),
        faults: engine.faults(),
        compiler: compiler::version(),
        compiler_file: compiler::file(),
        warnings: engine.cuda().map(Cuda::warnings).unwrap_or_default(),
    }
}

pub(crate) fn to_json(gpu: &Properties) -> Value {
    let (major, minor) = gpu.limits.capability;
    json!({
        "name": gpu.name,
        "ordinal": gpu.ordinal,
        "capability": format!("{major}.{minor}"),
        "multiprocessors": gpu.limits.multiprocessors,
        "memory_bytes": gpu.memory_bytes,
        "driver": gpu.driver,
        "emulated": gpu.emulated,
    })
}

impl Gpus {
    /// Facts for people: a name and a text each.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        for gpu in &self.devices {
            let (major, minor) = gpu.limits.capability;
            facts.push((
                "GPU",
                format!(
                    "{}: {}, compute capability {major}.{minor}, {} multiprocessors, {} GiB, driver for CUDA {}",
                    gpu.ordinal,
                    gpu.name,
                    gpu.limits.multiprocessors,
                    gpu.memory_bytes >> 30,
                    gpu.driver
                ),
            ));
        }
        match (self.devices.is_empty(), self.faults.first()) {
            (true, Some(why)) => facts.push(("GPU", format!("none: {why}"))),
            (true, None) => facts.push(("GPU", "not looked for".to_owned())),
            (false, _) => {}
        }
        facts.push(match &self.compiler {
            Ok(version) => {
                let file = self.compiler_file.iter().map(|file| format!(" ({})", file.display()));
                ("kernel compiler", format!("NVRTC {version}{}", file.collect::<String>()))
            }
            Err(why) => ("kernel compiler", format!("none: {why}")),
        });
        facts.extend(self.warnings.iter().map(|warning| ("warning", warning.clone())));
        facts
    }
}
