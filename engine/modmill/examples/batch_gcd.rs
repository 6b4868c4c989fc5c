//! Finds the RSA moduli that share a prime, and measures the parts:
//! `cargo run --release -p modmill --example batch_gcd [COUNT] [BITS]`.

use modmill::trees::{ProductTree, batch_gcd};
use modmill::{Engine, Error, random};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let (count, bits) = (arguments.next().unwrap_or(10_000), arguments.next().unwrap_or(2048));
    let engine = Engine::new()?;
    // Products of random odd numbers stand for products of primes: they cost as much.
    let mut halves = random::bits(&engine, bits / 2, 2 * count)?;
    for index in 0..halves.len() {
        halves.get_mut(index)[0] |= 1;
    }
    // The first number and the last one share a factor.
    let shared = halves.get(0).to_vec();
    halves.get_mut(count - 1).copy_from_slice(&shared);
    let moduli = engine.mul(halves.slice(0..count), halves.slice(count..2 * count))?;

    let start = Instant::now();
    let tree = ProductTree::new(&engine, &moduli)?;
    println!("product of {} bits in {:.3} s", tree.product().bits(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let divisors = batch_gcd(&engine, &moduli)?;
    println!("batch gcd of {count} numbers of {bits} bits in {:.3} s", start.elapsed().as_secs_f64());
    let found = engine.gcd(divisors.shared(0), halves.shared(0))?;
    assert_eq!(found.get(0), halves.get(0), "the shared factor is found");
    Ok(())
}
