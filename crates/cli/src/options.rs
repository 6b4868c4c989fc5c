//! Options that several commands share.

use crate::failure::Failure;
use modmill::{Backend, Engine, EngineBuilder, Family};

/// A backend asked for; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendChoice(Option<Backend>);

const BACKEND: &str = "MODMILL_BACKEND";

fn parse_backend(text: &str) -> Result<BackendChoice, String> {
    if matches!(text, "" | "auto") {
        return Ok(BackendChoice(None));
    }
    text.parse().map(|backend| BackendChoice(Some(backend))).map_err(|unknown: String| {
        let from_outside = std::env::var(BACKEND).is_ok_and(|value| value == text);
        let unknown = format!("{unknown}, auto");
        if from_outside { format!("{unknown} ({BACKEND} is set)") } else { unknown }
    })
}

/// An algorithm asked for; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FamilyChoice(Option<Family>);

fn parse_family(text: &str) -> Result<FamilyChoice, String> {
    if text == "auto" {
        Ok(FamilyChoice(None))
    } else {
        let unknown = |unknown: String| format!("{unknown}, auto");
        text.parse().map(|family| FamilyChoice(Some(family))).map_err(unknown)
    }
}

/// Where to compute.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendOption {
    /// Where to compute: auto (where it is done first), cpu, or cuda (NVIDIA GPUs)
    #[arg(long, env = BACKEND, hide_env_values = true)]
    #[arg(value_name = "NAME", default_value = "auto", value_parser = parse_backend)]
    pub(crate) backend: BackendChoice,
}

impl BackendOption {
    /// Whether GPUs are asked for.
    pub(crate) fn is_cuda(&self) -> bool {
        self.backend.0 == Some(Backend::Cuda)
    }

    /// Settings of an engine here, on so many threads; 0 means all cores.
    pub(crate) fn builder(&self, threads: usize) -> EngineBuilder {
        // What the environment says is the option's value where none is given.
        let builder = match self.backend.0 {
            Some(backend) => Engine::builder().backend(backend),
            None => Engine::builder().ignore_backend_env(),
        };
        if threads > 0 { builder.threads(threads) } else { builder }
    }
}

/// The engine a command computes with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EngineOptions {
    #[command(flatten)]
    pub(crate) backend: BackendOption,
    /// Force one family of algorithms: row, two_pass, wide, narrow, ifma, rns or fft
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_family)]
    pub(crate) algorithm: FamilyChoice,
    /// Worker threads; 0 means all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    pub(crate) threads: u16,
}

impl EngineOptions {
    /// Settings of an engine that chooses its algorithm.
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
