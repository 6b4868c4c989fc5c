//! A brief look at constant time, and proof that the look can see.
//!
//! Seconds of samples on a busy machine: large leaks show, small ones do not. `modmill selftest`
//! and a quiet machine can look longer with the same code.

use modmill::{Engine, Isa, Modulus, Operand};
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

/// Fails only if three measurements in a row see a leak of the same sign: noise changes sign.
fn assert_constant_time(mut measure: impl FnMut() -> TimingReport) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut reports = Vec::new();
    for _ in 0..3 {
        let report = measure();
        println!("{report:?}");
        if report.passed() {
            return;
        }
        reports.push(report);
    }
    let same_sign = reports.windows(2).all(|pair| pair[0].t.signum() == pair[1].t.signum());
    assert!(!same_sign, "time depends on secrets: {reports:#?}");
}

#[test]
fn pow_takes_the_same_time_for_all_exponents() {
    let engine = portable();
    assert_constant_time(|| timing::welch_pow(&engine, BITS, DURATION, &mut |_| {}));
}

#[test]
fn pow_takes_the_same_time_for_all_bases() {
    let engine = portable();
    assert_constant_time(|| timing::welch_pow_bases(&engine, BITS, DURATION, &mut |_| {}));
}

#[test]
fn inv_takes_the_same_time_for_all_numbers() {
    let engine = portable();
    assert_constant_time(|| timing::welch_inv(&engine, BITS, DURATION, &mut |_| {}));
}

#[test]
fn pow_on_the_engines_own_choice_takes_the_same_time_for_all_exponents() {
    let engine = Engine::builder().threads(1).build().unwrap();
    assert_constant_time(|| timing::welch_pow(&engine, BITS, DURATION, &mut |_| {}));
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
        let random = rng.exact(BITS).to_u64_digits();
        if class == Class::Fixed { vec![0; random.len()] } else { random }
    };
    assert_constant_time(|| {
        timing::measure(DURATION, &mut |_| {}, exponent, |exponent| {
            engine.pow(base, Operand::Shared { bits: BITS, value: exponent }, &modulus)
        })
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
        let random = rng.exact(BITS).to_u64_digits();
        if class == Class::Fixed { vec![0, 0, 0, 1 << 63] } else { random }
    };
    let report = timing::measure(DURATION, &mut |_| {}, exponent, |exponent| {
        engine.pow_vartime(base, Operand::Shared { bits: BITS, value: exponent }, &modulus)
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
