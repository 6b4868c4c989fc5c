//! A test whether the time of an operation depends on its secrets, after "Dude, is my code constant time?"
//! (Reparaz, Balasch, Verbauwhede, 2017).
//!
//! Calls with one fixed secret and calls with random secrets follow each other in random order,
//! so that other load on the machine slows both alike. Welch's t-test then tells whether the two
//! sets of times have different means: on all times, on the times below each of many percentiles
//! (interrupts fill the upper tail and hide small differences), and on the squared deviations.
//! The largest of these t is reported.
//!
//! A measurement can show a leak. A measurement without a leak is evidence, not proof.

use crate::rng::Rng;
use modmill::{Batch, Engine, Modulus, Op, Request, integers, primality};
use num_bigint::BigUint;
use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The |t| above which a leak is assumed.
///
/// One test alone would be significant above 4.5 (a chance of 1 in 10^5 per side). Here the
/// largest of about a hundred is taken, on a machine that does other things, so that values of
/// 5 occur by chance; dudect therefore calls 10 "probably not constant time", and a true
/// leak grows past it with the square root of the number of samples.
pub const THRESHOLD: f64 = 10.0;

/// Percentiles below which times are also compared, more of them near the top, as in dudect.
const CROPS: usize = 100;

/// The least number of times in a cropped set.
const ENOUGH: f64 = 100.0;

/// Inputs prepared at once, so that preparing them is far from timing them.
const PREPARED: usize = 64;

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct TimingReport {
    /// The number of timed calls, of both classes together.
    pub samples: usize,
    /// The largest of the t statistics, with its sign: positive if the fixed secret is slower.
    pub t: f64,
    /// The |t| above which a leak is assumed.
    pub threshold: f64,
    /// Median time of a call with the fixed secret, in nanoseconds.
    pub fixed_ns: f64,
    /// Median time of a call with random secrets, in nanoseconds.
    pub random_ns: f64,
    /// The test with the largest t.
    pub test: String,
}

impl TimingReport {
    /// Whether no leak was seen.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.t.abs() < self.threshold
    }
}

/// The two kinds of secrets compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One secret, always the same.
    Fixed,
    /// A new random secret each time.
    Random,
}

/// Compares the time of [`Engine::pow`] for the exponent zero with that for random exponents of the same
/// declared width, modulo one odd number of `bits` bits. `progress` is called with the fraction done.
pub fn welch_pow(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    pow_exponents(engine, &Setting::new(engine, Op::Pow, bits), duration, progress)
}

/// Compares the times of [`welch_pow`] with a batch of one item, for which some paths have a kernel of their
/// own.
pub fn welch_pow_of_one(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting { lanes: 1, ..Setting::new(engine, Op::Pow, bits) };
    pow_exponents(engine, &setting, duration, progress)
}

fn pow_exponents(
    engine: &Engine,
    setting: &Setting,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let bases = setting.random(&mut Rng::new(3));
    let exponents = |class, rng: &mut Rng| setting.secrets(class, 0, rng);
    measure(duration, progress, exponents, |exponents| engine.pow(&bases, exponents, &setting.modulus))
}

/// Compares the time of [`Engine::pow`] for the base one with that for random bases.
pub fn welch_pow_bases(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting::new(engine, Op::Pow, bits);
    let exponents = setting.random(&mut Rng::new(4));
    let bases = |class, rng: &mut Rng| setting.secrets(class, 1, rng);
    measure(duration, progress, bases, |bases| engine.pow(bases, &exponents, &setting.modulus))
}

/// Compares the time of [`Engine::pow_fixed_base`] for the exponent zero with that for random exponents of
/// the same declared width.
///
/// # Panics
/// If the engine cannot prepare the base, because then there is nothing to measure.
pub fn welch_pow_fixed_base(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting::new(engine, Op::Pow, bits);
    let base = setting.random(&mut Rng::new(6));
    let fixed = engine.fixed_base(base.shared(0), &setting.modulus, bits).expect("the base is one number");
    let exponents = |class, rng: &mut Rng| setting.secrets(class, 0, rng);
    measure(duration, progress, exponents, |exponents| engine.pow_fixed_base(&fixed, exponents))
}

/// Compares the time of [`Engine::multi_pow`] with two powers for the first exponent zero with that for
/// random exponents of the same declared width.
pub fn welch_multi_pow(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting::new(engine, Op::Pow, bits);
    let (bases, others) = (setting.random(&mut Rng::new(7)), setting.random(&mut Rng::new(8)));
    let exponents = |class, rng: &mut Rng| setting.secrets(class, 0, rng);
    measure(duration, progress, exponents, |exponents| {
        let bases = [(&bases).into(), (&others).into()];
        engine.multi_pow(&bases, &[exponents.into(), (&others).into()], &setting.modulus)
    })
}

