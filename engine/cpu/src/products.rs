//! Running a plan for full products or squares.

use crate::backend::Cpu;
use crate::cost::grain;
use crate::karatsuba;
use crate::kernel::BatchKernel;
use crate::lanes::{self, Bits, MAX_LANES};
use crate::long::{self, Multiplier};
use crate::method::{Method, counted};
use crate::out_of_memory;
use crate::path::CpuPath;
use crate::path::with_kernel;
use crate::planning::Recipe;
use crate::run::wrong;
use crate::scalar::Scalar;
use crate::scalar_choice::with_scalar;
use crate::working_memory::{CleanStack, Rows};
use modmill_core::{Backend, Batch, BatchView, Error, Family, Op, Operand, Plan, Product, radix};

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
            Method::Lanes(path) => match path.limbs() {
                Some(limbs) => with_scalar!(limbs, scalar => self.multiply_directly(scalar, product)),
                None => with_kernel!(path, K, token => self.multiply_in_lanes::<K>(token, product)),
            },
            Method::Residues
            | Method::Division(_)
            | Method::RowLanes(_)
            | Method::DivisionSteps
            | Method::StepLanes(_)
            | Method::HalfGcd(_) => Err(wrong(plan)),
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

    /// The middle parts of the products of numbers by two factors each, which share the transform of the
    /// number: the limbs below limb `end` that fit the rows of each of `answers`. A row is right or too large
    /// by one unit of its last place, modulo the limb `end`.
    ///
    /// `plan` is that of the products. Returns false, and fills nothing, if it is not for transforms of this
    /// backend, or if there is no ring for their length.
    ///
    /// # Panics
    /// If there are no numbers, or not as many factors and rows.
    pub fn middle_products(
        &self,
        plan: &Plan,
        numbers: BatchView<'_>,
        factors: [BatchView<'_>; 2],
        end: usize,
        answers: [&mut [u64]; 2],
    ) -> Result<bool, Error> {
        let Some(multiplier) = self.by_transforms(plan) else { return Ok(false) };
        out_of_memory::returned(|| {
            Ok(long::middle_products(&self.workers, multiplier, numbers, factors, end, answers))
        })
    }

    /// Sums `a b + c d`, which fit the rows of `answers`; both products share the way back from their
    /// transforms. `plan` and the answer are those of [`Cpu::middle_products`].
    ///
    /// # Panics
    /// If there are no numbers, or not as many of each and rows.
    pub fn sums_of_two_products(
        &self,
        plan: &Plan,
        first: [BatchView<'_>; 2],
        second: [BatchView<'_>; 2],
        answers: &mut [u64],
    ) -> Result<bool, Error> {
        let Some(multiplier) = self.by_transforms(plan) else { return Ok(false) };
        out_of_memory::returned(|| {
            Ok(long::sums_of_two_products(&self.workers, multiplier, first, second, answers))
        })
    }

    /// The multiplier of a plan for transforms of this backend.
    fn by_transforms(&self, plan: &Plan) -> Option<Multiplier> {
        match plan.recipe.get() {
            Some(Recipe { method: Method::Transforms(multiplier), .. }) => {
                self.record_method(plan);
                Some(*multiplier)
            }
            _ => None,
        }
    }

    /// Products and squares by scalar code, on all threads. Numbers are taken as they stand.
    fn multiply_directly<S: Scalar>(&self, scalar: S, product: &Product<'_>) -> Result<Batch, Error> {
        let path = modmill_core::Path { backend: Backend::Cpu, isa: Some(S::ISA), family: Family::Row };
        self.record(path, format!("1 lane x {}", counted(self.threads(), "thread")), None);
        let &Product { a, b, count } = product;
        let mut answers = Batch::try_zeros(product.bits(), count)?;
        let stride = answers.stride();
        let compute = |x: &[u64], y: Option<&[u64]>, out: &mut [u64], halves: &mut Rows| match y {
            Some(y) => karatsuba::multiply(scalar, x, y, out, halves),
            None => karatsuba::square(scalar, x, out, halves),
        };
        // A thread takes some microseconds of work at least, and one call has a microsecond of it.
        let squares = stride * stride / 4;
        let (items, chunks) = ((512 / squares.max(1)).max(1), (8192 / squares.max(1)).clamp(1, 16));
        let compute = |(halves, space): &mut (Rows, Rows), index: usize, out: &mut [u64]| {
            for (item, out) in (index * items..).zip(out.chunks_exact_mut(stride)) {
                let (x, y) = (a.limbs(item), b.map(|b| b.limbs(item)));
                // The lengths of the factors may add up to a limb more than a product has, and to fewer
                // limbs.
                match x.len() + y.unwrap_or(x).len() {
                    length if length <= stride => compute(x, y, &mut out[..length], halves),
                    length => {
                        compute(x, y, &mut space[..length], halves);
                        out.copy_from_slice(&space[..stride]);
                    }
                }
            }
        };
        let workspace = || (Rows::default(), Rows::zeros(stride + 1));
        self.each_chunk(answers.as_limbs_mut(), (items * stride, chunks), &workspace, &compute);
        Ok(answers)
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
                let item = |lane: usize| operand.limbs((index * K::LANES + lane).min(count - 1));
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
