//! Plans of the CPU: which path computes a request, with which window, in which time.

use crate::backend::Cpu;
use crate::cost;
use crate::long;
use crate::method::Method;
use crate::path::CpuPath;
use crate::scalar_choice::Limbs;
use crate::vector_choice::StepLanes;
use modmill_core::window::{MAX_WINDOW, best_sliding_steps_vartime, best_sliding_window};
use modmill_core::{
    Alternative, Exponents, KERNEL_MAX_BITS, ModuliForm, Op, Plan, Request, TRANSFORM_MAX_BITS,
};

/// The way in which the CPU runs a request: the method, and the window of a power.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    pub(crate) method: Method,
    pub(crate) window: u32,
}

/// Bits of the exponent window of a method.
fn window(method: Method, request: &Request) -> u32 {
    let bits = request.exponent_bits();
    match (method, &request.exponents) {
        (_, Exponents::None) => 1,
        (_, Exponents::Public(exponent)) => best_sliding_steps_vartime(exponent, MAX_WINDOW).0.max(1),
        (Method::Residues | Method::Transforms(_), Exponents::Each { .. })
            if request.op == Op::PowVartime =>
        {
            best_sliding_window(bits)
        }
        (Method::Lanes(path), _) => cost::window(path, request.bits, bits),
        (Method::Residues, _) => cost::window(CpuPath::Rns, request.bits, bits),
        (Method::Transforms(_), _) => long::window(bits),
        (
            Method::Division(_)
            | Method::RowLanes(_)
            | Method::DivisionSteps
            | Method::StepLanes(_)
            | Method::HalfGcd(_),
            _,
        ) => 1,
    }
}

/// Limbs of a divisor from which a reciprocal by Newton's iteration costs less than rows.
pub(crate) const LONG_DIVISOR: usize = 600;

/// Bits of a divisor up to which rows in lanes are faster than scalar code; measured. Above, the rows of a
/// group of lanes do not stay in the first-level cache.
const LANES_MAX_BITS: usize = 8192;

impl Cpu {
    /// How this backend computes a request; `None` if the numbers are longer than [`TRANSFORM_MAX_BITS`], or
    /// if the operation is made of others and this backend has no algorithm for the whole.
    #[must_use]
    pub fn plan(&self, request: &Request) -> Option<Plan> {
        if request.bits > TRANSFORM_MAX_BITS {
            return None;
        }
        if !Op::OF_ITEMS.contains(&request.op) {
            return self.plan_composed(request);
        }
        let threads = self.threads();
        let (method, reason) = self.choose(request);
        let window = window(method, request);
        Some(Plan {
            variant: method.variant(request, threads),
            lanes: method.lanes(request),
            threads,
            window: request.op.is_power().then_some(window),
            chunk: method.lanes(request) * cost::grain(request.op, request.bits),
            reason,
            ..Plan::new(
                request,
                method.path(),
                cost::seconds(method, request, threads),
                Recipe { method, window },
            )
        })
    }

    /// The paths that a plan of this backend was chosen before, the fastest first.
    #[must_use]
    pub fn alternatives(&self, plan: &Plan) -> Vec<Alternative> {
        let request = &plan.request;
        match plan.recipe.get() {
            Some(Recipe { method: Method::Lanes(_) | Method::Residues | Method::Transforms(_), .. }) => {}
            Some(_) | None => return Vec::new(),
        }
        let able = self.paths.iter().filter(|path| path.computes(request.op, request.bits));
        let methods = able.map(|&path| Method::of(path).for_op(request.op));
        let lost = methods.filter(|method| method.path() != plan.path);
        let mut others: Vec<Alternative> = lost
            .map(|method| Alternative {
                path: method.path(),
                variant: method.variant(request, self.threads()),
                seconds: cost::seconds(method, request, self.threads()),
            })
            .collect();
        others.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        others
    }

