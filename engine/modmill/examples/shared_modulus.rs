//! One modulus and one base for all items: a thousand Diffie-Hellman exchanges modulo 2^521 - 1.
//!
//! `cargo run --release -p modmill --example shared_modulus`

use modmill::{Batch, Engine, Error, Modulus};
use std::time::Instant;

const EXCHANGES: u64 = 1000;

/// Secret exponents that are not secret here: 256 bits from a multiplicative sequence.
fn exponents(seed: u64) -> Result<Batch, Error> {
    let word = |index: u64| (index + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    Batch::from_limbs(256, (0..4 * EXCHANGES).map(word).collect())
}

fn main() -> Result<(), Error> {
    let engine = Engine::new()?;
    let generator = Batch::from_hex(["3"])?;
    // A Modulus keeps the constants that the first call computes, so that later calls start at once.
    let prime = Modulus::from_hex(&format!("1{}", "f".repeat(130)))?;
    let (alice, bob) = (exponents(1)?, exponents(1_000_000)?);

    let start = Instant::now();
    let from_alice = engine.pow(generator.shared(0), &alice, &prime)?;
    let from_bob = engine.pow(generator.shared(0), &bob, &prime)?;
    let key_of_alice = engine.pow(&from_bob, &alice, &prime)?;
    let key_of_bob = engine.pow(&from_alice, &bob, &prime)?;
    let seconds = start.elapsed().as_secs_f64();

    assert_eq!(key_of_alice, key_of_bob);
    println!("{EXCHANGES} exchanges agree; {:.0} powers a second", 4.0 * EXCHANGES as f64 / seconds);
    println!("the first shared key: {}", key_of_alice.to_hex(0));
    Ok(())
}
