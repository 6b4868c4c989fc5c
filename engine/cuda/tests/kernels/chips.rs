//! Emulated devices with the limits of other chips: they compute what they choose, within their limits.

use crate::families::check_operations;
use crate::items::{Items, Operation, Shared};
use crate::products::{by_transforms, check_few, check_on};
use crate::{chunks, held_to, on_gpus, tile};
use modmill_core::{Family, Op, Request};
use modmill_cuda::{Chip, Cuda, Cut, Device, Error, Layout, Settings, Variant};
use modmill_testing::rng::Rng;

use Operation::{MulMod, Pow, PowVartime};

const CHIPS: [Chip; 5] = [Chip::T4, Chip::A100, Chip::Rtx4090, Chip::H200, Chip::Rtx5090];

/// The variant of one warp to a block, within a chip's limits.
fn variant_on(chip: Chip, family: Family, threads: u32, cut: Option<Cut>, bits: usize) -> Variant {
    let layout = Layout { threads, block: 32, resident: 1, cut };
    Variant::new(family, bits, layout, &chip.limits()).expect("the chip has room for it")
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn every_chip_computes_every_family() {
    if on_gpus() {
        return println!("skipped: for emulated devices");
    }
    for chip in CHIPS {
        for (family, threads, cut, bits) in [
            (Family::Row, 2, None, 128),
            (Family::TwoPass, 1, tile(4), 126),
            (Family::Wide, 1, None, 128),
            (Family::Narrow, 2, None, 127),
            (Family::Rns, 2, chunks(1, 1), 128),
        ] {
            let variant = variant_on(chip, family, threads, cut, bits);
            let Some(cuda) = held_to(vec![Device::emulator_like(chip)], variant) else { return };
            check_operations(&cuda, variant, bits);
        }
    }
}

/// Matrices for 2048 bits fit the shared memory of an H200. Other chips read them from global memory.
#[test]
#[ignore = "slow: .ci/run has it"]
fn every_chip_computes_long_residues() {
    if on_gpus() {
        return println!("skipped: for emulated devices");
    }
    let items = Items::hard(2048, 2048, 5, 17, &mut Rng::new(2048));
    for chip in CHIPS {
        let variant = variant_on(chip, Family::Rns, 2, chunks(2, 2), 2048);
        let Some(cuda) = held_to(vec![Device::emulator_like(chip)], variant) else { return };
        for operation in [Pow, MulMod] {
            items.check(&cuda, variant, operation, Shared::default());
        }
    }
}

/// A T4 has no shared memory for the second factors of transforms, and reads them when their turn comes.
#[test]
fn every_chip_computes_transforms() {
    if on_gpus() {
        return println!("skipped: for emulated devices");
    }
    for chip in CHIPS {
        check_on(&by_transforms(vec![Device::emulator_like(chip)]), 7200, 7200);
    }
    check_few(&by_transforms(vec![Device::emulator_like(Chip::T4)]), 110_000, 100_000);
}

/// The estimated table's own choices, at a few lengths.
#[test]
#[ignore = "slow: .ci/run has it"]
fn every_chip_computes_what_it_chooses() {
    if on_gpus() {
        return println!("skipped: for emulated devices");
    }
    for chip in CHIPS {
        let cuda = Cuda::on(vec![Device::emulator_like(chip)], Settings::default());
        for bits in [256, 1024, 4096] {
            let plan = cuda.plan(&Request::new(Op::MulMod, bits, 12)).expect("every length has a choice");
            let variant = cuda.variant_of(&plan).expect("these lengths have kernels");
            match cuda.wave(variant) {
                Err(Error::NoHostCompiler { reason }) => return println!("skipped: {reason}"),
                wave => assert!(wave.unwrap() > 0),
            }
            let items = Items::hard(bits, bits, 9, 12, &mut Rng::new(bits as u64));
            for operation in [Pow, PowVartime] {
                items.check(&cuda, variant, operation, Shared::default());
            }
        }
    }
}
