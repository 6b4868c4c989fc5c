//! Measures products by transforms.

use super::findings::{Candidate, Findings, WRONG};
use crate::error::Error;
use crate::inputs::{Inputs, Workload};
use modmill::{Backend, Engine, Family, Op};
use modmill_cuda::{Device, TransformTiming};
use std::time::{Duration, Instant};

/// The operations that are measured: powers by transforms are made of products modulo N.
const OPS: [Op; 3] = [Op::Mul, Op::Square, Op::MulMod];

/// The factor bits of a batch that fills a GPU.
const BATCH_BITS: usize = 1 << 29;

/// The most items in a batch.
const MAX_BATCH: usize = 1 << 14;

/// The most calls of which the median is taken.
const CALLS: usize = 7;

/// A GPU that computes by transforms, and a CPU that computes the right answers.
pub(super) struct TransformTuner<'a> {
    gpu: Engine,
    cpu: &'a Engine,
    is_emulated: bool,
}

impl<'a> TransformTuner<'a> {
    pub(super) fn new(device: Device, cpu: &'a Engine) -> Result<Self, Error> {
        let is_emulated = device.properties().emulated;
        let builder = Engine::builder().backend(Backend::Cuda).family(Family::Fft).fallback(false);
        Ok(Self { gpu: builder.devices(vec![device]).build()?, cpu, is_emulated })
    }

    /// Measures every operation at a length, for about `time`. `tell` is called with each operation
    /// before it is measured.
    pub(super) fn measure(
        &self,
        bits: usize,
        time: Duration,
        findings: &mut Findings,
        mut tell: impl FnMut(Op),
    ) -> Result<(), Error> {
        let share = time / (2 * OPS.len() as u32);
        for op in OPS {
            tell(op);
            let count = self.batch(bits);
            let workload = Workload {
                op,
                bits,
                exponent_bits: bits,
                count,
                shared_modulus: op == Op::MulMod,
                is_remainder: false,
            };
            let inputs = Inputs::random(workload, 1);
            let alone = inputs.part(&[0]);
            let times = || Ok((self.seconds(&inputs, share)?, self.seconds(&alone, share)?));
            match times() {
                Ok((batch_seconds, alone_seconds)) => findings.transforms.push(TransformTiming {
                    op,
                    bits,
                    batch: count,
                    batch_seconds,
                    alone_seconds,
                }),
                Err(reason) => findings.fail(bits, Candidate::Transforms(op), reason),
            }
        }
        Ok(())
    }

    /// An emulated device has no throughput to speak of, so two items show that batches work.
    fn batch(&self, bits: usize) -> usize {
        if self.is_emulated { 2 } else { (BATCH_BITS / bits).clamp(1, MAX_BATCH) }
    }

    /// The median kernel time of a few calls, after one whose answers are checked.
    fn seconds(&self, inputs: &Inputs, share: Duration) -> Result<f64, String> {
        let mut kernel_seconds = Vec::new();
        let start = Instant::now();
        while kernel_seconds.is_empty() || (kernel_seconds.len() <= CALLS && start.elapsed() < share) {
            let before = modmill::cuda::kernel_seconds(&self.gpu);
            let answers = inputs.compute(&self.gpu).map_err(|error| error.to_string())?;
            let seconds = modmill::cuda::kernel_seconds(&self.gpu) - before;
            if kernel_seconds.is_empty() {
                let items = inputs.sample(inputs.workload.count, 4);
                let expected = inputs.part(&items).compute(self.cpu).map_err(|error| error.to_string())?;
                let mut pairs = items.iter().zip(expected.iter());
                if !pairs.all(|(&item, expected)| answers.get(item) == expected) {
                    return Err(WRONG.to_owned());
                }
            }
            kernel_seconds.push(seconds);
        }
        // The first call also compiles kernels and makes tables: it counts only if there is no other.
        let counted = if kernel_seconds.len() > 1 { &mut kernel_seconds[1..] } else { &mut kernel_seconds };
        counted.sort_by(f64::total_cmp);
        Ok(counted[counted.len() / 2])
    }
}