/// Compares the time of single products for the factor zero with that for random factors: full products and
/// squares, products and remainders modulo one number, and products with a modulus for each item.
pub fn welch_products(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting::new(engine, Op::Mul, bits);
    let (others, moduli) = (setting.random(&mut Rng::new(9)), setting.random(&mut Rng::new(10)));
    let factors = |class, rng: &mut Rng| setting.secrets(class, 0, rng);
    measure(duration, progress, factors, |factors| {
        (
            engine.mul(factors, &others),
            engine.square(factors),
            engine.mul_mod(factors, &others, &setting.modulus),
            engine.reduce(factors, &setting.modulus),
            engine.mul_mod(factors, &others, &moduli),
        )
    })
}

/// Compares the time of quotients with remainders and of square roots for the number zero with that for
/// random numbers.
pub fn welch_quotients_and_roots(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let setting = Setting::new(engine, Op::Div, bits);
    let divisor = Modulus::new(&setting.modulus.value()[..bits.div_ceil(128)]).expect("an odd number");
    let numbers = |class, rng: &mut Rng| setting.secrets(class, 0, rng);
    measure(duration, progress, numbers, |numbers| {
        (
            engine.div_rem(numbers, &divisor),
            integers::isqrt(engine, numbers),
            integers::sqrt_rem(engine, numbers),
        )
    })
}

/// Compares the time of [`Engine::inv`] for the number one with that for random numbers, modulo
/// a prime of at least two bits, so that all have inverses.
///
/// # Panics
/// If the engine finds no inverse, because then there is nothing to measure.
pub fn welch_inv(
    engine: &Engine,
    bits: usize,
    duration: Duration,
    progress: &mut dyn FnMut(f64),
) -> TimingReport {
    let mut setting = Setting::new(engine, Op::Inv, bits);
    let mut candidate = Rng::new(5).exact(bits);
    candidate.set_bit(0, true);
    let is_prime = |number: &BigUint| {
        let candidates = crate::oracle::batch(std::slice::from_ref(number));
        primality::is_probable_prime(engine, &candidates, &[2, 3, 5, 7, 11])
            .is_ok_and(|verdicts| verdicts == [true])
    };
    while !is_prime(&candidate) {
        candidate += 2u8;
    }
    setting.modulus = Modulus::new(&candidate.to_u64_digits()).expect("a prime is a modulus");
    // A number that is one bit shorter than the prime, and not zero, is no multiple of it.
    setting.bits -= 1;
    let moduli = Batch::from_values(vec![candidate.to_u64_digits(); setting.lanes]);
    let numbers = |class, rng: &mut Rng| setting.secrets(class, 1, rng);
    measure(duration, progress, numbers, |numbers| {
        engine.inv(numbers, &moduli).expect("every number has an inverse modulo a prime")
    })
}

/// The constants of a measurement.
struct Setting {
    modulus: Modulus,
    bits: usize,
    /// The number of items that one thread computes side by side.
    lanes: usize,
}

impl Setting {
    fn new(engine: &Engine, op: Op, bits: usize) -> Self {
        let mut modulus = Rng::new(2).exact(bits);
        modulus.set_bit(0, true);
        let modulus = Modulus::new(&modulus.to_u64_digits()).expect("an odd number is a modulus");
        // Enough items to fill the lanes of every kernel.
        Self { modulus, bits, lanes: engine.plan(&Request::new(op, bits, 8)).map_or(1, |plan| plan.lanes) }
    }

    fn random(&self, rng: &mut Rng) -> Batch {
        let mut batch = Batch::zeros(self.bits, self.lanes);
        for lane in 0..self.lanes {
            let mut number = rng.number(self.bits);
            number.set_bit(0, true);
            let digits = number.to_u64_digits();
            batch.get_mut(lane)[..digits.len()].copy_from_slice(&digits);
        }
        batch
    }

    /// Both classes do the same work here, so that they leave the caches in the same state.
    fn secrets(&self, class: Class, fixed: u64, rng: &mut Rng) -> Batch {
        let mut batch = self.random(rng);
        if class == Class::Fixed {
            for lane in 0..self.lanes {
                batch.get_mut(lane).fill(0);
                batch.get_mut(lane)[0] = fixed;
            }
        }
        batch
    }
}

/// Times `call` on inputs of both classes in random order, for about the given time, and compares the
/// classes.
///
/// `prepare` makes an input of a class and is not timed.
pub fn measure<T, U>(
    duration: Duration,
    progress: &mut dyn FnMut(f64),
    mut prepare: impl FnMut(Class, &mut Rng) -> T,
    mut call: impl FnMut(&T) -> U,
) -> TimingReport {
    // A new order for each call, so that a retry is a new measurement.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut rng = Rng::new(now.as_nanos() as u64);
    let mut samples: Vec<(Class, f64)> = Vec::new();
    let mut first = true;
    let start = Instant::now();
    loop {
        let inputs: Vec<(Class, T)> = (0..PREPARED)
            .map(|_| {
                let class = if rng.word() >> 63 == 0 { Class::Fixed } else { Class::Random };
                (class, prepare(class, &mut rng))
            })
            .collect();
        for (class, input) in &inputs {
            let before = Instant::now();
            black_box(call(black_box(input)));
            samples.push((*class, before.elapsed().as_nanos() as f64));
        }
        // The first calls include set-up that the others do not have.
        if std::mem::take(&mut first) {
            samples.clear();
        }
        let done = start.elapsed().as_secs_f64() / duration.as_secs_f64().max(f64::MIN_POSITIVE);
        progress(done.min(1.0));
        if done >= 1.0 && !samples.is_empty() {
            return compare(&samples);
        }
    }
}

