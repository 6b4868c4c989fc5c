//! The small calls of an engine.

use super::Callers;
use super::blocks::{CrtAnswer, CrtPart, CrtShape};
use super::jobs::{JobAnswer, JobPart, JobShape};
use super::load::Load;

/// The small calls of an engine that are under way.
#[derive(Default)]
pub(crate) struct SmallCalls {
    pub(crate) jobs: Callers<JobShape, JobPart, JobAnswer>,
    pub(crate) job_load: Load<JobShape>,
    pub(crate) private: Callers<CrtShape, CrtPart, CrtAnswer>,
    /// Private operations of RSA, by the bits of their moduli.
    pub(crate) private_load: Load<usize>,
}

/// How a small call goes on.
pub(crate) enum Turn<Alone, Answer> {
    /// The caller computes it.
    Alone(Option<Alone>),
    /// It was computed together with others.
    Joined(Answer),
}
