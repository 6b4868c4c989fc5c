//! A brief look at constant time, and proof that the look can see.
//!
//! Seconds of samples on a busy machine: large leaks show, small ones do not. `modmill selftest`
//! and a quiet machine can look longer with the same code.

use modmill::matrix::{BitVectors, Placement, ResidueMatrix, ResidueModuli, SeededRows};
use modmill::{Engine, Isa, Modulus, Op, Operand, Public, Request};
use modmill_testing::rng::Rng;
use modmill_testing::timing::{self, Class, TimingReport};
use std::sync::Mutex;
use std::time::Duration;

const BITS: usize = 256;
const DURATION: Duration = Duration::from_secs(2);

/// Tests of this file run one at a time: they would disturb each other.
static ALONE: Mutex<()> = Mutex::new(());

fn portable() -> Engine {
    Engine::builder().isa(Isa::Portable).threads(1).build().unwrap()
}

fn leak(measure: impl FnMut() -> TimingReport) -> Option<[TimingReport; 3]> {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    timing::confirmed_leak(measure)
}

fn assert_constant_time(measure: impl FnMut() -> TimingReport) {
    if let Some(reports) = leak(measure) {
        panic!("time depends on secrets: {reports:#?}");
    }
}

type Measure = fn(&Engine, usize, Duration, &mut dyn FnMut(f64)) -> TimingReport;

fn assert_constant_time_on_every_path(measure: Measure) {
    let mut leaks = Vec::new();
    for path in Engine::new().unwrap().paths() {
        println!("{path}");
        let engine = Engine::builder().path(path).threads(1).build().unwrap();
        let found = leak(|| measure(&engine, BITS, DURATION, &mut |_| {}));
        leaks.extend(found.map(|reports| format!("{path}: {reports:#?}")));
    }
    assert!(leaks.is_empty(), "time depends on secrets: {}", leaks.join("\n"));
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn pow_takes_the_same_time_for_all_exponents_on_every_path() {
    assert_constant_time_on_every_path(timing::welch_pow);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn pow_of_one_item_takes_the_same_time_for_all_exponents_on_every_path() {
    assert_constant_time_on_every_path(timing::welch_pow_of_one);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn powers_of_a_fixed_base_take_the_same_time_for_all_exponents_on_every_path() {
    assert_constant_time_on_every_path(timing::welch_pow_fixed_base);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn products_of_powers_take_the_same_time_for_all_exponents_on_every_path() {
    assert_constant_time_on_every_path(timing::welch_multi_pow);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn single_products_take_the_same_time_for_all_factors_on_every_path() {
    assert_constant_time_on_every_path(timing::welch_products);
}

#[test]
fn pow_takes_the_same_time_for_all_bases() {
    let engine = portable();
    assert_constant_time(|| timing::welch_pow_bases(&engine, BITS, DURATION, &mut |_| {}));
}

/// Division steps in portable code, and in the vectors of both instruction sets that have them.
#[test]
#[ignore = "slow: .ci/run has it"]
fn inv_takes_the_same_time_for_all_numbers_on_every_instruction_set() {
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
        let Ok(engine) = Engine::builder().isa(isa).threads(1).build() else {
            println!("{isa}: left out, because this processor does not have it");
            continue;
        };
        let plan = engine.plan(&Request::new(Op::Inv, BITS, 8)).unwrap();
        assert_eq!(plan.path.isa, Some(isa), "{plan}");
        println!("{}", plan.path);
        assert_constant_time(|| timing::welch_inv(&engine, BITS, DURATION, &mut |_| {}));
    }
}

/// Scalar code of both instruction sets that have it.
#[test]
fn quotients_and_roots_take_the_same_time_for_all_numbers() {
    for isa in [Isa::Portable, Isa::X86] {
        let Ok(engine) = Engine::builder().isa(isa).threads(1).build() else {
            println!("{isa}: left out, because this processor does not have it");
            continue;
        };
        assert_eq!(engine.plan(&Request::new(Op::Isqrt, BITS, 8)).unwrap().path.isa, Some(isa));
        assert_constant_time(|| timing::welch_quotients_and_roots(&engine, 4 * BITS, DURATION, &mut |_| {}));
    }
}

#[test]
fn an_even_modulus_takes_the_same_time_for_all_exponents() {
    let engine = portable();
    let mut modulus = Rng::new(9).exact(BITS);
    modulus >>= 70;
    modulus <<= 70;
    let modulus = Modulus::new(&modulus.to_u64_digits()).unwrap();
    let base = Rng::new(10).exact(BITS).to_u64_digits();
    let base = Operand::Shared { bits: BITS, value: &base };
    let exponent = |class, rng: &mut Rng| {
        let mut digits = rng.exact(BITS).to_u64_digits();
        if class == Class::Fixed {
            digits.fill(0);
        }
        digits
    };
    assert_constant_time(|| {
        timing::measure(DURATION, &mut |_| {}, exponent, |exponent| {
            engine.pow(base, Operand::Shared { bits: BITS, value: exponent }, &modulus)
        })
    });
}

#[test]
fn rows_of_a_matrix_are_selected_in_the_same_time() {
    let engine = portable();
    let moduli = ResidueModuli::largest(4).unwrap();
    let rows = SeededRows::new(&moduli, 256, 16, [1; 32]).unwrap();
    let matrix = ResidueMatrix::new(&engine, rows, Placement::Held).unwrap();
    let bits = |class, rng: &mut Rng| {
        let fill = |words: &mut [u32]| -> Result<(), modmill::Error> {
            words.iter_mut().for_each(|word| *word = rng.word() as u32);
            if class == Class::Fixed {
                words.fill(0);
            }
            Ok(())
        };
        BitVectors::filled(1, 256, fill).unwrap()
    };
    assert_constant_time(|| {
        timing::measure(DURATION, &mut |_| {}, bits, |bits| matrix.multiply(&engine, bits))
    });
}

/// Products take a few hundredths of the time of a power: one product too many for every set bit
/// must be seen, else the tests above prove nothing.
#[test]
fn the_measurement_sees_an_exponentiation_that_leaks() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let engine = portable();
    let modulus = Modulus::new(&[u64::MAX, u64::MAX, u64::MAX, u64::MAX - 58]).unwrap();
    let base = Operand::Shared { bits: 64, value: &[3] };
    // Equal lengths, so that only the number of ones differs.
    let exponent = |class, rng: &mut Rng| {
        let mut digits = rng.exact(BITS).to_u64_digits();
        if class == Class::Fixed {
            digits.copy_from_slice(&[0, 0, 0, 1 << 63]);
        }
        digits
    };
    let report = timing::measure(DURATION, &mut |_| {}, exponent, |exponent| {
        engine.pow(base, Public(Operand::Shared { bits: BITS, value: exponent }), &modulus)
    });
    println!("{report:?}");
    assert!(!report.passed() && report.t < 0.0, "sparse exponents are faster, but {report:?}");
}

#[test]
fn progress_rises_to_one() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut seen = Vec::new();
    let report = timing::welch_pow(&portable(), 64, Duration::from_millis(50), &mut |done| seen.push(done));
    assert!(seen.is_sorted() && seen.last() == Some(&1.0));
    assert!(report.samples > 0 && report.threshold == timing::THRESHOLD);
}
