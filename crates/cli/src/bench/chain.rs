//! Chains of Montgomery products on GPUs: what their arithmetic can do when nothing is copied, as
//! papers measure it.

use super::inputs::{Inputs, Shape, big};
use super::measure::Known;
use modmill::cuda::{Cuda, Run, Variant};
use modmill::{Error, Op};

/// Products that every item is put through, by one variant of the kernels.
pub(crate) struct Chain<'a> {
    cuda: &'a Cuda,
    variant: Variant,
    /// Products one after the other.
    pub(crate) repeat: u32,
}

/// How long a kernel is to take: long beside its start, short beside a measurement.
const SECONDS: f64 = 0.02;

/// Products that tell how long one takes.
const TRIAL: u32 = 16;

impl<'a> Chain<'a> {
    /// Chains by the variant that has the best plan for this many items, long enough to be timed.
    pub(crate) fn new(cuda: &'a Cuda, inputs: &Inputs) -> Result<Self, Error> {
        let Shape { op, bits, count, .. } = inputs.shape;
        let none = || Error::Unavailable(format!("no kernel has {op} of {bits} bits"));
        let variant = cuda.choose(op, bits, count, bits).ok_or_else(none)?.variant;
        let mut chain = Self { cuda, variant, repeat: TRIAL };
        let seconds = chain.run(inputs)?.kernel_seconds / f64::from(TRIAL);
        chain.repeat = (SECONDS / seconds).clamp(f64::from(TRIAL), 65_536.0) as u32;
        Ok(chain)
    }

    pub(crate) fn run(&self, inputs: &Inputs) -> Result<Run, Error> {
        let job = inputs.job(inputs.shape.count);
        let run = match inputs.shape.op {
            Op::SquareMod => self.cuda.square_chain(self.variant, &job, self.repeat),
            _ => self.cuda.multiply_chain(self.variant, &job, self.repeat),
        };
        run.map_err(|error| Error::Device(error.to_string()))
    }

    /// The answers of a few items.
    pub(crate) fn known(&self, inputs: &Inputs) -> Known {
        let few = inputs.sample(inputs.shape.count, 16);
        Known::by_judge(few, |item| self.expected(inputs, item))
    }

    /// What one item ends as, by another library: every product divides by R, and so does the end.
    fn expected(&self, inputs: &Inputs, item: usize) -> Vec<u64> {
        let modulus = big(inputs.modulus(item));
        let (a, b) = (big(inputs.a.get(item)), big(inputs.b.get(item)));
        let radix = big(&[1]) << self.variant.radix_bits();
        let inverse = radix.modinv(&modulus).unwrap_or_default();
        let answer = match inputs.shape.op {
            Op::SquareMod => (a * inverse).modpow(&(big(&[1]) << self.repeat), &modulus),
            _ => {
                let factors = (b * &inverse).modpow(&self.repeat.into(), &modulus);
                a * factors % &modulus * inverse % modulus
            }
        };
        inputs.to_limbs(&answer)
    }
}
