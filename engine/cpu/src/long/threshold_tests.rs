//! Measures where transforms overtake other algorithms, for the thresholds of [`Multiplier`].

use super::barrett::BarrettDivisor;
use super::montgomery::Montgomery;
use super::multiplier::Multiplier;
use super::{basecase, powers};
use crate::fft::product::SecondFactor;
use crate::scalar_choice::with_scalar;
use crate::test_support::Random;
use std::time::Instant;

/// Calls of a slice of time.
const CALLS: usize = 4;

/// The best times of algorithms in microseconds, measured in turn for some rounds.
fn best<const N: usize>(rounds: usize, algorithms: [&dyn Fn(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (algorithm, best) in algorithms.iter().zip(&mut best) {
            let start = Instant::now();
            for _ in 0..CALLS {
                algorithm();
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e6 / CALLS as f64);
        }
    }
    best
}

#[test]
#[ignore = "measures the thresholds of `Multiplier::thresholds`, and checks nothing"]
fn where_transforms_overtake() {
    println!("limbs; us of a product, a square and a power with an exponent of 64 bits");
    let mut random = Random::new(1);
    for n in [32, 64, 96, 128, 160, 192, 256, 320, 384, 420, 448, 512, 576, 640, 704, 768, 896, 1024] {
        let (mut modulus, a, b) = (random.limbs(n), random.limbs(n), random.limbs(n));
        modulus[0] |= 1;
        modulus[n - 1] |= 1 << 63;
        for multiplier in Multiplier::detect(None) {
            let out = || vec![0; 2 * n];
            let limbs = multiplier.limbs();
            let [rows, transforms, row_square, square] = best(
                60,
                [
                    &|| with_scalar!(limbs, scalar => basecase::multiply(scalar, &a, &b, &mut out())),
                    &|| multiplier.by_transforms(&a, n, SecondFactor::Number(&b), &mut out()),
                    &|| with_scalar!(limbs, scalar => basecase::square(scalar, &a, &mut out())),
                    &|| multiplier.by_transforms(&a, n, SecondFactor::Same, &mut out()),
                ],
            );
            let barrett = BarrettDivisor::new(multiplier, &modulus);
            let montgomery = Montgomery::new(&barrett, &modulus).expect("no common factor with 2^n + 1");
            let (base, exponent) = (barrett.remainder(&a), [u64::MAX]);
            let [by_barrett, by_montgomery] = best(
                3,
                [&|| drop(powers::pow(&barrett, &base, &exponent, 64, 4)), &|| {
                    drop(powers::pow(&montgomery, &base, &exponent, 64, 4))
                }],
            );
            println!(
                "{n:5} {:10}  rows {rows:7.2}, transforms {transforms:7.2}; rows {row_square:7.2}, transforms \
                 {square:7.2}; Barrett {by_barrett:8.1}, Montgomery {by_montgomery:8.1}",
                multiplier.isa().name()
            );
        }
    }
}
