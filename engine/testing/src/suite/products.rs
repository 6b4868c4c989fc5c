//! Full products and squares of long numbers, at the lengths at which Karatsuba's algorithm and transforms
//! start and change.

use super::{Effort, Outcome, Suite};
use crate::hard::{ones, runs};
use crate::oracle::{batch_of_width, number, show};
use crate::rng::Rng;
use modmill::Engine;
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    // Factors of 47 and 48 limbs; squares of 79, 80, 95 and 96.
    let mut lengths =
        vec![(3008, 3008), (3072, 3009), (5056, 5056), (5057, 5120), (6080, 6080), (6081, 6144)];
    lengths.extend([(10_239, 10_241), (32_769, 32_768), (65_535, 9), (100_000, 60_000)]);
    if suite.effort == Effort::Full {
        lengths.extend([(786_432, 786_432), (1 << 20, 1 << 20), (3_000_000, 500_000)]);
    }
    for (a_bits, b_bits) in lengths {
        suite.case(format!("full products of {a_bits} and {b_bits} bits"), |engine| {
            products(engine, a_bits, b_bits)
        });
    }
}

fn products(engine: &Engine, a_bits: usize, b_bits: usize) -> Outcome {
    let mut rng = Rng::new((a_bits ^ b_bits) as u64);
    let mut pick = |bits: usize| [ones(bits), runs(bits, &mut rng), rng.number(bits), BigUint::from(1u8)];
    let (a, b) = (pick(a_bits), pick(b_bits));
    let (left, right) = (batch_of_width(&a, a_bits), batch_of_width(&b, b_bits));
    let text = |error: modmill::Error| error.to_string();
    let (found, squares) = (engine.mul(&left, &right).map_err(text)?, engine.square(&left).map_err(text)?);
    for item in 0..a.len() {
        if number(found.get(item)) != &a[item] * &b[item] {
            return Err(format!("wrong: {} times {}", show(&a[item]), show(&b[item])));
        }
        if number(squares.get(item)) != &a[item] * &a[item] {
            return Err(format!("wrong: the square of {}", show(&a[item])));
        }
    }
    Ok(())
}