    /// The method with the least estimated time, and the reason to choose it.
    pub(crate) fn choose(&self, request: &Request) -> (Method, String) {
        let Request { op, bits, moduli, .. } = *request;
        match op {
            Op::Inv | Op::Gcd | Op::Jacobi => {
                let (method, reason) = self.choose_steps(request);
                return (method, reason.to_owned());
            }
            Op::Div | Op::Isqrt => {
                let multiplier = self.multiplier();
                return match request.second_bits < 64 * LONG_DIVISOR {
                    true => self.choose_rows(request, multiplier.limbs(), "scalar code divides"),
                    false => (Method::Transforms(multiplier), "less than quadratic".to_owned()),
                };
            }
            Op::MulMod | Op::SquareMod if moduli == ModuliForm::Each => {
                if let Some(limbs) = self.divides(bits) {
                    return self.choose_rows(request, limbs, "a modulus used once is divided by");
                }
            }
            _ => {}
        }
        let seconds = |path: CpuPath| cost::seconds(Method::of(path).for_op(op), request, self.threads());
        let able = self.paths.iter().copied().filter(|path| path.computes(op, bits));
        match able.min_by(|&a, &b| seconds(a).total_cmp(&seconds(b))) {
            Some(path) => {
                let is_remainder = op == Op::MulMod && request.second_bits == 1;
                if let (Method::Lanes(path), Some(limbs), true) =
                    (Method::of(path), self.divides(bits), is_remainder)
                    && !path.divides(request.count)
                {
                    return self.choose_rows(request, limbs, "a remainder is found by division");
                }
                let is_only = self.paths.iter().filter(|path| path.computes(op, bits)).count() == 1;
                let reason = if is_only { "the only path open here" } else { "least time by measured costs" };
                (Method::of(path).for_op(op), reason.to_owned())
            }
            None => {
                let stand_in =
                    if bits > KERNEL_MAX_BITS { CpuPath::Fft(self.multiplier()) } else { CpuPath::Row };
                let (asked, family) = (self.paths[0].family(), stand_in.family());
                let reason = format!("{asked} does not compute {op} at this length; {family} does");
                (Method::of(stand_in), reason)
            }
        }
    }

    /// The method for inverses, divisors and symbols: lanes where they are faster than single numbers.
    fn choose_steps(&self, request: &Request) -> (Method, &'static str) {
        let seconds = |method: Method| cost::seconds(method, request, self.threads());
        let alone = match request.op {
            Op::Inv if request.bits <= KERNEL_MAX_BITS => Method::DivisionSteps,
            Op::Jacobi => Method::DivisionSteps,
            _ => Method::HalfGcd(self.multiplier()),
        };
        let lanes = StepLanes::of(&self.paths).into_iter().map(Method::StepLanes);
        let lanes = lanes.filter(|_| request.bits <= KERNEL_MAX_BITS);
        match lanes.min_by(|&a, &b| seconds(a).total_cmp(&seconds(b))) {
            Some(lanes) if seconds(lanes) < seconds(alone) => {
                (lanes, "lanes take their division steps together")
            }
            _ if request.bits > KERNEL_MAX_BITS && request.op != Op::Jacobi => {
                (alone, "less than quadratic; the time depends on the numbers")
            }
            _ => {
                (alone, "division steps of one number are faster than those of lanes that are hardly filled")
            }
        }
    }

    /// The method for divisions and square roots: lanes where they are faster than scalar code, which is
    /// chosen for `reason` otherwise.
    fn choose_rows(&self, request: &Request, limbs: Limbs, reason: &str) -> (Method, String) {
        let seconds = |method: Method| cost::seconds(method, request, self.threads());
        let alone = Method::Division(limbs);
        let divisor_bits = match request.op {
            Op::Div => request.second_bits,
            Op::Isqrt => request.bits.div_ceil(2),
            _ => request.bits,
        };
        // Scalar code finds the remainder of a number as long as its modulus by one subtraction.
        let is_short = request.op == Op::MulMod
            && request.second_bits == 1
            && request.factor_bits <= request.shortest_bits;
        let lanes = StepLanes::of(&self.paths).into_iter().map(Method::RowLanes);
        let lanes = lanes.filter(|_| divisor_bits <= LANES_MAX_BITS && !is_short);
        match lanes.min_by(|&a, &b| seconds(a).total_cmp(&seconds(b))) {
            Some(lanes) if seconds(lanes) < seconds(alone) => {
                (lanes, "lanes divide several numbers together".to_owned())
            }
            _ => (alone, reason.to_owned()),
        }
    }

