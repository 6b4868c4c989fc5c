//! How the engine would compute batches of several sizes on this machine, and why.
//!
//! `cargo run --release -p modmill --example explain`

use modmill::{Engine, Error, Op, Request};

fn main() -> Result<(), Error> {
    let engine = Engine::new()?;
    let paths: Vec<String> = engine.paths().iter().map(ToString::to_string).collect();
    println!("paths of this machine: {}\n", paths.join(", "));
    for (op, bits, count) in [
        (Op::Pow, 2048, 1),
        (Op::Pow, 2048, 10_000),
        (Op::MulMod, 4096, 10_000),
        (Op::Mul, 1 << 24, 1),
        (Op::Inv, 256, 1_000),
    ] {
        println!("{}\n", engine.plan(&Request::new(op, bits, count))?);
    }
    // A request can say more: here ten thousand verifications of RSA-2048 with one key.
    let verify = Request::new(Op::PowVartime, 2048, 10_000).one_modulus().public_exponent(&[65_537]);
    println!("{}\n", engine.plan(&verify)?);
    for fault in engine.faults() {
        println!("note: {fault}");
    }
    Ok(())
}