/// Returns a leak only if three measurements in a row see it with the same sign: noise changes its sign.
pub fn confirmed_leak(mut measure: impl FnMut() -> TimingReport) -> Option<[TimingReport; 3]> {
    let mut again = || {
        let report = measure();
        println!("{report:?}");
        (!report.passed()).then_some(report)
    };
    let reports = [again()?, again()?, again()?];
    reports.windows(2).all(|pair| pair[0].t.signum() == pair[1].t.signum()).then_some(reports)
}

/// Welch's t on all times, below each percentile, and on squared deviations; the largest wins.
#[must_use]
pub fn compare(samples: &[(Class, f64)]) -> TimingReport {
    let sorted = |keep: &dyn Fn(Class) -> bool| {
        let mut times: Vec<f64> =
            samples.iter().filter(|(class, _)| keep(*class)).map(|(_, time)| *time).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let all = sorted(&|_| true);
    let median = |class| {
        let times = sorted(&|other| other == class);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let mut tests = vec![("all times".to_owned(), welch(samples.iter().copied()))];
    for crop in 1..=CROPS {
        let share = 1.0 - 0.5f64.powf(10.0 * crop as f64 / CROPS as f64);
        let limit = all[((all.len() as f64 * share) as usize).min(all.len() - 1)];
        let below = samples.iter().copied().filter(|(_, time)| *time < limit);
        tests.push((format!("times below the {:.1} percentile", 100.0 * share), welch(below)));
    }
    let mean = |class| {
        let times = sorted(&|other| other == class);
        times.iter().sum::<f64>() / times.len() as f64
    };
    let (fixed, random) = (mean(Class::Fixed), mean(Class::Random));
    let deviation = |class, time: f64| time - if class == Class::Fixed { fixed } else { random };
    let squares = samples.iter().map(|&(class, time)| (class, deviation(class, time).powi(2)));
    tests.push(("squared deviations".to_owned(), welch(squares)));
    let (test, t) = tests
        .into_iter()
        .filter_map(|(test, t)| t.map(|t| (test, t)))
        .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
        .unwrap_or_else(|| ("too few samples".to_owned(), 0.0));
    TimingReport {
        samples: samples.len(),
        t,
        threshold: THRESHOLD,
        fixed_ns: median(Class::Fixed),
        random_ns: median(Class::Random),
        test,
    }
}

/// Welch's t of the two classes, positive if the fixed one is larger; `None` if there are too few
/// samples or they do not vary.
fn welch(samples: impl Iterator<Item = (Class, f64)>) -> Option<f64> {
    // Welford's running mean and sum of squares, which do not cancel.
    let mut classes = [(0.0f64, 0.0f64, 0.0f64); 2];
    for (class, time) in samples {
        let (count, mean, squares) = &mut classes[class as usize];
        *count += 1.0;
        let distance = time - *mean;
        *mean += distance / *count;
        *squares += distance * (time - *mean);
    }
    let [(fixed, fixed_mean, fixed_squares), (random, random_mean, random_squares)] = classes;
    if fixed < ENOUGH || random < ENOUGH {
        return None;
    }
    let variance = fixed_squares / (fixed - 1.0) / fixed + random_squares / (random - 1.0) / random;
    (variance > 0.0).then(|| (fixed_mean - random_mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(rng: &mut Rng) -> f64 {
        // A sum of uniform numbers, with an interrupt now and then.
        let sum: f64 = (0..8).map(|_| rng.below(1000) as f64).sum();
        if rng.below(200) == 0 { sum + 1e6 } else { sum }
    }

    fn synthetic(difference: f64) -> TimingReport {
        let mut rng = Rng::new(21);
        let samples: Vec<(Class, f64)> = (0..40_000)
            .map(|_| match rng.below(2) {
                0 => (Class::Fixed, noise(&mut rng)),
                _ => (Class::Random, noise(&mut rng) + difference),
            })
            .collect();
        compare(&samples)
    }

    #[test]
    fn equal_times_pass_and_a_small_difference_under_interrupts_does_not() {
        assert!(synthetic(0.0).passed(), "{:?}", synthetic(0.0));
        let leak = synthetic(150.0);
        assert!(!leak.passed() && leak.t < 0.0, "{leak:?}");
    }

    #[test]
    fn a_difference_in_spread_alone_is_seen() {
        let mut rng = Rng::new(22);
        let samples: Vec<(Class, f64)> = (0..40_000)
            .map(|index| match index % 2 {
                0 => (Class::Fixed, 1000.0 + rng.below(100) as f64),
                _ => (Class::Random, 950.0 + rng.below(200) as f64),
            })
            .collect();
        assert!(!compare(&samples).passed());
    }

    #[test]
    fn too_few_samples_say_so() {
        let report = compare(&[(Class::Fixed, 1.0), (Class::Random, 2.0)]);
        assert_eq!((report.t, report.test.as_str()), (0.0, "too few samples"));
    }
}
