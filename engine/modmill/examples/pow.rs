//! Powers modulo N for a batch of mixed lengths, with odd and even moduli.
//!
//! `cargo run --release -p modmill --example pow`

use modmill::{Batch, Engine, Error};
use num_bigint::BigUint;

fn main() -> Result<(), Error> {
    let bases = Batch::from_hex(["3", "10001", "deadbeef", "2"])?;
    let exponents = Batch::from_hex(["ffff", "2", "123456789", "fffffffffffffffffffffffffffffffe"])?;
    let moduli =
        Batch::from_hex(["fffffffb", "1000", "fedcba9876543210", "ffffffffffffffffffffffffffffff61"])?;

    // One call computes the whole batch. The time does not depend on the values of bases and exponents.
    let powers = Engine::new()?.pow(&bases, &exponents, &moduli)?;

    let number = |batch: &Batch, item| BigUint::from_bytes_be(&batch.to_be_bytes(item));
    for item in 0..powers.len() {
        let [base, exponent, modulus] = [&bases, &exponents, &moduli].map(|batch| number(batch, item));
        assert_eq!(number(&powers, item), base.modpow(&exponent, &modulus));
        println!("{base:x}^{exponent:x} mod {modulus:x} = {}", powers.to_hex(item));
    }
    Ok(())
}