    /// The arithmetic by which a product modulo a number used once is found by division: at every length that
    /// kernels take, unless a family other than rows is asked for.
    pub(crate) fn divides(&self, bits: usize) -> Option<Limbs> {
        let fastest_last = self.paths.iter().rev();
        fastest_last.copied().find_map(CpuPath::limbs).filter(|_| bits <= KERNEL_MAX_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use modmill_core::Isa;

    #[test]
    fn short_exponents_are_expected_to_take_less() {
        let cpu = Cpu::new(Settings { threads: Some(1), ..Settings::default() }).unwrap();
        let request = Request::new(Op::PowVartime, 2048, 1000);
        let seconds = |request: Request| cpu.plan(&request).unwrap().seconds;
        assert!(20.0 * seconds(request.clone().exponents_of(17)) < seconds(request));
    }

    /// Lanes divide where there are some items for them, and scalar code divides few items and long numbers.
    #[test]
    fn lanes_divide_several_numbers() {
        let settings = Settings { threads: Some(1), ..Settings::default() };
        let cpu = Cpu::new(settings).unwrap();
        if StepLanes::of(&cpu.paths).is_empty() {
            return;
        }
        let takes_lanes = |request: Request| matches!(cpu.choose(&request).0, Method::RowLanes(_));
        for bits in [256, 512, 1024, 2048, 4096] {
            let division = |count| Request { second_bits: bits, ..Request::new(Op::Div, 2 * bits, count) };
            assert!(takes_lanes(division(64)) && !takes_lanes(division(1)), "{bits}");
            for op in [Op::Isqrt, Op::MulMod, Op::SquareMod] {
                assert!(takes_lanes(Request::new(op, bits, 64)), "{op}, {bits}");
                assert!(!takes_lanes(Request::new(op, bits, 1)), "{op}, {bits}");
            }
            let reduction = Request { second_bits: 1, ..Request::new(Op::MulMod, bits, 64) };
            assert!(!takes_lanes(reduction.clone()));
            assert!(takes_lanes(Request { factor_bits: 2 * bits, ..reduction }));
        }
        assert!(!takes_lanes(Request::new(Op::MulMod, 16_384, 64)));
    }

    /// One modulus or one for each item: scalar code divides at the lengths of keys.
    #[test]
    fn scalar_code_divides_single_products() {
        for isa in [Isa::Portable, Isa::X86] {
            let settings = Settings { isa: Some(isa), threads: Some(1), ..Settings::default() };
            let Ok(cpu) = Cpu::new(settings) else { continue };
            for bits in [64, 256, 1024, 2048, 4096] {
                let request = Request::new(Op::MulMod, bits, 64);
                for request in [request.clone(), request.one_modulus()] {
                    let (method, reason) = cpu.choose(&request);
                    assert!(
                        matches!(method, Method::Division(_)),
                        "{isa}, {bits} bits: {method:?}, {reason}"
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_the_limit_have_no_plan() {
        let cpu = Cpu::new(Settings { threads: Some(1), ..Settings::default() }).unwrap();
        for &op in Op::OF_ITEMS {
            assert!(cpu.plan(&Request::new(op, TRANSFORM_MAX_BITS, 1)).is_some());
            assert!(cpu.plan(&Request::new(op, TRANSFORM_MAX_BITS + 1, 1)).is_none());
        }
    }
}
