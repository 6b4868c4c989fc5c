//! Devices that fail: little memory costs time, and everything else is an error that says what it was.
//! Emulated devices only.

use crate::items::{Items, Operation, Shared};
use crate::{held_to, variant};
use modmill_core::Family;
use modmill_cuda::cache::Cache;
use modmill_cuda::{Cuda, Device, Error, Faults, Result, Run, Variant};
use modmill_testing::rng::Rng;

const BITS: usize = 128;
const NONE: Faults = Faults {
    fail_launch_after: None,
    lose_device_after: None,
    out_of_memory_above: None,
    compiles_slowly: false,
};

fn row() -> Variant {
    variant(Family::Row, 2, None, BITS)
}

fn device(faults: Faults) -> Device {
    Device::emulator_with(faults, Cache::from_environment())
}

fn items(count: usize) -> Items {
    Items::hard(BITS, BITS, 20, count, &mut Rng::new(2))
}

fn pow(cuda: &Cuda, count: usize) -> Result<Run> {
    let order: Vec<usize> = (0..count).collect();
    items(count).run(cuda, row(), Operation::Pow, Shared::default(), &order)
}

#[test]
fn little_memory_makes_small_chunks() {
    for bytes in [1 << 20, 1 << 16, 1 << 14] {
        let limited = device(Faults { out_of_memory_above: Some(bytes), ..NONE });
        let Some(cuda) = held_to(vec![limited], row()) else { return };
        for operation in [Operation::Pow, Operation::MulMod] {
            items(400).check(&cuda, row(), operation, Shared::default());
        }
        Items::hard(BITS, 1000, 20, 400, &mut Rng::new(3)).check(
            &cuda,
            row(),
            Operation::Pow,
            Shared::default(),
        );
    }
}

#[test]
fn memory_for_less_than_one_item_is_an_error() {
    let Some(cuda) = held_to(vec![device(Faults { out_of_memory_above: Some(100), ..NONE })], row()) else {
        return;
    };
    assert!(matches!(pow(&cuda, 10), Err(Error::OutOfMemory { .. })));
}

#[test]
fn launches_that_fail_are_errors() {
    // The constants, and the power.
    for launches in 0..=2 {
        let faults = Faults { fail_launch_after: Some(launches), ..NONE };
        let Some(cuda) = held_to(vec![device(faults)], row()) else { return };
        match pow(&cuda, 10) {
            Ok(_) => assert_eq!(launches, 2),
            Err(error) => assert!(launches < 2 && matches!(error, Error::Call { .. }), "{launches}: {error}"),
        }
        assert!(matches!(pow(&cuda, 10), Err(Error::Call { .. })));
    }
}

#[test]
fn a_device_that_is_lost_on_the_way_is_an_error_from_then_on() {
    // Chunks are small here, so that it happens between the first and the last of many.
    for launches in [0, 1, 2, 3, 8] {
        let faults = Faults { lose_device_after: Some(launches), out_of_memory_above: Some(1 << 16), ..NONE };
        let Some(cuda) = held_to(vec![device(faults)], row()) else { return };
        for _ in 0..2 {
            assert!(matches!(pow(&cuda, 1000), Err(Error::Lost { .. })), "{launches}");
        }
    }
}

#[test]
fn one_lost_device_of_two_is_an_error() {
    let lost = || device(Faults { lose_device_after: Some(0), ..NONE });
    for devices in [vec![lost(), device(NONE)], vec![device(NONE), lost()]] {
        let Some(cuda) = held_to(devices, row()) else { return };
        assert!(matches!(pow(&cuda, 2), Err(Error::Lost { .. })), "both have a part of it");
    }
}
