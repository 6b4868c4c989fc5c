//! Batches of every size: parts of a wave, several waves, several chunks, several devices.

use crate::items::{Items, Operation, Shared};
use crate::{devices, held_to, variant};
use modmill_core::Family;
use modmill_cuda::{Cuda, Device, Error, Settings, Variant};
use modmill_testing::rng::Rng;

use Operation::{MulMod, Pow, PowVartime};

const BITS: usize = 256;

/// Groups of four threads, so that a block has several items and warps are shared.
fn groups_of_four() -> Variant {
    variant(Family::Row, 4, 0, BITS)
}

fn items() -> Items {
    Items::hard(BITS, BITS, 9, 61, &mut Rng::new(1))
}

/// Places in a batch, each with an item: every item comes at every place of a warp.
fn order(count: usize) -> Vec<usize> {
    (0..count).map(|place| place * 7 % 61).collect()
}

#[test]
fn waves_need_not_be_full() {
    let variant = groups_of_four();
    let Some(cuda) = held_to(devices(), variant) else { return };
    let wave = cuda.wave(variant).unwrap();
    for count in [0, 1, 2, 7, 8, 9, 31, wave - 1, wave, wave + 1, 3 * wave + 5] {
        for operation in [Pow, PowVartime, MulMod] {
            items().check_order(&cuda, variant, operation, Shared::default(), &order(count));
        }
    }
}

#[test]
fn batches_of_several_chunks_are_answered_in_order() {
    let variant = groups_of_four();
    let Some(cuda) = held_to(devices(), variant) else { return };
    // A chunk has at most sixteen waves; five of them are more than are on their way at a time.
    let count = 5 * 16 * cuda.wave(variant).unwrap() + 3;
    items().check_order(&cuda, variant, MulMod, Shared::default(), &order(count));
    let shared = Shared { a: true, b: false, n: true };
    items().check_order(&cuda, variant, MulMod, shared, &order(count));
}

#[test]
fn devices_share_a_batch() {
    let variant = groups_of_four();
    let Some(cuda) = held_to([devices(), devices()].concat(), variant) else { return };
    assert!(cuda.devices().count() >= 2);
    for count in [1, 2, 3, 1000] {
        for operation in [Pow, MulMod] {
            items().check_order(&cuda, variant, operation, Shared::default(), &order(count));
        }
    }
}

#[test]
fn without_devices_nothing_is_computed() {
    let variant = groups_of_four();
    let cuda = Cuda::on(Vec::<Device>::new(), Settings { variant: Some(variant), ..Settings::default() });
    let run = |count| items().run(&cuda, variant, Pow, Shared::default(), &order(count));
    assert!(run(0).unwrap().answers.is_empty());
    assert_eq!(run(1).unwrap_err(), Error::NoDevice);
}
