//! Batches of all sizes around the number of lanes, and batches that mix everything.

use super::check::{ALL, Items};
use super::{Effort, Suite};
use crate::hard;
use crate::rng::Rng;
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    for count in suite.effort.some([0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 1000]) {
        for bits in [61, 256] {
            let mut rng = Rng::new((30_000 + 100 * count + bits) as u64);
            let mut items = Items::default();
            for _ in 0..count {
                let mut modulus = rng.exact(bits);
                modulus.set_bit(0, true);
                items.push(rng.number(bits), rng.number(16), modulus);
            }
            for (name, check) in ALL {
                suite.case(format!("{name}, {count} items of {bits} bits"), |engine| check(engine, &items));
            }
        }
    }
    mixed(suite, "up to 70 bits", 70, suite.effort.choose(1000, 10_000));
    mixed(suite, "up to 600 bits", 600, suite.effort.choose(300, 3000));
    if suite.effort == Effort::Full {
        mixed(suite, "up to 2100 bits", 2100, 300);
    }
    beside_a_long_one(suite);
}

/// Every item has its own random length, parity and values; some moduli are 1.
fn mixed(suite: &mut Suite<'_>, what: &str, longest: usize, count: usize) {
    let mut rng = Rng::new(31_000 + longest as u64);
    let mut items = Items::default();
    for _ in 0..count {
        let bits = 1 + rng.below(longest);
        let mut modulus = hard::number(bits, &mut rng);
        if modulus == BigUint::ZERO {
            modulus += 1u8;
        }
        let base_bits = 1 + rng.below(2 * longest);
        let exponent_bits = 1 + rng.below(70.min(longest));
        items.push(hard::number(base_bits, &mut rng), hard::number(exponent_bits, &mut rng), modulus);
    }
    for (name, check) in ALL {
        suite.case(format!("{name}, {count} items of mixed lengths {what}"), |engine| check(engine, &items));
    }
}

/// Moduli with the same number of limbs, which are computed as one group: the shortest of n limbs with the
/// longest, and tiny ones in between.
fn beside_a_long_one(suite: &mut Suite<'_>) {
    for limbs in suite.effort.some([1, 2, 3, 4, 5, 8, 9, 13, 16]) {
        let mut rng = Rng::new(32_000 + limbs as u64);
        let (shortest, longest) = (64 * limbs - 63, 64 * limbs);
        let mut items = Items::default();
        for index in 0..24 {
            let bits = match index % 4 {
                0 => longest,
                1 => shortest.max(2),
                2 => shortest.max(2) + rng.below(12),
                _ => 2 + rng.below(longest - 2),
            };
            let modulus = rng.pick(&hard::odd_moduli(bits, 8, &mut rng.clone())).clone();
            items.push(hard::number(bits, &mut rng), hard::number(40, &mut rng), modulus);
        }
        for (name, check) in ALL {
            suite.case(format!("{name}, short moduli beside long ones of {limbs} limbs"), |engine| {
                check(engine, &items)
            });
        }
    }
}
