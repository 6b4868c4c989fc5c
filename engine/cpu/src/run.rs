//! Running a plan modulo odd numbers: over lanes, over residues, by transforms or by division, on all
//! threads.

#[cfg(target_arch = "x86_64")]
use crate::avx512ifma::ifma::pair::Pair;
use crate::backend::Cpu;
use crate::cost::grain;
use crate::domain::{Domain, Residue, Workspace};
use crate::kernel::Kernel;
use crate::lane_division::LaneDivision;
use crate::lanes;
use crate::long::{self, Multiplier};
use crate::method::{Method, counted};
use crate::path::{CpuPath, with_kernel};
use crate::planning::Recipe;
use crate::remainder::{self, Scratch};
use crate::scalar::Scalar;
use crate::scalar_choice::with_scalar;
use crate::schoolbook::divide::{Numbers, Rows};
use crate::schoolbook::{GROUPS, items_at_once};
use crate::vector_choice::{StepLanes, with_vectors};
use crate::working_memory::clear_stack;
use crate::{out_of_memory, pow, rns};
use modmill_core::mask;
use modmill_core::window::MAX_WINDOW;
use modmill_core::{Backend, Batch, Call, Error, Items, Job, Moduli, Modulus, Op, Operand, Plan, watched};
use std::sync::Arc;

/// A modular operation, with the window of powers.
#[derive(Clone, Copy)]
enum Modular {
    Multiply,
    Square,
    /// Powers with secret exponents: fixed windows of this many bits.
    Power(u32),
    /// Powers with public exponents: windows of at most this many bits.
    PowerVartime(u32),
}

impl Modular {
    fn op(self) -> Op {
        match self {
            Self::Multiply => Op::MulMod,
            Self::Square => Op::SquareMod,
            Self::Power(_) => Op::Pow,
            Self::PowerVartime(_) => Op::PowVartime,
        }
    }

    fn window(self) -> Option<u32> {
        match self {
            Self::Multiply | Self::Square => None,
            Self::Power(window) | Self::PowerVartime(window) => Some(window),
        }
    }
}

impl Cpu {
    /// Runs a plan of this backend on a call that it was made for, whose operands are on the host.
    pub fn run(&self, plan: &Plan, call: Call<'_>) -> Result<Batch, Error> {
        if call.is_resident() {
            return Err(Error::Unavailable(format!("the numbers of {} are on a device", plan.op())));
        }
        if let Call::Step(step) = call {
            return self.step(plan, step);
        }
        if let Call::Inverses(inverses) = call {
            return out_of_memory::returned(|| self.invert(plan, inverses));
        }
        if let Call::Divisors(divisors) = call {
            return out_of_memory::returned(|| self.common_divisors(plan, divisors));
        }
        let recipe = *plan.recipe.get().ok_or_else(|| wrong(plan))?;
        match call {
            Call::Modular(op, job) => self.run_job(plan, recipe, op, job),
            Call::Product(product) => self.multiply(plan, recipe, product),
            Call::FixedPow(powers) => self.pow_fixed_base(plan, powers),
            Call::MultiPow(powers) => self.multiply_powers(plan, recipe, powers),
            Call::Products(products) => self.multiply_groups(plan, recipe, products),
            Call::Step(_) | Call::Inverses(_) | Call::Divisors(_) | Call::Quotients(_) => Err(wrong(plan)),
            // These are four operations each, which whoever has the numbers calls.
            Call::CrtPow(_) | Call::PublicPow(_) => Err(wrong(plan)),
        }
    }

