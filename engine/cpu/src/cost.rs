//! The cost of each path, to choose among them.
//!
//! The constants are clock cycles per group of lanes, fitted to `modmill bench` on an Emerald Rapids core;
//! only their ratios matter. Those of `x86/row` and of conversions come from a Cascade Lake core, by the
//! speed of `portable/row` on both.

use crate::karatsuba;
use crate::long::{self, Multiplier, gcd};
use crate::method::Method;
use crate::path::CpuPath;
use crate::scalar_choice::{Limbs, with_scalar};
use crate::vector_choice::StepLanes;
use modmill_core::window::best_fixed_window;
use modmill_core::{Isa, ModuliForm, Op, Request};

/// Cost of one Montgomery product of `digits` digits: `quadratic d^2 + linear d + constant`.
struct Fit {
    quadratic: f64,
    linear: f64,
    constant: f64,
    /// Reading one table entry, per digit.
    scan: f64,
    /// Reading one entry of a table that all lanes share, per digit.
    shared_scan: f64,
    /// Moving a limb into or out of a lane; scalar code leaves numbers as they are.
    convert: f64,
}

const fn fit(path: CpuPath) -> Fit {
    let scalar =
        Fit { quadratic: 3.0, linear: 3.0, constant: 50.0, scan: 0.4, shared_scan: 0.7, convert: 0.0 };
    match path {
        // Transforms go by their own estimate, below.
        CpuPath::Row | CpuPath::Fft(_) => scalar,
        #[cfg(target_arch = "x86_64")]
        CpuPath::X86(_) => Fit { quadratic: 2.1, linear: 4.0, constant: 30.0, scan: 0.15, ..scalar },
        CpuPath::Rns => Fit { quadratic: 10.0, linear: 170.0, constant: 0.0, scan: 0.7, ..scalar },
        #[cfg(target_arch = "x86_64")]
        CpuPath::WideAvx2(_) => {
            Fit { quadratic: 2.63, linear: 11.3, constant: 130.0, scan: 1.0, shared_scan: 0.4, convert: 20.0 }
        }
        #[cfg(target_arch = "x86_64")]
        CpuPath::WideAvx512(_) => {
            Fit { quadratic: 4.42, linear: 2.7, constant: 170.0, scan: 0.1, shared_scan: 0.1, convert: 12.0 }
        }
        #[cfg(target_arch = "x86_64")]
        CpuPath::Ifma(_) => {
            Fit { quadratic: 1.64, linear: 3.8, constant: 60.0, scan: 0.1, shared_scan: 0.1, convert: 4.0 }
        }
    }
}

/// The kernel for two numbers, which has the digits of the IFMA kernel.
const PAIR: Fit =
    Fit { quadratic: 0.75, linear: 2.5, constant: 60.0, scan: 0.5, shared_scan: 0.5, convert: 4.0 };

impl Fit {
    /// Cycles for one product in the digits of a path.
    fn product(&self, path: CpuPath, bits: usize) -> f64 {
        let digits = path.digits(bits) as f64;
        self.quadratic * digits * digits + self.linear * digits + self.constant
    }
}

/// Cycles for one product by a path.
fn product(path: CpuPath, bits: usize) -> f64 {
    fit(path).product(path, bits)
}

/// The best fixed window for an exponent of `exponent_bits` bits.
pub(crate) fn window(path: CpuPath, bits: usize, exponent_bits: usize) -> u32 {
    if let CpuPath::Fft(_) = path {
        return long::window(exponent_bits);
    }
    best_fixed_window(exponent_bits, fit(path).scan * path.digits(bits) as f64 / product(path, bits))
}

/// Bytes of a table that stay in the first-level cache together with the operands of a product.
const CACHED: usize = 32 << 10;

/// Cycles to load a word of a table that does not stay there, for one group of lanes. Several groups share
/// the load, and a window that suits one group costs them a few hundredths.
const LOAD: f64 = 0.3;

