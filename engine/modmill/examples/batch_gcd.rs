//! Finds the RSA moduli that share a prime, and measures the parts:
//! `cargo run --release -p modmill --example batch_gcd [COUNT] [BITS]`.

use modmill::trees::{ProductTree, batch_gcd};
use modmill::{Batch, Engine, Error, Modulus, random};
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
    // Random factors may share small primes with others as well.
    let rest = engine.reduce(divisors.shared(0), &Modulus::new(&shared)?)?;
    assert_eq!(rest, Batch::zeros(rest.bits(), 1), "the shared factor is found");
    Ok(())
}