    fn run_job(&self, plan: &Plan, recipe: Recipe, op: Op, job: &Job<'_>) -> Result<Batch, Error> {
        let Recipe { method, window } = recipe;
        let operation = match op {
            Op::MulMod => Modular::Multiply,
            Op::SquareMod => Modular::Square,
            Op::Pow => Modular::Power(window),
            Op::PowVartime => Modular::PowerVartime(window),
            _ => return Err(wrong(plan)),
        };
        if !matches!(method, Method::Lanes(_)) {
            let variant = method.variant(&plan.request, self.threads());
            self.record(method.path(), variant, operation.window());
        }
        let answers = match (method, operation) {
            (Method::Lanes(path), _) => self.run_in_lanes(path, operation, job)?,
            (Method::Residues, _) => self.run_in_residues(operation, job)?,
            (Method::Transforms(multiplier), _) => {
                out_of_memory::returned(|| self.run_by_transforms(multiplier, operation, job))?
            }
            (Method::Division(limbs), Modular::Multiply) => {
                with_scalar!(limbs, scalar => self.run_by_division(scalar, Some(job.b), job)?)
            }
            (Method::Division(limbs), Modular::Square) => {
                with_scalar!(limbs, scalar => self.run_by_division(scalar, None, job)?)
            }
            (Method::RowLanes(lanes), Modular::Multiply) => self.divide_in_lanes(lanes, Some(job.b), job)?,
            (Method::RowLanes(lanes), Modular::Square) => self.divide_in_lanes(lanes, None, job)?,
            (Method::Division(_) | Method::RowLanes(_), Modular::Power(_) | Modular::PowerVartime(_)) => {
                return Err(wrong(plan));
            }
            (Method::DivisionSteps | Method::StepLanes(_) | Method::HalfGcd(_), _) => {
                return Err(wrong(plan));
            }
        };
        if job.is_stopped() { Err(Error::Interrupted) } else { Ok(answers) }
    }

    /// Montgomery arithmetic in the lanes of a kernel.
    fn run_in_lanes(&self, path: CpuPath, operation: Modular, job: &Job<'_>) -> Result<Batch, Error> {
        #[cfg(target_arch = "x86_64")]
        if let CpuPath::Ifma(token) = path
            && path.takes_a_pair(operation.op(), job.bits, job.items.len())
        {
            return self.run_kernel::<Pair>(token, operation, job);
        }
        with_kernel!(path, K, token => self.run_kernel::<K>(token, operation, job))
    }

    fn run_kernel<K: Kernel>(
        &self,
        token: K::Token,
        operation: Modular,
        job: &Job<'_>,
    ) -> Result<Batch, Error> {
        let variant = format!("{} x {}", counted(K::LANES, "lane"), counted(self.threads(), "thread"));
        let path = modmill_core::Path { backend: Backend::Cpu, isa: Some(K::ISA), family: K::FAMILY };
        self.record(path, variant, operation.window());
        self.run_groups::<K>(token, operation.op(), job, |domain, items, work, x| match operation {
            // A product with a bit, such as one, is a remainder.
            Modular::Multiply if job.b.bits() == 1 && job.a.bits() <= domain.dividend_bits() => {
                domain.remainder(&numbers(job.a, items), job.a.bits(), x, work);
                lanes::keep::<K>(x, &numbers(job.b, items));
                Residue::Remainder
            }
            Modular::Multiply => {
                domain.load(&numbers(job.a, items), job.a.bits(), x, work);
                let mut y = std::mem::take(&mut work.y);
                domain.load(&numbers(job.b, items), job.b.bits(), &mut y, work);
                let product = domain.multiply_plain(x, Some(&y), work);
                work.y = y;
                product
            }
            Modular::Square => {
                domain.load(&numbers(job.a, items), job.a.bits(), x, work);
                domain.multiply_plain(x, None, work)
            }
            Modular::Power(window) => {
                domain.enter(&numbers(job.a, items), job.a.bits(), x, work);
                pow::pow(domain, x, &numbers(job.b, items), job.b.bits(), window, work);
                domain.leave(x, work);
                Residue::Wide
            }
            Modular::PowerVartime(window) => {
                domain.enter(&numbers(job.a, items), job.a.bits(), x, work);
                let exponents = numbers(job.b, items);
                if exponents.iter().all(|exponent| exponent == &exponents[0]) {
                    pow::pow_shared_vartime(domain, x, exponents[0], MAX_WINDOW, work);
                } else {
                    pow::pow_each_vartime(domain, x, &exponents, window, work);
                }
                domain.leave(x, work);
                Residue::Wide
            }
        })
    }

