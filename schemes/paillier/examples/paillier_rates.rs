//! Rates of every operation on one core, or on GPUs.
//!
//! `cargo run --release -p modmill-paillier --example paillier_rates [BITS [SECONDS [cpu|cuda [OPERATION]]]]`
//!
//! With OPERATION only the operations whose names begin with it are measured. For encryption with short
//! exponents and for decryption the time of each step follows, in nanoseconds an item.
//!
//! Every operation is repeated for about SECONDS. The rate is that of its fastest call. On the CPU it counts
//! processor time, so that other programs on the machine disturb it little. On GPUs the columns are larger,
//! and it counts the time from the caller's memory to the caller's memory.

use modmill::{Backend, Batch, Engine};
use modmill_paillier::{EncodedColumn, Error, Integers, Packing, Paillier, PrivateKey, Randomness};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Mutex;

/// Items of operations that are powers: several groups of vector lanes, or several waves of a GPU.
const POWERS: [usize; 2] = [256, 1_000_000];

/// Items of operations that are products.
const PRODUCTS: [usize; 2] = [4096, 1 << 18];

/// Calls of an operation of which the fastest tells the times of its steps.
const CALLS: usize = 5;

/// The time of a clock in seconds.
fn time_of(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// How operations are measured.
struct Rates {
    clock: ClockId,
    seconds: f64,
    /// How the names of the operations begin.
    prefix: String,
}

impl Rates {
    /// Prints the rate of `work`, which computes `count` items.
    fn measure<T>(
        &self,
        name: &str,
        count: usize,
        mut work: impl FnMut() -> Result<T, Error>,
    ) -> Result<(), Error> {
        if !name.starts_with(&self.prefix) {
            return Ok(());
        }
        // The first call prepares constants.
        work()?;
        let (mut best, mut spent, mut calls) = (f64::MAX, 0.0, 0);
        while spent < self.seconds || calls < 3 {
            let start = time_of(self.clock);
            work()?;
            let time = time_of(self.clock) - start;
            (best, spent, calls) = (best.min(time), spent + time, calls + 1);
        }
        println!("{name:<34} {:>12.0}", count as f64 / best);
        Ok(())
    }

    /// Measures an operation with steps and prints its rate and the times of the steps in the fastest call.
    fn measure_steps<T>(
        &self,
        name: &str,
        count: usize,
        paillier: &Paillier<'_>,
        work: impl Fn(&Paillier<'_>) -> Result<T, Error>,
    ) -> Result<(), Error> {
        if !name.starts_with(&self.prefix) {
            return Ok(());
        }
        self.measure(name, count, || work(paillier))?;
        let (mut best, mut steps) = (f64::MAX, Vec::new());
        for _ in 0..CALLS {
            let done = Mutex::new(Vec::new());
            let start = time_of(self.clock);
            work(&paillier.heard_by(&|step| done.lock().unwrap().push((step, time_of(self.clock)))))?;
            let end = time_of(self.clock);
            if end - start < best {
                best = end - start;
                let mut before = start;
                steps.clear();
                for (step, after) in
                    done.into_inner().unwrap_or_default().into_iter().chain([("the rest", end)])
                {
                    steps.push((step, after - before));
                    before = after;
                }
            }
        }
        for (step, seconds) in steps {
            println!("  {step:<34} {:>10.0} ns", seconds / count as f64 * 1e9);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let bits: usize = arguments.next().map_or(Ok(2048), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(2.0), |text| text.parse())?;
    let backend: Backend = arguments.next().map_or(Ok(Backend::Cpu), |text| text.parse())?;
    let is_gpu = backend == Backend::Cuda;
    let builder = Engine::builder().backend(backend);
    let engine = if is_gpu { builder.build()? } else { builder.threads(1).build()? };
    let clock = if is_gpu { ClockId::Monotonic } else { ClockId::ProcessCPUTime };
    let (powers, products) = (POWERS[usize::from(is_gpu)], PRODUCTS[usize::from(is_gpu)]);
    let rates = Rates { clock, seconds, prefix: arguments.next().unwrap_or_default() };
    let paillier = Paillier::new(&engine);
    let key = PrivateKey::generate(&engine, bits, Randomness::Short)?;
    let public = key.public_key();
    println!(
        "n of {bits} bits, {backend}, {} threads\n{:<34} {:>12}",
        engine.threads(),
        "operation",
        "items/s"
    );

    let plain = |count: usize| Batch::from_values((0..count as u64).map(|value| [value | 1 << 63]));
    let few = plain(powers);
    rates.measure("encrypt, r^n", powers, || {
        paillier.encrypt_with(&few, paillier.full_masks(public, powers)?)
    })?;
    rates.measure_steps("encrypt, short exponents", powers, &paillier, |paillier| {
        paillier.encrypt(public, &few)
    })?;
    rates.measure("encrypt, owner", powers, || {
        paillier.encrypt_with(&few, paillier.owner_full_masks(&key, powers)?)
    })?;
    rates.measure("encrypt, owner, short exponents", powers, || paillier.encrypt_as_owner(&key, &few))?;
    let subgroup = PrivateKey::generate(&engine, bits, Randomness::Subgroup)?;
    rates.measure_steps("encrypt, subgroup", powers, &paillier, |paillier| {
        paillier.encrypt(subgroup.public_key(), &few)
    })?;
    rates.measure("encrypt, owner, subgroup", powers, || paillier.encrypt_as_owner(&subgroup, &few))?;
    let column = paillier.encrypt(subgroup.public_key(), &few)?;
    assert!(
        paillier.decrypt(&subgroup, &column)?.iter().eq(few.with_bits(bits)?.iter()),
        "a wrong plaintext"
    );
    rates.measure_steps("decrypt, subgroup", powers, &paillier, |paillier| {
        paillier.decrypt(&subgroup, &column)
    })?;
    let column = paillier.encrypt(public, &few)?;
    assert!(paillier.decrypt(&key, &column)?.iter().eq(few.with_bits(bits)?.iter()), "a wrong plaintext");
    rates.measure_steps("decrypt", powers, &paillier, |paillier| paillier.decrypt(&key, &column))?;
    rates.measure("decrypt, checked", powers, || paillier.decrypt_checked(&key, &column))?;
    let factors = Integers::from_i64(&vec![-0x1234_5678_9abc_def1; powers]);
    rates.measure("multiply by 64 bits", powers, || paillier.mul(&column, &factors))?;
    rates.measure("multiply by 64 bits, vartime", powers, || paillier.mul_vartime(&column, &factors))?;
    let short = Integers::from_i64(&vec![0x7fff; powers]);
    rates.measure("dot product by 15 bits, vartime", powers, || paillier.dot(&column, &short))?;

    let many = plain(products);
    let column = paillier.encrypt(public, &many)?;
    rates.measure("add", products, || paillier.add(&column, &column))?;
    rates.measure("add a plaintext", products, || paillier.add_plain(&column, &many))?;
    rates.measure("sum of a column", products, || paillier.sum(&column))?;
    rates.measure("negate", products, || paillier.neg(&column))?;
    let floats: Vec<f64> = (0..products).map(|value| value as f64 / 7.0).collect();
    rates.measure("encode a floating-point number", products, || {
        EncodedColumn::from_f64(public, &floats, None)
    })?;
    let packing = Packing::signed(16, 1024)?;
    let values: Vec<i128> = (0..products as i128).map(|value| value % 30_000).collect();
    rates.measure("encrypt 16 bits, packed", products, || packing.encrypt(&paillier, public, &values))?;
    Ok(())
}
