//! Rates of every operation on one core.
//!
//! `cargo run --release -p modmill-paillier --example rates [BITS [SECONDS]]`
//!
//! Every operation is repeated for about SECONDS of processor time. The rate is that of its fastest call, in items for a second of
//! processor time, so that other programs on the machine disturb it little.

use modmill::{Backend, Batch, Engine};
use modmill_paillier::{EncodedColumn, Error, Integers, Packing, Paillier, PrivateKey, Randomness};
use rustix::time::{ClockId, clock_gettime};

/// Items of operations that are powers: several groups of vector lanes.
const POWERS: usize = 256;

/// Items of operations that are products.
const PRODUCTS: usize = 4096;

/// The processor time of this process in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Prints the rate of `work`, which computes `count` items.
fn measured<T>(
    name: &str,
    count: usize,
    seconds: f64,
    mut work: impl FnMut() -> Result<T, Error>,
) -> Result<(), Error> {
    // The first call prepares constants.
    work()?;
    let (mut best, mut spent, mut calls) = (f64::MAX, 0.0, 0);
    while spent < seconds || calls < 3 {
        let start = processor_time();
        work()?;
        let time = processor_time() - start;
        (best, spent, calls) = (best.min(time), spent + time, calls + 1);
    }
    println!("{name:<34} {:>12.0}", count as f64 / best);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let bits: usize = arguments.next().map_or(Ok(2048), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(2.0), |text| text.parse())?;
    let engine = Engine::builder().backend(Backend::Cpu).threads(1).build()?;
    let paillier = Paillier::new(&engine);
    let key = PrivateKey::generate(&engine, bits, Randomness::Short)?;
    let public = key.public_key();
    println!("n of {bits} bits, one thread\n{:<34} {:>12}", "operation", "items/s");

    let plain = |count: usize| Batch::from_values((0..count as u64).map(|value| [value | 1 << 63]));
    let few = plain(POWERS);
    measured("encrypt, r^n", POWERS, seconds, || {
        paillier.encrypt_with(&few, paillier.full_masks(public, POWERS)?)
    })?;
    measured("encrypt, short exponents", POWERS, seconds, || paillier.encrypt(public, &few))?;
    measured("encrypt, owner", POWERS, seconds, || {
        paillier.encrypt_with(&few, paillier.owner_full_masks(&key, POWERS)?)
    })?;
    measured("encrypt, owner, short exponents", POWERS, seconds, || paillier.encrypt_as_owner(&key, &few))?;
    let column = paillier.encrypt(public, &few)?;
    measured("decrypt", POWERS, seconds, || paillier.decrypt(&key, &column))?;
    measured("decrypt, checked", POWERS, seconds, || paillier.decrypt_checked(&key, &column))?;
    let factors = Integers::from_i64(&[-0x1234_5678_9abc_def1; POWERS]);
    measured("multiply by 64 bits", POWERS, seconds, || paillier.mul(&column, &factors))?;
    measured("multiply by 64 bits, vartime", POWERS, seconds, || paillier.mul_vartime(&column, &factors))?;
    let short = Integers::from_i64(&[0x7fff; POWERS]);
    measured("dot product by 15 bits, vartime", POWERS, seconds, || paillier.dot(&column, &short))?;

    let many = plain(PRODUCTS);
    let column = paillier.encrypt(public, &many)?;
    measured("add", PRODUCTS, seconds, || paillier.add(&column, &column))?;
    measured("add a plaintext", PRODUCTS, seconds, || paillier.add_plain(&column, &many))?;
    measured("sum of a column", PRODUCTS, seconds, || paillier.sum(&column))?;
    measured("negate", PRODUCTS, seconds, || paillier.neg(&column))?;
    let floats: Vec<f64> = (0..PRODUCTS).map(|value| value as f64 / 7.0).collect();
    measured("encode a floating-point number", PRODUCTS, seconds, || {
        EncodedColumn::from_f64(public, &floats, None)
    })?;
    let packing = Packing::signed(16, 1024)?;
    let values: Vec<i128> = (0..PRODUCTS as i128).collect();
    measured("encrypt 16 bits, packed", PRODUCTS, seconds, || packing.encrypt(&paillier, public, &values))?;
    Ok(())
}
