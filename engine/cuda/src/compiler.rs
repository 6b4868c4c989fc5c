//! Machine code of a program for one architecture: out of the cache, out of a bundle, or compiled.

mod find;
mod machine_code;
mod nvrtc;
mod program;
pub(crate) mod watch;

pub use crate::digest::Digest;
pub use machine_code::MachineCode;
pub use program::{Architecture, Program, code_key};
pub use watch::watch;

use crate::bundle::Bundle;
use crate::cache::Cache;
use crate::error::{Error, Result};
use nvrtc::Nvrtc;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use watch::Compilation;

/// Compiles programs, and keeps their machine code.
#[derive(Debug)]
pub struct Compiler {
    cache: Cache,
    bundle: Option<Bundle>,
    warnings: Vec<String>,
}

impl Compiler {
    /// A compiler that keeps machine code in `cache`, and finds machine code in `bundle`.
    #[must_use]
    pub fn new(cache: Cache, bundle: Option<Bundle>) -> Self {
        Self { cache, bundle, warnings: Vec::new() }
    }

    /// A compiler with the cache and the bundle that the environment names.
    #[must_use]
    pub fn from_environment() -> Self {
        let cache = Cache::from_environment();
        match Bundle::from_environment() {
            Ok(bundle) => Self::new(cache, bundle),
            Err(warning) => Self { cache, bundle: None, warnings: vec![warning] },
        }
    }

    /// Machine code (CUBIN) of a program. The bundle comes before the compiler, and serves alone on a host
    /// without compiler.
    pub fn code(&self, program: &Program, architecture: Architecture) -> Result<Vec<u8>> {
        let key = code_key(program, architecture);
        let bundled = || self.bundle.as_ref().and_then(|bundle| bundle.get(&key));
        let nvrtc = match nvrtc() {
            Ok(nvrtc) => nvrtc,
            Err(reason) => {
                let missing = || Error::NoCompiler { program: program.name.clone(), reason: reason.clone() };
                return bundled().ok_or_else(missing);
            }
        };
        let cache_key = Digest::of(&[key.bytes(), nvrtc.version().as_bytes()]);
        if let Some(code) = self.cache.get(&cache_key) {
            return Ok(code);
        }
        if let Some(code) = bundled() {
            return Ok(code);
        }
        let _compilation = Compilation::begin();
        let code = nvrtc.compile(program, architecture)?;
        self.cache.put(&cache_key, &code);
        Ok(code)
    }

    /// Whether the machine code of a program is at hand, or there is no compiler that would take its time.
    #[must_use]
    pub fn has_code(&self, program: &Program, architecture: Architecture) -> bool {
        let key = code_key(program, architecture);
        let is_bundled = || self.bundle.as_ref().is_some_and(|bundle| bundle.get(&key).is_some());
        nvrtc().map_or(true, |nvrtc| {
            let cache_key = Digest::of(&[key.bytes(), nvrtc.version().as_bytes()]);
            self.cache.has(&cache_key) || is_bundled()
        })
    }

    /// Faults that stopped nothing, such as a cache that cannot be used.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.cache.warnings()).collect()
    }
}

/// The version of the compiler that is used, or why there is none.
pub fn version() -> std::result::Result<String, String> {
    nvrtc().map(|nvrtc| nvrtc.version().to_owned())
}

/// The file that the compiler was loaded from, where that is known.
#[must_use]
pub fn file() -> Option<PathBuf> {
    nvrtc().ok().and_then(|nvrtc| nvrtc.file().map(Path::to_owned))
}

/// NVRTC, loaded at first use and kept.
fn nvrtc() -> std::result::Result<&'static Nvrtc, String> {
    static NVRTC: OnceLock<std::result::Result<Nvrtc, String>> = OnceLock::new();
    NVRTC.get_or_init(find::nvrtc).as_ref().map_err(Clone::clone)
}
