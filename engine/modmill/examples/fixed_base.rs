//! Many powers of one base: a table made once takes the place of all squarings.
//!
//! ```sh
//! cargo run --release -p modmill --example fixed_base
//! ```

use modmill::{Engine, Error, Modulus, random};
use std::time::Instant;

const BITS: usize = 2048;
const EXPONENT_BITS: usize = 256;
const COUNT: usize = 2000;

fn main() -> Result<(), Error> {
    let engine = Engine::new()?;
    // An odd modulus of full length; a protocol would have a safe prime or a product of two primes.
    let mut modulus = random::bits(&engine, BITS, 1)?;
    modulus.get_mut(0)[0] |= 1;
    modulus.get_mut(0)[BITS / 64 - 1] |= 1 << 63;
    let modulus = Modulus::new(modulus.get(0))?;
    let base = random::below(&engine, &modulus, 1)?;
    let exponents = random::bits(&engine, EXPONENT_BITS, COUNT)?;

    let start = Instant::now();
    let fixed = engine.fixed_base(&base, &modulus, EXPONENT_BITS)?;
    engine.pow_fixed_base(&fixed, exponents.shared(0))?;
    println!("{} bytes of tables in {:.1} ms", fixed.bytes(), 1e3 * start.elapsed().as_secs_f64());

    let start = Instant::now();
    let powers = engine.pow_fixed_base(&fixed, &exponents)?;
    let by_table = start.elapsed().as_secs_f64();
    let start = Instant::now();
    assert_eq!(powers, engine.pow(base.shared(0), &exponents, &modulus)?);
    let by_squaring = start.elapsed().as_secs_f64();
    println!(
        "{:.0} powers a second, {:.0} without a table",
        COUNT as f64 / by_table,
        COUNT as f64 / by_squaring
    );
    Ok(())
}
