//! One of our paths as a contender.

use crate::chain::Chain;
use crate::error::Error;
use crate::inputs::Inputs;
use crate::memory::Memory;
use crate::resident_inputs::ResidentInputs;
use crate::slices::{Contender, Slice, repeat};
use modmill::cuda::kernel_seconds;
use modmill::{Backend, Batch, Engine, Plan};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The computation that is timed.
pub(crate) enum Call<'a> {
    Engine(&'a Engine),
    Chain(Chain<'a>),
}

impl Call<'_> {
    fn answers(&self, inputs: &Inputs) -> Result<Batch, modmill::Error> {
        match self {
            Self::Engine(engine) => inputs.compute(engine),
            Self::Chain(chain) => Ok(chain.run(inputs)?.answers),
        }
    }

    /// Operations per item.
    fn operations(&self) -> f64 {
        match self {
            Self::Engine(_) => 1.0,
            Self::Chain(chain) => f64::from(chain.repeat),
        }
    }
}

/// Kernel time is measured in up to three calls, but no new call starts after this time.
const KERNEL_TIME: Duration = Duration::from_secs(1);

/// One of our paths, with its inputs and answers.
pub(crate) struct OurPath<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) plan: Plan,
    /// Whether the engine chose this path by itself.
    pub(crate) chosen: bool,
    inputs: &'a Inputs,
    /// The batch that all timed calls write, unless every call makes its own.
    room: Option<Batch>,
    /// The operands on a device, if they stay there.
    resident: Option<ResidentInputs>,
    /// The answers of the first call.
    pub(crate) answers: Batch,
    /// Whether every later call gave the same answers.
    pub(crate) repeatable: bool,
}

impl<'a> OurPath<'a> {
    /// Makes the first call, which is not timed.
    pub(crate) fn new(
        call: Call<'a>,
        plan: Plan,
        chosen: bool,
        inputs: &'a Inputs,
    ) -> Result<Self, modmill::Error> {
        let resident = match (&call, inputs.memory) {
            (Call::Engine(engine), Memory::Resident) => Some(ResidentInputs::new(engine, inputs)?),
            (Call::Engine(_) | Call::Chain(_), _) => None,
        };
        let answers = match (&call, &resident) {
            (Call::Engine(engine), Some(resident)) => resident.compute(engine, inputs)?.download()?,
            (call, _) => call.answers(inputs)?,
        };
        let room = match (&call, inputs.memory) {
            (Call::Engine(engine), Memory::Reused | Memory::Pinned) => Some(inputs.room(engine)?),
            (Call::Engine(_) | Call::Chain(_), _) => None,
        };
        Ok(Self { call, plan, chosen, inputs, room, resident, answers, repeatable: true })
    }

    /// Operations per second of a GPU's kernels alone, in the best of a few calls; `None` on a CPU.
    pub(crate) fn kernel_rate(&self) -> Result<Option<f64>, modmill::Error> {
        if self.plan.backend() != Backend::Cuda {
            return Ok(None);
        }
        let mut best = f64::INFINITY;
        let start = Instant::now();
        for turn in 0..3 {
            if turn > 0 && start.elapsed() > KERNEL_TIME {
                break;
            }
            let seconds = match &self.call {
                Call::Engine(engine) => {
                    let before = kernel_seconds(engine);
                    match &self.resident {
                        Some(resident) => drop(resident.compute(engine, self.inputs)?),
                        None => drop(self.inputs.compute(engine)?),
                    }
                    kernel_seconds(engine) - before
                }
                Call::Chain(chain) => chain.run(self.inputs)?.kernel_seconds,
            };
            best = best.min(seconds);
        }
        Ok(Some(self.inputs.workload.count as f64 * self.call.operations() / best))
    }
}

impl Contender for OurPath<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Error> {
        let operations = self.inputs.workload.count as f64 * self.call.operations();
        let Self { call, inputs, room, resident, answers: first, repeatable, .. } = self;
        if let (Call::Engine(engine), Some(resident)) = (&call, resident) {
            let compute = || resident.compute(engine, inputs);
            return repeat(length, operations, compute, |answers| {
                *repeatable &= answers.download().is_ok_and(|answers| answers == *first);
            });
        }
        match (call, room) {
            (Call::Engine(engine), Some(room)) => {
                // The call writes it, and then the comparison reads it.
                let room = RefCell::new(room);
                let compute = || inputs.compute_into(engine, &mut room.borrow_mut());
                repeat(length, operations, compute, |()| *repeatable &= **room.borrow() == *first)
            }
            (call, _) => {
                let compute = || call.answers(inputs);
                repeat(length, operations, compute, |answers| *repeatable &= answers == first)
            }
        }
    }
}
