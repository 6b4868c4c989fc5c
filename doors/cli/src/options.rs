//! Options that several commands share.

use crate::failure::Failure;
use modmill::{Backend, Engine, EngineBuilder, Family};

/// The value of `--backend`; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendChoice(Option<Backend>);

const BACKEND: &str = "MODMILL_BACKEND";

/// Reads the name of a backend in any case. An empty environment variable is no choice.
fn parse_backend(given: &str) -> Result<BackendChoice, String> {
    let text = given.to_ascii_lowercase();
    if matches!(text.as_str(), "" | "auto") {
        return Ok(BackendChoice(None));
    }
    text.parse().map(|backend| BackendChoice(Some(backend))).map_err(|unknown: String| {
        let is_from_environment = std::env::var(BACKEND).is_ok_and(|value| value == given);
        let unknown = format!("{unknown}, auto");
        if is_from_environment { format!("{unknown} ({BACKEND} is set)") } else { unknown }
    })
}

/// The value of `--algorithm`; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FamilyChoice(Option<Family>);

/// Reads the name of a family of algorithms in any case.
fn parse_family(text: &str) -> Result<FamilyChoice, String> {
    let text = text.to_ascii_lowercase();
    if text == "auto" {
        Ok(FamilyChoice(None))
    } else {
        let unknown = |unknown: String| format!("{unknown}, auto");
        text.parse().map(|family| FamilyChoice(Some(family))).map_err(unknown)
    }
}

/// The backend that computes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendOption {
    /// Backend: auto (the one that is expected to finish first), cpu, or cuda (NVIDIA GPUs)
    #[arg(long, env = BACKEND, hide_env_values = true)]
    #[arg(value_name = "NAME", default_value = "auto", value_parser = parse_backend)]
    pub(crate) backend: BackendChoice,
}

impl BackendOption {
    /// Whether the user asked for GPUs.
    pub(crate) fn is_cuda(&self) -> bool {
        self.backend.0 == Some(Backend::Cuda)
    }

    /// Settings of an engine with this backend and `threads` worker threads; 0 means one for each core.
    pub(crate) fn builder(&self, threads: usize) -> EngineBuilder {
        // The option already has the value of the environment variable.
        let builder = match self.backend.0 {
            Some(backend) => Engine::builder().backend(backend),
            None => Engine::builder().ignore_backend_env(),
        };
        if threads > 0 { builder.threads(threads) } else { builder }
    }
}

/// The engine that a command computes with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EngineOptions {
    #[command(flatten)]
    pub(crate) backend: BackendOption,
    /// Family of algorithms: auto, row, two_pass, wide, narrow, ifma, rns or fft
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_family)]
    pub(crate) algorithm: FamilyChoice,
    /// Worker threads; 0 means one for each core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    pub(crate) threads: u16,
}

impl EngineOptions {
    /// Settings of an engine that chooses the algorithm itself.
    pub(crate) fn builder(&self) -> EngineBuilder {
        self.backend.builder(self.threads.into())
    }

    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        let builder = self.builder();
        let builder = match self.algorithm.0 {
            Some(family) => builder.family(family),
            None => builder,
        };
        Ok(builder.build()?)
    }
}

/// The memory for records.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MemoryOption {
    /// Memory for records on their way from the input to the output; one record may take more
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    pub(crate) memory: u64,
}

/// The limit on lines of JSON.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LineOption {
    /// Longest line of JSON Lines, in bytes; K, M and G multiply by 1024, 1024^2 and 1024^3
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    pub(crate) max_line: u64,
}

/// Reads a number of bytes with an optional binary unit.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)].into_iter();
    let with_unit = |(unit, shift): (char, u32)| {
        text.strip_suffix([unit, unit.to_ascii_lowercase()]).map(|digits| (digits, shift))
    };
    let (digits, shift) = units.filter_map(with_unit).next().unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.filter(|&size| size > 0).ok_or_else(|| "not a size such as 4096, 64K, 512M or 16G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let cases = [("1", 1), ("4096", 4096), ("64K", 65_536), ("512m", 512 << 20), ("16G", 16 << 30)];
        for (text, size) in cases {
            assert_eq!(parse_size(text), Ok(size));
        }
        for text in ["", "K", "0", "-1", "1T", "1.5G", "99999999999999999G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(parse_backend("CPU").unwrap().0, Some(Backend::Cpu));
        assert_eq!((parse_backend("").unwrap().0, parse_backend("Auto").unwrap().0), (None, None));
        assert_eq!(parse_family("RNS").unwrap().0, Some(Family::Rns));
        assert!(parse_family("").is_err());
    }
}
