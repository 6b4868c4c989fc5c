//! Options that several commands share.

use crate::failure::Failure;
use modmill::{Backend, Engine, Family};

/// A backend asked for; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendChoice(Option<Backend>);

impl BackendChoice {
    /// Refuses what an engine of this build cannot be told to use.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self.0 {
            None | Some(Backend::Cpu) => Ok(()),
            Some(other) => Err(Failure::Usage(format!("the backend {other} cannot be forced in this build"))),
        }
    }
}

const BACKEND: &str = "MODMILL_BACKEND";

pub(crate) fn parse_backend(text: &str) -> Result<BackendChoice, String> {
    if matches!(text, "" | "auto") {
        return Ok(BackendChoice(None));
    }
    text.parse().map(|backend| BackendChoice(Some(backend))).map_err(|unknown: String| {
        let reason = match text {
            "cuda" | "gpu" => "this build has no CUDA backend; use cpu, or leave it out".to_owned(),
            _ => unknown,
        };
        let from_outside = std::env::var(BACKEND).is_ok_and(|value| value == text);
        if from_outside { format!("{reason} ({BACKEND} is set)") } else { reason }
    })
}

/// An algorithm asked for; `None` lets the engine choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FamilyChoice(pub(crate) Option<Family>);

pub(crate) fn parse_family(text: &str) -> Result<FamilyChoice, String> {
    if text == "auto" {
        Ok(FamilyChoice(None))
    } else {
        text.parse().map(|family| FamilyChoice(Some(family)))
    }
}

/// Where to compute.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendOption {
    /// Where to compute: auto or cpu
    #[arg(long, env = BACKEND, hide_env_values = true)]
    #[arg(value_name = "NAME", default_value = "auto", value_parser = parse_backend)]
    pub(crate) backend: BackendChoice,
}

/// The engine a command computes with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EngineOptions {
    #[command(flatten)]
    pub(crate) backend: BackendOption,
    /// Force one family of algorithms: row, wide or ifma
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_family)]
    pub(crate) algorithm: FamilyChoice,
    /// Worker threads; 0 means all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    pub(crate) threads: u16,
}

impl EngineOptions {
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        self.backend.backend.check()?;
        Ok(engine(self.algorithm.0, self.threads.into())?)
    }
}

/// An engine that chooses its path, or is held to a family.
pub(crate) fn engine(family: Option<Family>, threads: usize) -> Result<Engine, modmill::Error> {
    let mut builder = Engine::builder();
    if let Some(family) = family {
        builder = builder.family(family);
    }
    if threads > 0 {
        builder = builder.threads(threads);
    }
    builder.build()
}
