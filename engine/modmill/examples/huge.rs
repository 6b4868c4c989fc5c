//! Products of numbers of 16 million bits, by number-theoretic transforms.
//!
//! `cargo run --release -p modmill --example huge`

use modmill::{Batch, Engine, Error};
use std::time::Instant;

const BITS: usize = 1 << 24;

/// A number of [`BITS`] bits whose limbs look random.
fn number(seed: u64) -> Result<Batch, Error> {
    let limb = |index: u64| (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ index;
    Batch::from_limbs(BITS, (0..BITS as u64 / 64).map(limb).collect())
}

/// The number modulo the prime 2^61 - 1, limb by limb: a check that shares nothing with transforms.
fn residue(limbs: &[u64]) -> u128 {
    limbs.iter().rev().fold(0, |residue, &limb| (residue << 64 | u128::from(limb)) % ((1 << 61) - 1))
}

fn main() -> Result<(), Error> {
    let engine = Engine::new()?;
    let (a, b) = (number(1)?, number(2)?);
    let expected = residue(a.get(0)) * residue(b.get(0)) % ((1 << 61) - 1);

    let start = Instant::now();
    let product = engine.mul(&a, &b)?;
    let plain = start.elapsed();
    assert_eq!(residue(product.get(0)), expected);

    // A factor of many products is transformed once.
    let prepared = engine.prepare(&b, BITS)?;
    let start = Instant::now();
    let again = engine.mul_prepared(&a, &prepared)?;
    let shorter = start.elapsed();
    assert_eq!(product, again);

    println!("{BITS} x {BITS} bits: {plain:.1?}; {shorter:.1?} with one factor prepared");
    Ok(())
}
