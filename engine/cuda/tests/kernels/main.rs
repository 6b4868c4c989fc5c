//! The kernels against independent arithmetic, on the emulated device; with `MODMILL_TEST_DEVICE=gpu`
//! on the GPUs of this machine, with real sizes and full batches too.

mod batches;
mod chips;
mod digits;
mod families;
mod faults;
mod fixed_base;
mod items;
mod long;
mod products;
mod residue_matrix;
mod rsa;

use modmill_core::{Call, Family, Job, Op, Request};
use modmill_cuda::{Cuda, Cut, Device, Error, Layout, Limits, Result, Run, Settings, Variant};

/// Whether GPUs are tested instead of the emulated device.
fn on_gpus() -> bool {
    std::env::var_os("MODMILL_TEST_DEVICE").is_some_and(|device| device == "gpu")
}

/// The devices to test. GPUs that are asked for and not there are a failure.
fn devices() -> Vec<Device> {
    if on_gpus() { Device::gpus().unwrap().devices } else { vec![Device::emulator()] }
}

/// A way to compute, at a length that it is for. Small blocks: the emulated device computes whole ones. On a
/// GPU the four warps of a warpgroup multiply residues together.
fn variant(family: Family, threads: u32, cut: Option<Cut>, bits: usize) -> Variant {
    let block = if family == Family::Rns && on_gpus() { 128 } else { 32 };
    let layout = Layout { threads, block, resident: 1, cut };
    Variant::new(family, bits, layout, &limits()).expect("the family has this layout for this length")
}

/// Tiles of this many words, of the two-pass family.
fn tile(words: u32) -> Option<Cut> {
    Some(Cut::Tile(words))
}

/// The chunks of the two matrices of the residue family.
fn chunks(to_b: u32, to_a: u32) -> Option<Cut> {
    Some(Cut::Chunks(to_b, to_a))
}

/// The limits of the devices to test.
fn limits() -> Limits {
    *devices()[0].limits()
}

/// Devices held to one variant; nothing, and a word about it, where there is no C++ compiler.
fn held_to(devices: Vec<Device>, variant: Variant) -> Option<Cuda> {
    let cuda = Cuda::on(devices, Settings { variant: Some(variant), asked_for: true, ..Settings::default() });
    match cuda.wave(variant) {
        Err(Error::NoHostCompiler { reason }) => {
            println!("skipped: {reason}");
            None
        }
        wave => {
            wave.unwrap();
            Some(cuda)
        }
    }
}

/// Plans a job and runs the plan.
fn run(cuda: &Cuda, op: Op, job: &Job<'_>) -> Result<Run> {
    let plan = cuda.plan(&Request::of(op, job));
    cuda.run_new(&plan.ok_or_else(|| Error::NoKernel { name: format!("for {op}") })?, Call::Modular(op, job))
}