/// Cycles for one factor of a power of a fixed base with windows of `window` bits: a read from a shared table
/// and a product.
pub(crate) fn shared_factor(path: CpuPath, bits: usize, window: u32) -> f64 {
    let words = path.digits(bits) << window;
    let load = if 8 * words <= CACHED { 0.0 } else { LOAD };
    product(path, bits) + (fit(path).shared_scan + load) * words as f64
}

/// Cycles in a second of the processor that the costs were measured on.
pub(crate) const CLOCK: f64 = 2.8e9;

/// Estimated seconds until a request is done by a method on `threads` threads.
pub(crate) fn seconds(method: Method, request: &Request, threads: usize) -> f64 {
    let count = request.count.max(1);
    let one_by_one = |cycles: f64| count.div_ceil(threads) as f64 * cycles;
    let cycles = match method {
        Method::Lanes(path) => {
            let lanes = path.lanes_for(request.op, request.bits, count);
            let groups = count.div_ceil(lanes).div_ceil(threads) as f64;
            let product = match path.takes_a_pair(request.op, request.bits, count) {
                true => PAIR.product(path, request.bits),
                false => product(path, request.bits),
            };
            let is_product = matches!(request.op, Op::MulMod | Op::SquareMod);
            let is_shared = request.moduli == ModuliForm::Shared;
            let products = match is_product && is_shared && path.divides(count) {
                true => DIVIDED,
                false => products(request),
            };
            match (request.op, path.limbs()) {
                (Op::Mul, Some(limbs)) => one_by_one(full_product(limbs, request.bits)),
                (Op::Square, Some(limbs)) => one_by_one(0.6 * full_product(limbs, request.bits)),
                _ => groups * products * product + one_by_one(conversion(path, request)),
            }
        }
        Method::Residues => one_by_one(products(request) * product(CpuPath::Rns, request.bits)),
        Method::Transforms(multiplier) => by_transforms(&multiplier, request, threads),
        Method::Division(limbs) if request.op == Op::Div => one_by_one(RECIPROCAL + quotient(limbs, request)),
        Method::Division(limbs) if request.op == Op::Isqrt => {
            one_by_one(2.0 * RECIPROCAL + SQUARE_ROOT * product(limbs.into(), request.bits.div_ceil(2)))
        }
        Method::Division(limbs) => one_by_one(RECIPROCAL + DIVISION * product(limbs.into(), request.bits)),
        Method::RowLanes(lanes) => {
            let groups = count.div_ceil(lanes.lanes()).div_ceil(threads) as f64;
            groups * row_lanes(lanes, request)
        }
        Method::DivisionSteps if request.op == Op::Jacobi => one_by_one(1.5 * short_gcd(request.bits)),
        Method::DivisionSteps => one_by_one(division_steps(request.bits)),
        Method::StepLanes(lanes) => {
            let groups = count.div_ceil(lanes.lanes()).div_ceil(threads) as f64;
            groups * step_lanes(lanes, request.op, request.bits)
        }
        Method::HalfGcd(_) if request.bits <= 64 * gcd::STEPS_LIMBS => one_by_one(short_gcd(request.bits)),
        Method::HalfGcd(multiplier) => one_by_one(half_gcd(&multiplier, request.bits)),
    };
    cycles / CLOCK
}

/// Montgomery products that a product and a division by a reciprocal cost.
const DIVIDED: f64 = 1.1;

/// Montgomery products that a product and a division cost in scalar code.
const DIVISION: f64 = 1.8;

/// Montgomery products of half as many limbs that a square root costs in scalar code.
const SQUARE_ROOT: f64 = 1.2;

/// Cycles for the reciprocal of the leading limbs of a divisor, in scalar code.
const RECIPROCAL: f64 = 150.0;

/// Groups of lanes that one thread takes at a time: single products are too short to be handed out one group
/// at a time.
pub(crate) fn grain(op: Op, bits: usize) -> usize {
    match op {
        Op::Mul | Op::Square | Op::MulMod | Op::SquareMod => (16_384 / bits.max(1)).clamp(1, 64),
        _ => 1,
    }
}

/// Cycles of a quotient of `bits` bits less the `second_bits` of its divisor, by scalar code.
fn quotient(limbs: Limbs, request: &Request) -> f64 {
    let blocks = request.bits.saturating_sub(request.second_bits) as f64 / request.second_bits.max(64) as f64;
    1.5 * blocks * product(limbs.into(), request.second_bits)
}

