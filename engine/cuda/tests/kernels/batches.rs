//! Batches of every size: parts of a wave, several waves, several chunks, several devices.

use crate::items::{Items, Operation, Shared};
use crate::{chunks, devices, held_to, variant};
use modmill_core::{Batch, Call, Family, Job, Moduli, Modulus, Op, Operand, Request};
use modmill_cuda::{Cuda, Cut, Device, Error, Settings, Variant};
use modmill_testing::rng::Rng;

use Operation::{MulMod, MultiplyChain, Pow, PowBy, PowVartime, SquareMod};

const BITS: usize = 256;

/// Groups of four threads, so that a block has several items and warps are shared.
fn groups_of_four() -> Variant {
    variant(Family::Row, 4, None, BITS)
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

/// Secret exponents with tables that are read directly: one for each item, one for all, and none.
#[test]
fn tables_are_read_directly_on_request() {
    for variant in [groups_of_four(), variant(Family::Rns, 2, chunks(1, 1), BITS)] {
        let Some(cuda) = held_to(devices(), variant) else { return };
        let settings = Settings { variant: Some(variant), direct_tables: true, ..Settings::default() };
        let direct = Cuda::on(cuda.devices().cloned().collect(), settings);
        let one = Shared { b: true, ..Shared::default() };
        for shared in [Shared::default(), one, Shared { n: true, ..one }] {
            // The first exponents are 0, 1, all ones and a single bit, whose other digits are zero.
            for first in 0..4 {
                items().rotated(first).check_order(&direct, variant, Pow, shared, &order(20));
            }
        }
        let nothing = items().with_b(|_| 0u8.into());
        nothing.check_order(&direct, variant, Pow, one, &order(5));
    }
}

/// Nothing of this panics, or lets kernels read what is not there.
#[test]
fn jobs_that_cannot_be_computed_are_errors() {
    let variant = groups_of_four();
    let Some(cuda) = held_to(devices(), variant) else { return };
    for operation in [Pow, PowVartime, MulMod, SquareMod, MultiplyChain(2), PowBy(4, true)] {
        let run = items().run(&cuda, variant, operation, Shared::default(), &[3, 61]);
        assert!(matches!(run, Err(Error::Item { item: 61, .. })), "{operation:?}");
    }
    let numbers = Batch::zeros(BITS, 2);
    let modulus = Modulus::from_hex(&"f".repeat(BITS / 4)).unwrap();
    let job = |moduli, bits, b| Job::new(&[0, 1], bits, (&numbers).into(), b, moduli);

    let good = job(Moduli::from(&modulus), BITS, (&numbers).into());
    let pow_by = |variant, window| {
        cuda.run_new(
            &cuda.plan_by(variant, window, &Request::of(Op::Pow, &good))?,
            Call::Modular(Op::Pow, &good),
        )
    };
    assert!(pow_by(variant, 4).is_ok());
    let spoilt = |change: fn(&mut Variant)| {
        let mut variant = variant;
        change(&mut variant);
        variant
    };
    for variant in [
        spoilt(|variant| variant.layout.threads = 0),
        spoilt(|variant| variant.layout.block = 0),
        spoilt(|variant| (variant.family, variant.layout.cut) = (Family::TwoPass, Some(Cut::Tile(0)))),
        spoilt(|variant| variant.family = Family::Fft),
        spoilt(|variant| variant.words = 4),
        spoilt(|variant| variant.words = u32::MAX),
        spoilt(|variant| variant.room = true),
    ] {
        let run = pow_by(variant, 4);
        assert!(matches!(run, Err(Error::NoKernel { .. })), "{variant:?}");
    }
    for window in [0, 9, 64] {
        assert!(matches!(pow_by(variant, window), Err(Error::NoKernel { .. })));
    }
    let exponent = Operand::Shared { bits: 1 << 32, value: &[3] };
    for (op, job) in [
        (Op::Pow, job(good.moduli, BITS, exponent)),
        (Op::MulMod, job(good.moduli, 0, good.b)),
        (Op::MulMod, job(good.moduli, usize::MAX, good.b)),
    ] {
        assert!(cuda.plan(&Request::of(op, &job)).is_none());
    }
    // A plan for shorter moduli is not run on longer ones.
    let plan = cuda.plan(&Request::of(Op::MulMod, &good)).unwrap();
    let longer = job(good.moduli, 2 * BITS, good.b);
    assert!(matches!(cuda.run_new(&plan, Call::Modular(Op::Pow, &longer)), Err(Error::NoKernel { .. })));
}
