//! A chain of a thousand products that stays on the device: `f^1001 mod N` for many f, product by product.
//!
//! `cargo run --release --example resident_chain [items] [bits]`
//!
//! Without a GPU the same program runs on the CPU.

use modmill::cuda::kernel_seconds;
use modmill::{Batch, Engine, Modulus, Public, Residues};
use std::time::Instant;

const PRODUCTS: u32 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let bits: usize = arguments.next().map_or(Ok(1024), |text| text.parse())?;
    let engine = Engine::new()?;
    let device = engine.on_device();

    // 2^bits - 17 is odd, and long enough to be a modulus of this length.
    let mut modulus = Batch::zeros(bits, 1);
    modulus.as_limbs_mut().fill(u64::MAX);
    modulus.as_limbs_mut()[0] -= 16;
    let modulus = Modulus::new(modulus.get(0))?;
    let mut factors = Batch::zeros(bits, count);
    for (place, limb) in (1u64..).zip(factors.as_limbs_mut()) {
        *limb = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    // One trip to the device.
    let uploaded = engine.upload(&factors)?;
    let factor = Residues::new(&device, &uploaded, &modulus)?;
    let mut product = factor.clone();
    let (start, kernels) = (Instant::now(), kernel_seconds(&engine));
    for _ in 0..PRODUCTS {
        product = product.mul(&device, &factor)?;
    }
    let (seconds, kernels) = (start.elapsed().as_secs_f64(), kernel_seconds(&engine) - kernels);
    // And one trip home.
    let answers = product.numbers(&device)?.download()?;

    let exponent = Batch::from_values([[u64::from(PRODUCTS) + 1]]);
    let expected = engine.pow(&factors, Public(exponent.shared(0)), &modulus)?;
    assert!(answers == expected, "the chain is not the power");
    let rate = f64::from(PRODUCTS) * count as f64 / seconds;
    println!(
        "{PRODUCTS} x {count} products of {bits} bits: {seconds:.3} s, {:.1} million a second",
        rate / 1e6
    );
    if kernels > 0.0 {
        println!("kernels alone: {kernels:.3} s, {:.0} % of the time", 100.0 * kernels / seconds);
    }
    for memory in engine.memory()? {
        println!("{}: {} bytes of resident batches", memory.device, memory.resident);
    }
    Ok(())
}