    /// Runs a job one group of lanes after the other, on all threads. `compute` leaves plain residues in its
    /// last argument.
    pub(crate) fn run_groups<K: Kernel>(
        &self,
        token: K::Token,
        op: Op,
        job: &Job<'_>,
        compute: impl Fn(&Domain<K>, Items<'_>, &mut Workspace, &mut [u64]) -> Residue + Sync,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
        let stride = answers.stride();
        let shared: Option<Arc<Domain<K>>> = match job.moduli {
            Moduli::Shared(modulus) => {
                let domain: Arc<Domain<K>> =
                    modulus.constants(|modulus| Domain::new(token, modulus.bits(), &[modulus.value()]));
                if !op.is_power() && job.items.len() > K::LANES {
                    domain.prepare_division(modulus);
                }
                Some(domain)
            }
            Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => None,
        };
        let compute_group = |work: &mut Workspace, items: Items<'_>, out: &mut [u64]| {
            let domain = match (&shared, job.moduli) {
                (Some(domain), _) => domain.clone(),
                (None, Moduli::Prepared(moduli)) => {
                    // A domain is made on the stack, where the group before left limbs.
                    clear_stack();
                    let moduli: Vec<&Modulus> = items.iter().map(|item| moduli[item]).collect();
                    Domain::prepared(token, job.bits, &moduli)
                }
                (None, Moduli::Each(_) | Moduli::Shared(_) | Moduli::Resident(_)) => {
                    clear_stack();
                    let moduli: Vec<&[u64]> = items.iter().map(|item| job.moduli.get(item)).collect();
                    Arc::new(Domain::new(token, job.bits, &moduli))
                }
            };
            let mut x = std::mem::take(&mut work.x);
            match compute(&domain, items, work, &mut x) {
                Residue::Wide => domain.store(&mut x, out, stride, work),
                Residue::Remainder => domain.store_remainder(&mut x, out, stride, work),
            }
            work.x = x;
        };
        let group = |work: &mut Workspace, index: usize, out: &mut [u64]| {
            let items = job.items.chunk(index, K::LANES);
            watched(job.watch, items.len(), || compute_group(work, items, out));
        };
        let groups = grain(op, job.bits);
        let workspace = || Workspace::new::<K>(job.bits);
        self.each_chunk(answers.as_limbs_mut(), (K::LANES * stride, groups), &workspace, &group);
        Ok(answers)
    }

    /// Residue number systems. Items whose modulus shares a prime with the base go into the lanes of the
    /// portable kernel.
    fn run_in_residues(&self, operation: Modular, job: &Job<'_>) -> Result<Batch, Error> {
        let otherwise = |part: &Job<'_>| self.run_in_lanes(CpuPath::Row, operation, part);
        rns::run(&self.workers, job, otherwise, |domain, item, out| {
            let (a, b) = (job.a.limbs(item), job.b.limbs(item));
            let compute = || match operation {
                Modular::Multiply => {
                    let y = domain.factor(&domain.load(b));
                    domain.finish(domain.enter(a), &y, out);
                }
                Modular::Square => {
                    let y = domain.factor(&domain.load(a));
                    domain.finish(domain.enter(a), &y, out);
                }
                Modular::Power(window) => {
                    let mut x = domain.enter(a);
                    domain.pow(&mut x, b, job.b.bits(), window);
                    domain.finish(x, &domain.unit(), out);
                }
                Modular::PowerVartime(longest) => {
                    let mut x = domain.enter(a);
                    domain.pow_vartime(&mut x, b, longest);
                    domain.finish(x, &domain.unit(), out);
                }
            };
            watched(job.watch, 1, compute);
        })
    }

    /// Transforms, item by item; long products use all threads by themselves.
    fn run_by_transforms(
        &self,
        multiplier: Multiplier,
        operation: Modular,
        job: &Job<'_>,
    ) -> Result<Batch, Error> {
        long::run(&self.workers, multiplier, operation.op().is_power(), job, |modulus, item| {
            let (a, b) = (job.a.limbs(item), job.b.limbs(item));
            let compute = || match operation {
                Modular::Multiply => modulus.mul_mod(a, b),
                Modular::Square => modulus.square_mod(a),
                Modular::Power(window) => modulus.pow(a, b, job.b.bits(), window),
                Modular::PowerVartime(longest) => modulus.pow_vartime(a, b, longest),
            };
            watched(job.watch, 1, compute).unwrap_or_default()
        })
    }

