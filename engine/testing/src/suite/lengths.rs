//! Every operation at every length where something changes.

use super::check::{self, CHEAP, Items};
use super::{Effort, Suite};
use crate::hard;
use crate::rng::Rng;
use num_bigint::BigUint;

/// Lengths beyond the boundaries of small digits.
const LONG: [usize; 13] = [1000, 1023, 1024, 1025, 1536, 2047, 2048, 2049, 3072, 4096, 8191, 8192, 16384];

pub(super) fn run(suite: &mut Suite<'_>) {
    let mut lengths: Vec<usize> = (1..=70).chain(hard::boundary_lengths(600)).chain(LONG).collect();
    lengths.sort_unstable();
    lengths.dedup();
    for bits in suite.effort.some(lengths) {
        one_length(suite, bits);
    }
    long_operands(suite);
}

fn one_length(suite: &mut Suite<'_>, bits: usize) {
    let mut rng = Rng::new(1000 + bits as u64);
    let mut moduli = hard::odd_moduli(bits, suite.effort.choose(8, 16), &mut rng);
    if bits > 1 {
        moduli.extend(hard::even_moduli(bits, suite.effort.choose(5, 9), &mut rng));
    }
    let bases = if bits > 4096 { suite.effort.choose(1, 4) } else { suite.effort.choose(10, 20) };
    let mut all = Items::default();
    for modulus in &moduli {
        let firsts = hard::residues(modulus, bases, &mut rng);
        for first in firsts {
            let second = hard::number(bits, &mut rng) % modulus;
            all.push(first, second, modulus.clone());
        }
    }
    for (name, check) in CHEAP {
        suite.case(format!("{name}, {bits} bits"), |engine| check(engine, &all));
    }
    let some = |count: usize, rng: &mut Rng| {
        let mut items = Items::default();
        for index in 0..count {
            // Seven is coprime to the number of moduli above, so that every modulus gets its turn.
            let item = match index {
                first if first < moduli.len() => 7 * first % moduli.len() * bases + rng.below(bases),
                _ => rng.below(all.len()),
            };
            items.push(all.a[item].clone(), all.b[item].clone(), all.n[item].clone());
        }
        items
    };
    let inverted = some(inverses(bits, suite.effort), &mut rng);
    suite.case(format!("inv, {bits} bits"), |engine| check::inv(engine, &inverted));

    let mut short =
        some(if bits > 4096 { suite.effort.choose(3, 9) } else { suite.effort.choose(9, 17) }, &mut rng);
    for exponent in &mut short.b {
        *exponent = BigUint::from(*rng.pick(&[2u32, 3, 17, 65537]));
    }
    powers(suite, &format!("short exponents, {bits} bits"), &short);
    let mut long = some(full_powers(bits, suite.effort), &mut rng);
    for exponent in &mut long.b {
        *exponent = hard::number(bits, &mut rng);
    }
    if long.len() > 0 {
        powers(suite, &format!("full exponents, {bits} bits"), &long);
    }
}

fn powers(suite: &mut Suite<'_>, what: &str, items: &Items) {
    let expected = items.powers();
    suite.case(format!("pow, {what}"), |engine| check::powers(engine, items, &expected));
    suite.case(format!("pow_vartime, {what}"), |engine| check::powers_vartime(engine, items, &expected));
}

/// The number of powers with full exponents that the time allows. Their cost grows with the cube of the
/// length.
fn full_powers(bits: usize, effort: Effort) -> usize {
    let (quick, full) = match bits {
        0..=128 => (33, 150),
        129..=600 => (13, 70),
        601..=1025 => (8, 50),
        1026..=2049 => (3, 26),
        2050..=3072 => (2, 17),
        3073..=4096 => (1, 9),
        4097..=8192 => (0, 2),
        _ => (0, 1),
    };
    effort.choose(quick, full)
}

/// The number of inverses that the time allows. Their cost grows with the square of the length.
fn inverses(bits: usize, effort: Effort) -> usize {
    let (quick, full) = match bits {
        0..=128 => (40, 150),
        129..=1025 => (13, 60),
        1026..=4096 => (5, 26),
        _ => (1, 5),
    };
    effort.choose(quick, full)
}

/// Bases much longer than the modulus, factors of different lengths, small numbers in wide
/// batches.
fn long_operands(suite: &mut Suite<'_>) {
    let lengths =
        [1, 2, 3, 47, 51, 52, 53, 63, 64, 65, 104, 127, 128, 129, 255, 256, 257, 511, 512, 520, 1024];
    for bits in suite.effort.some(lengths) {
        for times in [2, 5] {
            let mut rng = Rng::new((10_000 * times + bits) as u64);
            let mut moduli = hard::odd_moduli(bits, 6, &mut rng);
            if bits > 1 {
                moduli.extend(hard::even_moduli(bits, 4, &mut rng));
            }
            let mut items = Items::default();
            for modulus in &moduli {
                for base in long_bases(modulus, times, &mut rng) {
                    let second = hard::number(times * bits, &mut rng);
                    items.push(base, second, modulus.clone());
                }
            }
            for (name, check) in CHEAP {
                let what = format!("{name}, factors {times} times as long as {bits} bits");
                suite.case(what, |engine| check(engine, &items));
            }
            let mut few = Items::default();
            for _ in 0..suite.effort.choose(12, 60) {
                let item = rng.below(items.len());
                let exponent = hard::number(bits.min(70), &mut rng);
                few.push(items.a[item].clone(), exponent, items.n[item].clone());
            }
            suite.case(format!("inv, numbers {times} times as long as {bits} bits"), |engine| {
                check::inv(engine, &few)
            });
            powers(suite, &format!("bases {times} times as long as {bits} bits"), &few);
        }
    }
    for (left, right) in [(1, 4096), (64, 65), (52, 1040), (51, 1020), (4096, 1), (300, 17), (2048, 2049)] {
        let mut rng = Rng::new((left * right) as u64);
        let mut items = Items::default();
        for _ in 0..suite.effort.choose(33, 200) {
            items.push(hard::number(left, &mut rng), hard::number(right, &mut rng), BigUint::from(1u8));
        }
        items.a[0] = hard::ones(left);
        items.b[0] = hard::ones(right);
        suite.case(format!("mul, {left} by {right} bits"), |engine| CHEAP[0].1(engine, &items));
    }
}

/// Numbers up to `times` times as long as the modulus: neighbours of its multiples, and hard ones.
fn long_bases(modulus: &BigUint, times: usize, rng: &mut Rng) -> Vec<BigUint> {
    let bits = times * modulus.bits() as usize;
    let multiple = (hard::ones(bits) / modulus) * modulus;
    let mut bases = vec![
        modulus.clone(),
        modulus + 1u8,
        modulus * 2u8 - 1u8,
        modulus * modulus - 1u8,
        &multiple - 1u8,
        multiple,
        hard::ones(bits),
        hard::power_of_two(bits - 1),
    ];
    bases.extend((0..4).map(|_| hard::number(bits, rng)));
    bases
}
