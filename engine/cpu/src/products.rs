//! Running a plan for full products or squares.

use crate::backend::Cpu;
use crate::cost::grain;
use crate::kernel::BatchKernel;
use crate::lanes::{self, Bits, MAX_LANES};
use crate::long::{self, Multiplier};
use crate::method::{Method, counted};
use crate::out_of_memory;
use crate::path::CpuPath;
use crate::path::with_kernel;
use crate::planning::Recipe;
use crate::rows::{CleanStack, Rows};
use crate::run::wrong;
use modmill_core::{Backend, Batch, Error, Op, Operand, Plan, Product, radix};

impl Cpu {
    /// Full products or squares by a plan of this backend.
    pub(crate) fn multiply(
        &self,
        plan: &Plan,
        Recipe { method, .. }: Recipe,
        product: &Product<'_>,
    ) -> Result<Batch, Error> {
        match method {
            Method::Transforms(multiplier) => {
                self.record(method.path(), method.variant(&plan.request, self.threads()), None);
                let &Product { a, b, count } = product;
                out_of_memory::returned(|| match b {
                    Some(b) => long::products(&self.workers, multiplier, a, b, count),
                    None => long::squares(&self.workers, multiplier, a, count),
                })
            }
            Method::Lanes(path) => {
                with_kernel!(path, K, token => self.multiply_in_lanes::<K>(token, product))
            }
            Method::Residues | Method::Division | Method::DivisionSteps | Method::HalfGcd(_) => {
                Err(wrong(plan))
            }
        }
    }

    /// Full products `a b` with a factor of `b.1` bits that was prepared by a multiplier.
    pub fn mul_prepared(
        &self,
        a: Operand<'_>,
        b: (&long::PreparedFactor, usize),
        multiplier: Multiplier,
        count: usize,
    ) -> Result<Batch, Error> {
        out_of_memory::returned(|| long::products_prepared(&self.workers, multiplier, a, b, count))
    }

    /// Products in the lanes of a kernel, on all threads.
    fn multiply_in_lanes<K: BatchKernel>(
        &self,
        token: K::Token,
        product: &Product<'_>,
    ) -> Result<Batch, Error> {
        let path = modmill_core::Path { backend: Backend::Cpu, isa: Some(K::ISA), family: K::FAMILY };
        let variant = format!("{} x {}", counted(K::LANES, "lane"), counted(self.threads(), "thread"));
        self.record(path, variant, None);
        let &Product { a, b, count } = product;
        let b = b.unwrap_or(a);
        let mut answers = Batch::try_zeros(a.bits() + b.bits(), count)?;
        let stride = answers.stride();
        let rows = |bits: usize| Rows::zeros(radix::digits_for(bits, K::WIDTH) * K::LANES);
        let group = |work: &mut (Rows, Rows, Rows, Rows, CleanStack), index: usize, out: &mut [u64]| {
            let (x, y, product, limbs, _) = work;
            for (operand, rows) in [(a, &mut *x), (b, &mut *y)] {
                let item = |lane: usize| operand.get((index * K::LANES + lane).min(count - 1));
                let numbers: [&[u64]; MAX_LANES] = std::array::from_fn(item);
                K::split(token, &numbers[..K::LANES], Bits::below(operand.bits()), limbs, rows);
            }
            K::product(token, x, y, product);
            K::join(token, product, limbs, out, stride);
        };
        let workspace = || {
            let (x, y) = (rows(a.bits()), rows(b.bits()));
            let product = Rows::zeros(x.len() + y.len());
            (x, y, product, Rows::zeros(lanes::limb_words(K::LANES, stride)), CleanStack)
        };
        let groups = grain(Op::Mul, product.longest_factor_bits());
        self.each_chunk(answers.as_limbs_mut(), (K::LANES * stride, groups), &workspace, &group);
        Ok(answers)
    }
}