/// Cycles of a full product by scalar code, which is Karatsuba's for long factors.
fn full_product(limbs: Limbs, bits: usize) -> f64 {
    let threshold = 64 * with_scalar!(limbs, scalar => karatsuba::threshold(scalar));
    let rows = 0.5 * product(limbs.into(), bits.min(threshold));
    rows * (bits as f64 / threshold as f64).max(1.0).powf(1.585)
}

/// Cycles to move the factors and the product of an item into lanes and out of them, where that is a good
/// part of the work.
fn conversion(path: CpuPath, request: &Request) -> f64 {
    let limbs = request.bits.div_ceil(64) as f64;
    match request.op {
        Op::Mul | Op::Square => 4.0 * limbs * fit(path).convert,
        Op::MulMod | Op::SquareMod => 3.0 * limbs * fit(path).convert,
        _ => 0.0,
    }
}

/// Montgomery products that an item costs.
fn products(request: &Request) -> f64 {
    match request.op {
        // A square for each bit, and a product for each window.
        Op::Pow | Op::PowVartime => 1.2 * request.exponent_bits() as f64,
        Op::Mul | Op::Square => 0.5,
        Op::MulMod | Op::SquareMod => 2.0,
        _ => 1.0,
    }
}

/// Cycles until a request whose numbers go by transforms is done.
fn by_transforms(multiplier: &Multiplier, request: &Request, threads: usize) -> f64 {
    let Request { op, bits, count, .. } = *request;
    let limbs = bits.div_ceil(64).max(1);
    let product = long_product(multiplier, limbs);
    // Barrett's reduction is a product and one of half the length, with transforms kept, and work by limbs.
    let reduced = if limbs < multiplier.threshold() { 6.0 * product } else { 3.3 * product };
    let cycles = match op {
        Op::Pow | Op::PowVartime => {
            let square = match long::reduction_method(multiplier, limbs, request.exponent_bits()) {
                long::ReductionMethod::Barrett => reduced,
                long::ReductionMethod::Montgomery => montgomery_square(multiplier, limbs),
            };
            1.2 * request.exponent_bits() as f64 * square
        }
        Op::Mul => product,
        Op::Square => 0.75 * product,
        // A reciprocal, and two products for each block of the quotient.
        Op::Div | Op::Isqrt => 8.0 * product,
        Op::MulMod | Op::SquareMod => reduced,
        _ => half_gcd(multiplier, bits),
    };
    count.max(1) as f64 * cycles / at_once(limbs, count.max(1), threads)
}

/// Numbers of `limbs` limbs that `threads` threads compute in the time of one. Items share the threads. If
/// there are more threads than items, two threads share an item.
fn at_once(limbs: usize, count: usize, threads: usize) -> f64 {
    let threads_of_item = (threads as f64 / count as f64).min(2.0);
    if threads_of_item <= 1.0 {
        return threads as f64;
    }
    // The rate of the second thread as a fraction of the first one's.
    let second = match limbs {
        0..8192 => 0.0,
        8192..32_768 => 0.4,
        _ => 0.6,
    };
    count as f64 * (1.0 + (threads_of_item - 1.0) * second)
}

/// Cycles of an inverse by division steps: as many batches of 62 steps as the bits ask for, each a pass over
/// the limbs.
fn division_steps(bits: usize) -> f64 {
    let limbs = bits.div_ceil(64) as f64;
    2.9 * bits as f64 / 62.0 * (450.0 + 11.0 * limbs)
}

/// Cycles of a greatest common divisor by division steps in variable time: two steps for each bit, of which
/// 62 are a pass over limbs that become fewer.
fn short_gcd(bits: usize) -> f64 {
    let limbs = bits.div_ceil(64) as f64;
    200.0 + 2.1 * bits as f64 / 62.0 * (300.0 + 4.5 * limbs)
}