    /// A product with `b`, or a square, and a division for each item, which needs no constants of the
    /// modulus.
    fn run_by_division<S: Scalar>(
        &self,
        scalar: S,
        b: Option<Operand<'_>>,
        job: &Job<'_>,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
        let (stride, limbs) = (answers.stride(), job.bits.div_ceil(64));
        let compute = |item: usize, out: &mut [u64], scratch: &mut Scratch| {
            let (a, n) = (job.a.limbs(item), job.moduli.get(item));
            match b {
                Some(b) if b.bits() == 1 => {
                    remainder::reduce(scalar, (a, job.a.bits()), b.limbs(item)[0], n, out, scratch);
                }
                Some(b) => remainder::multiply(scalar, a, b.limbs(item), n, out, scratch),
                None => remainder::square(scalar, a, n, out, scratch),
            }
        };
        let scratch = || Scratch::new(2 * limbs, limbs);
        // A thread takes some microseconds of work at least, and one call has a microsecond of it.
        let (items, chunks) = ((256 / (limbs * limbs)).max(1), (4096 / (limbs * limbs)).clamp(1, 16));
        let compute = |scratch: &mut Scratch, index: usize, out: &mut [u64]| {
            for (place, out) in (index * items..).zip(out.chunks_exact_mut(stride)) {
                watched(job.watch, 1, || compute(job.items.get(place), out, scratch));
            }
        };
        self.each_chunk(answers.as_limbs_mut(), (items * stride, chunks), &scratch, &compute);
        Ok(answers)
    }
}

impl Cpu {
    /// [`Cpu::run_by_division`] for several items side by side.
    fn divide_in_lanes(
        &self,
        lanes: StepLanes,
        b: Option<Operand<'_>>,
        job: &Job<'_>,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
        let stride = answers.stride();
        // A product with a bit is a remainder, or zero.
        let (b, bit) = match b {
            Some(bit) if bit.bits() == 1 => (None, Some(bit)),
            Some(b) => (Some(b), None),
            None => (Some(job.a), None),
        };
        with_vectors!(lanes, V, token => with_scalar!(self.multiplier().limbs(), scalar => {
            let size = items_at_once::<V>();
            let divide = |work: &mut LaneDivision<V>, items: Items<'_>, out: &mut [u64]| {
                let divisors: Vec<&[u64]> = items.iter().map(|item| job.moduli.get(item)).collect();
                let a = numbers(job.a, items);
                let second = b.map(|b| (numbers(b, items), b.bits()));
                let a = Numbers { limbs: &a, bits: job.a.bits() };
                let b = second.as_ref().map(|(limbs, bits)| Numbers { limbs, bits: *bits });
                let dropped = Rows { limbs: &mut [], stride: 0 };
                work.divide(scalar, (a, b), &divisors, [dropped, Rows { limbs: out, stride }]);
                if let Some(bit) = bit {
                    for (item, row) in items.iter().zip(out.chunks_exact_mut(stride)) {
                        let chosen = mask::from_bit(bit.limbs(item)[0]);
                        row.iter_mut().for_each(|limb| *limb &= chosen);
                    }
                }
            };
            let group = |work: &mut LaneDivision<V>, index: usize, out: &mut [u64]| {
                let items = job.items.chunk(index, size);
                watched(job.watch, items.len(), || divide(work, items, out));
            };
            let chunks = grain(Op::MulMod, job.bits).div_ceil(GROUPS);
            let workspace = || LaneDivision::new(token);
            self.each_chunk(answers.as_limbs_mut(), (size * stride, chunks), &workspace, &group);
        }));
        Ok(answers)
    }
}

/// The error of a plan that another backend made, or that is for another operation.
pub(crate) fn wrong(plan: &Plan) -> Error {
    Error::Unavailable(format!("a plan for {} by {} is not for this call", plan.op(), plan.path))
}

/// The numbers of some items.
pub(crate) fn numbers<'a>(operand: Operand<'a>, items: Items<'_>) -> Vec<&'a [u64]> {
    items.iter().map(|item| operand.limbs(item)).collect()
}
