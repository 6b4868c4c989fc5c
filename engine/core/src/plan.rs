//! A plan: how a request is computed, and why. The backend that made a plan runs it as it stands.

use crate::{Backend, Family, Op, Path, Request};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// How a request is computed, by which backend, and why.
///
/// `explain` prints a plan, and the engine runs that same value.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The request that the plan answers.
    pub request: Request,
    /// The backend, instruction set and family of algorithms.
    pub path: Path,
    /// How the family is laid out here: lanes and threads of a CPU, threads and blocks of a GPU, points of a
    /// transform.
    pub variant: String,
    /// Items that one thread computes side by side.
    pub lanes: usize,
    /// Worker threads of a CPU; on a GPU, threads that share one number.
    pub threads: usize,
    /// Bits of an exponent window. For public exponents, that of the longest exponent.
    pub window: Option<u32>,
    /// Items handed out at a time: to a thread of the CPU, or to a device, which rounds up to whole waves.
    pub chunk: usize,
    /// Estimated seconds for all items.
    pub seconds: f64,
    /// Why this plan was chosen: one short phrase.
    pub reason: String,
    /// The plans that lost, the fastest first. Only `Engine::ask` and `Engine::plan` fill them in.
    pub others: Vec<Alternative>,
    /// The backend's own description of the work, which its `run` takes.
    pub recipe: Recipe,
}

/// A backend's own description of what it runs, which no other backend can read.
#[derive(Debug, Clone)]
pub struct Recipe(Arc<dyn Any + Send + Sync>);

impl Recipe {
    /// A recipe that holds a value of a backend's own type.
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it is of type `T`.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

/// A plan that was not chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The backend, instruction set and family of algorithms.
    pub path: Path,
    /// How the family would be laid out.
    pub variant: String,
    /// Estimated seconds for all items.
    pub seconds: f64,
}

impl Plan {
    /// A plan whose backend runs `recipe`. The reason is empty, and nothing was compared yet.
    pub fn new(request: &Request, path: Path, seconds: f64, recipe: impl Any + Send + Sync) -> Self {
        Self {
            request: request.clone(),
            path,
            variant: String::new(),
            lanes: 1,
            threads: 1,
            window: None,
            chunk: request.count,
            seconds,
            reason: String::new(),
            others: Vec::new(),
            recipe: Recipe::new(recipe),
        }
    }

    /// The operation.
    #[must_use]
    pub fn op(&self) -> Op {
        self.request.op
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.path.backend
    }

    /// The family of algorithms.
    #[must_use]
    pub fn family(&self) -> Family {
        self.path.family
    }

    /// The plan as one that lost.
    #[must_use]
    pub fn as_alternative(&self) -> Alternative {
        Alternative { path: self.path, variant: self.variant.clone(), seconds: self.seconds }
    }

    /// The time of `other`, as a multiple of this plan's.
    #[must_use]
    pub fn ratio(&self, other: &Alternative) -> f64 {
        other.seconds / self.seconds
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { op, bits, count, .. } = self.request;
        let items = if count == 1 { "item" } else { "items" };
        write!(f, "{op} of {count} {items} of {bits} bits: {}, {}", self.path, self.variant)?;
        if let Some(window) = self.window {
            write!(f, ", {window}-bit window")?;
        }
        if self.seconds.is_finite() {
            write!(f, ", about {}", Seconds(self.seconds))?;
        }
        write!(f, "\n  {}", self.reason)?;
        for other in &self.others {
            write!(f, "\n  {other}: {:.1} x the time", self.ratio(other))?;
        }
        Ok(())
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.path, self.variant)
    }
}

/// A time with a unit that suits its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            seconds if seconds >= 1.0 => (seconds, "s"),
            seconds if seconds >= 1e-3 => (1e3 * seconds, "ms"),
            seconds => (1e6 * seconds, "us"),
        };
        let digits = if value >= 100.0 { 0 } else { 1 };
        f.pad(&format!("{value:.digits$} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    #[test]
    fn a_plan_prints_what_it_runs_and_what_lost() {
        let path = |isa, family| Path { backend: Backend::Cpu, isa: Some(isa), family };
        let request = Request::new(Op::Pow, 2048, 1000);
        let slow = Plan {
            variant: "8 lanes".to_owned(),
            ..Plan::new(&request, path(Isa::Avx512, Family::Wide), 0.5, 7u8)
        };
        let plan = Plan {
            variant: "8 lanes".to_owned(),
            window: Some(5),
            reason: "least time by measured costs".to_owned(),
            others: vec![slow.as_alternative()],
            ..Plan::new(&request, path(Isa::Avx512Ifma, Family::Ifma), 0.25, "recipe")
        };
        assert_eq!(
            plan.to_string(),
            "pow of 1000 items of 2048 bits: avx512ifma/ifma, 8 lanes, 5-bit window, about 250 ms\n  \
             least time by measured costs\n  avx512/wide, 8 lanes: 2.0 x the time"
        );
        assert_eq!((plan.recipe.get::<&str>(), plan.recipe.get::<u8>()), (Some(&"recipe"), None));
    }

    #[test]
    fn times_have_units() {
        let texts = [2.0, 0.1234, 0.0012, 3.4e-6].map(|seconds| Seconds(seconds).to_string());
        assert_eq!(texts, ["2.0 s", "123 ms", "1.2 ms", "3.4 us"]);
    }
}