/// Cycles of inverses, divisors or symbols in the lanes of a vector: batches of 60 steps, each a pass over
/// the digits of the lanes.
fn step_lanes(lanes: StepLanes, op: Op, bits: usize) -> f64 {
    let digits = bits as f64 / 30.0;
    let batches = bits as f64 / 60.0;
    let (steps, digit) = match lanes.isa() {
        Isa::Avx512 => (400.0, 10.0),
        _ => (450.0, 8.0),
    };
    // f and g become shorter where the numbers are public, and there are no d and e.
    let public = steps + 0.5 * digit * digits;
    500.0
        + batches
            * match op {
                Op::Inv => 2.304 * (steps + 2.0 * digit * digits),
                Op::Gcd => 2.05 * public,
                _ => 3.0 * public,
            }
}

/// Cycles of divisions or square roots in the lanes of a vector, by rows of digits of 30 bits.
fn row_lanes(lanes: StepLanes, request: &Request) -> f64 {
    let digits = |bits: usize| bits as f64 / 30.0;
    let (rows, products, moved) = match request.op {
        Op::Isqrt => {
            let root = digits(request.bits) / 2.0;
            (root, root * root / 2.0, 6.0 * root)
        }
        Op::Div => {
            let divisor = digits(request.second_bits);
            let rows = (digits(request.bits) - divisor).max(1.0);
            (rows, rows * divisor, 2.0 * (rows + divisor) + 2.0 * divisor)
        }
        _ if request.second_bits == 1 => {
            let divisor = digits(request.bits);
            let rows = (digits(request.factor_bits) - divisor).max(1.0);
            (rows, rows * divisor, rows + 3.0 * divisor)
        }
        _ => {
            let modulus = digits(request.bits);
            (2.0 * modulus, 2.0 * modulus * modulus, 4.0 * modulus)
        }
    };
    let product = if lanes.isa() == Isa::Avx512 { 1.2 } else { 0.9 };
    200.0 + 15.0 * rows + 4.0 * moved + product * products
}

/// Cycles of a greatest common divisor by half-gcd: a product of every length, and as many levels as the
/// length halves.
fn half_gcd(multiplier: &Multiplier, bits: usize) -> f64 {
    let limbs = bits.div_ceil(64).max(2);
    8.0 * long_product(multiplier, limbs) * (limbs as f64).log2()
}

/// Cycles of a product of two numbers of `limbs` limbs.
fn long_product(multiplier: &Multiplier, limbs: usize) -> f64 {
    let n = limbs as f64;
    match (multiplier.isa(), limbs < multiplier.threshold()) {
        (_, true) => full_product(multiplier.limbs(), 64 * limbs) + 100.0,
        (Isa::Avx512Ifma, _) => n * (50.0 + 6.2 * n.log2()) + 4000.0,
        (Isa::Avx512, _) => n * (58.0 + 9.5 * n.log2()) + 6000.0,
        (Isa::Avx2, _) => n * (40.0 + 15.0 * n.log2()) + 6000.0,
        _ => n * 120.0 * n.log2(),
    }
}

/// Cycles of a square and Montgomery's reduction by transforms.
fn montgomery_square(multiplier: &Multiplier, limbs: usize) -> f64 {
    let n = limbs as f64;
    match multiplier.isa() {
        Isa::Avx512Ifma => n * (100.0 + 9.0 * n.log2()) + 7000.0,
        Isa::Avx512 => n * (160.0 + 17.0 * n.log2()) + 15000.0,
        Isa::Avx2 => n * (200.0 + 25.0 * n.log2()) + 12000.0,
        _ => n * 200.0 * n.log2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_items_first_and_long_numbers_after() {
        assert_eq!(at_once(100_000, 8, 8), 8.0);
        assert_eq!(at_once(100_000, 100, 8), 8.0);
        assert_eq!(at_once(1000, 1, 8), 1.0);
        assert_eq!(at_once(1000, 5, 8), 5.0);
        assert!(at_once(100_000, 1, 2) > 1.0 && at_once(100_000, 1, 2) <= 2.0);
        assert!(at_once(100_000, 4, 6) > 4.0 && at_once(100_000, 4, 6) <= 6.0);
    }
}
