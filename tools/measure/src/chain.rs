//! Chains of Montgomery products on GPUs. Nothing is copied between the products, so a chain measures
//! the arithmetic alone, as research papers do.

use crate::inputs::{Inputs, Workload, big};
use crate::reference::ReferenceAnswers;
use modmill::{Error, Op, Request};
use modmill_cuda::{Cuda, Run, Variant};

/// A chain of products for every item, computed by one variant of the kernels.
pub(crate) struct Chain<'a> {
    cuda: &'a Cuda,
    variant: Variant,
    /// Products in the chain.
    pub(crate) repeat: u32,
}

/// The seconds that a kernel should take: long compared with a launch, short compared with a measurement.
const SECONDS: f64 = 0.02;

/// The length of the trial chain, which shows how long a product takes.
const TRIAL: u32 = 16;

impl<'a> Chain<'a> {
    /// A chain that is long enough to be timed, by the variant that is planned for this batch.
    pub(crate) fn new(cuda: &'a Cuda, inputs: &Inputs) -> Result<Self, Error> {
        let Workload { op, bits, count, .. } = inputs.workload;
        let none = || Error::Unavailable(format!("no kernel has {op} of {bits} bits"));
        let plan = cuda.plan(&Request::new(op, bits, count)).ok_or_else(none)?;
        let variant = cuda.variant_of(&plan).ok_or_else(none)?;
        let mut chain = Self { cuda, variant, repeat: TRIAL };
        let seconds = chain.run(inputs)?.kernel_seconds / f64::from(TRIAL);
        chain.repeat = (SECONDS / seconds).clamp(f64::from(TRIAL), 65_536.0) as u32;
        Ok(chain)
    }

    pub(crate) fn run(&self, inputs: &Inputs) -> Result<Run, Error> {
        let job = inputs.job(inputs.workload.count);
        let run = match inputs.workload.op {
            Op::SquareMod => self.cuda.square_chain(self.variant, &job, self.repeat),
            Op::MulMod => self.cuda.multiply_chain(self.variant, &job, self.repeat),
            op => {
                return Err(Error::Unavailable(format!("there are no chains of {op}")));
            }
        };
        run.map_err(|error| Error::Device(error.to_string()))
    }

    /// The right answers of a few items.
    pub(crate) fn reference(&self, inputs: &Inputs) -> ReferenceAnswers {
        let few = inputs.sample(inputs.workload.count, 16);
        ReferenceAnswers::by_referee(few, |item| self.expected(inputs, item))
    }

    /// The last value of an item's chain, by num-bigint. Every Montgomery product divides by R, and so
    /// does the conversion at the end.
    fn expected(&self, inputs: &Inputs, item: usize) -> Vec<u64> {
        let modulus = big(inputs.modulus(item));
        let (a, b) = (big(inputs.a.get(item)), big(inputs.b.get(item)));
        let radix = big(&[1]) << self.variant.radix_bits();
        let inverse = radix.modinv(&modulus).unwrap_or_default();
        let answer = if inputs.workload.op == Op::SquareMod {
            (a * inverse).modpow(&(big(&[1]) << self.repeat), &modulus)
        } else {
            let factors = (b * &inverse).modpow(&self.repeat.into(), &modulus);
            a * factors % &modulus * inverse % modulus
        };
        inputs.to_limbs(&answer)
    }
}
