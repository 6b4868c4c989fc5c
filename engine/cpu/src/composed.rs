//! Plans of operations that are made of products and powers: powers of a fixed base, products of powers and
//! of columns, small steps, RSA's operations, products with matrices.

use crate::backend::Cpu;
use crate::column::LEAST_FACTORS;
use crate::cost;
use crate::fixed_base;
use crate::method::{Method, counted};
use crate::path::CpuPath;
use crate::planning::Recipe;
use modmill_core::{Family, Isa, KERNEL_MAX_BITS, Op, Path, Plan, Request, Secrecy};

/// Seconds for each word of a matrix that is multiplied, and of a step's answers.
const WORD_SECONDS: f64 = 1e-9;

impl Cpu {
    /// How this backend computes an operation that is made of others; `None` if it has no algorithm for it,
    /// so that its parts are computed one by one.
    pub(crate) fn plan_composed(&self, request: &Request) -> Option<Plan> {
        match request.op {
            Op::FixedPow => self.plan_fixed(request),
            Op::MultiPow => self.plan_powers(request),
            Op::ProductMod => self.plan_products(request),
            Op::CrtPow => {
                // Two powers of half the length.
                let op = if request.secrecy == Secrecy::Public { Op::PowVartime } else { Op::Pow };
                let halves = Request::new(op, request.shortest_bits, 2 * request.count);
                self.plan_like(request, halves.exponents_of(request.exponent_bits()))
            }
            Op::PublicPow => self.plan_like(request, Request { op: Op::PowVartime, ..request.clone() }),
            Op::SumMod | Op::Step => self.plan_words(request, Family::Row),
            Op::MatrixProduct => self.plan_words(request, Family::Rns),
            _ => None,
        }
    }

    /// The plan of `other`, which is computed instead of `request`.
    fn plan_like(&self, request: &Request, other: Request) -> Option<Plan> {
        Some(Plan { request: request.clone(), ..self.plan(&other)? })
    }

    fn plan_fixed(&self, request: &Request) -> Option<Plan> {
        let path = self.path_of_fixed_base(request.bits)?;
        let (window, secret) = fixed_base::windows(path, request)?;
        let factors = request.exponent_bits().div_ceil(secret as usize) as f64;
        let groups = request.count.div_ceil(path.lanes()).div_ceil(self.threads()) as f64;
        let cycles = groups * factors * cost::shared_factor(path, request.bits, secret);
        let variant = format!("{}, fixed base", self.lanes_and_threads(path));
        let reason = "a table takes the place of squarings";
        Some(self.plan_in_lanes(request, path, (variant, reason), Some(window), cycles / cost::CLOCK))
    }

    fn plan_powers(&self, request: &Request) -> Option<Plan> {
        let op = if request.secrecy == Secrecy::Public { Op::PowVartime } else { Op::Pow };
        let power = Request { op, ..request.clone() };
        let path = self.lanes_for(&power)?;
        let window = cost::window(path, request.bits, request.exponent_bits());
        // A fifth of a power is products with table entries, and the powers share the rest.
        let share = (4 + request.terms) as f64 / 5.0;
        let seconds = share * cost::seconds(Method::Lanes(path), &power, self.threads());
        let variant = format!("{}, interleaved", counted(request.terms, "power"));
        Some(self.plan_in_lanes(
            request,
            path,
            (variant, "powers share their squarings"),
            Some(window),
            seconds,
        ))
    }

    fn plan_products(&self, request: &Request) -> Option<Plan> {
        // Lanes share the factors of a long group, so that one product fills them too.
        let factors = request.count.saturating_mul(request.terms);
        let parts = factors.div_ceil(LEAST_FACTORS).min(self.lanes() * self.threads()).max(request.count);
        let products = Request::new(Op::MulMod, request.bits, parts).one_modulus();
        let path = self.lanes_for(&products)?;
        let factors = Request { count: factors, ..products };
        // A modular product is two products of the kernel, of which a column needs one.
        let seconds = self.plan(&factors)?.seconds / 2.0;
        let variant = format!("{}, a group in each lane", self.lanes_and_threads(path));
        Some(self.plan_in_lanes(request, path, (variant, "a number costs one product"), None, seconds))
    }

    fn plan_in_lanes(
        &self,
        request: &Request,
        path: CpuPath,
        (variant, reason): (String, &str),
        window: Option<u32>,
        seconds: f64,
    ) -> Plan {
        let method = Method::Lanes(path);
        let recipe = Recipe { method, window: window.unwrap_or(1) };
        Plan {
            variant,
            lanes: path.lanes(),
            threads: self.threads(),
            window,
            reason: reason.to_owned(),
            ..Plan::new(request, method.path(), seconds, recipe)
        }
    }

    /// Work on plain words, on all threads.
    fn plan_words(&self, request: &Request, family: Family) -> Option<Plan> {
        let path = Path { backend: modmill_core::Backend::Cpu, isa: Some(Isa::Portable), family };
        let words = request.count.saturating_mul(request.bits.div_ceil(64)).saturating_mul(request.terms);
        Some(Plan {
            variant: counted(self.threads(), "thread"),
            threads: self.threads(),
            reason: "the words are read once".to_owned(),
            ..Plan::new(request, path, words as f64 * WORD_SECONDS, ())
        })
    }

    /// The kernel for powers of a fixed base modulo numbers of `bits` bits: the one that is fastest when its
    /// lanes are full, with a group of lanes on each thread.
    pub(crate) fn path_of_fixed_base(&self, bits: usize) -> Option<CpuPath> {
        let request = Request::new(Op::Pow, bits, 8 * self.threads()).one_modulus();
        (bits <= KERNEL_MAX_BITS).then(|| self.lanes_for(&request))?
    }

    /// The kernel that computes a request in lanes, if it is computed so.
    pub(crate) fn lanes_for(&self, request: &Request) -> Option<CpuPath> {
        match self.choose(request).0 {
            Method::Lanes(path) => Some(path),
            Method::Division(limbs) => Some(limbs.into()),
            _ => None,
        }
    }

    pub(crate) fn lanes_and_threads(&self, path: CpuPath) -> String {
        format!("{} x {}", counted(path.lanes(), "lane"), counted(self.threads(), "thread"))
    }
}
