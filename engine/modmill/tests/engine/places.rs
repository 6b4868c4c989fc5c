//! Operands and answers in plain memory, in pinned memory and in memory that is used again: the answers are
//! the same.

use modmill::{Backend, Batch, Engine, Error, ItemErrorKind, Modulus, Place, Public, integers};
use modmill_cuda::Faults;
use modmill_testing::rng::Rng;

/// An engine on an emulated GPU, and one on the CPU.
pub(crate) fn engines() -> Vec<Engine> {
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let gpu = modmill_testing::emulated::engine(Faults::default());
    let gpu = gpu.map(|builder| builder.fallback(false).build().unwrap());
    std::iter::once(cpu).chain(gpu).collect()
}

/// Random numbers of `bits` bits, all odd, the first ones hard.
pub(crate) fn numbers(bits: usize, count: usize, rng: &mut Rng) -> Batch {
    let hard = [(1u64 << 63) | 1, u64::MAX];
    let mut batch = Batch::zeros(bits, count);
    for item in 0..count {
        for limb in batch.get_mut(item) {
            *limb = hard.get(item).copied().unwrap_or_else(|| rng.word());
        }
        let number = batch.get_mut(item);
        number[0] |= 1;
        if let (Some(top), excess @ 1..) = (number.last_mut(), 64 * bits.div_ceil(64) - bits) {
            *top >>= excess;
        }
        if let Some(top) = number.last_mut() {
            *top |= 1 << ((bits - 1) % 64);
        }
    }
    batch
}

/// A batch full of ones: what an operation leaves of it shows.
fn dirty(engine: &Engine, pinned: bool, bits: usize, len: usize) -> Batch {
    let mut batch = if pinned { engine.pinned(bits, len).unwrap() } else { Batch::zeros(bits, len) };
    batch.as_limbs_mut().fill(u64::MAX);
    batch
}

#[test]
fn modular_operations_give_the_same_wherever_numbers_are() {
    for engine in engines() {
        for (bits, factor_bits, count) in [(127, 127, 5), (128, 256, 40), (200, 190, 3)] {
            let rng = &mut Rng::new(bits as u64);
            let (a, b, moduli) = (
                numbers(factor_bits, count, rng),
                numbers(factor_bits, count, rng),
                numbers(bits, count, rng),
            );
            let exponents = numbers(19, count, rng);
            let modulus = Modulus::new(moduli.get(2)).unwrap();
            let expected = [
                engine.mul_mod(&a, &b, &moduli).unwrap(),
                engine.square_mod(&a, &moduli).unwrap(),
                engine.pow(&a, &exponents, &moduli).unwrap(),
                engine.pow(&a, Public(&exponents), &moduli).unwrap(),
                engine.mul_mod(&a, b.shared(1), &modulus).unwrap(),
            ];
            // Each bit of `mask` puts one batch into pinned memory.
            for mask in 0..32 {
                let place = |batch: &Batch, bit: u32| match mask >> bit & 1 {
                    0 => batch.clone(),
                    _ => engine.pin(batch.view()).unwrap(),
                };
                let (a, b, moduli, exponents) =
                    (place(&a, 0), place(&b, 1), place(&moduli, 2), place(&exponents, 3));
                let answers = || dirty(&engine, mask >> 4 & 1 == 1, bits, count);
                let [mut products, mut squares, mut powers, mut public] = [(); 4].map(|()| answers());
                engine.to(&mut products).mul_mod(&a, &b, &moduli).unwrap();
                engine.to(&mut squares).square_mod(&a, &moduli).unwrap();
                engine.to(&mut powers).pow(&a, &exponents, &moduli).unwrap();
                engine.to(&mut public).pow(&a, Public(&exponents), &moduli).unwrap();
                let mut shared = dirty(&engine, mask >> 4 & 1 == 1, modulus.bits(), count);
                engine.to(&mut shared).mul_mod(&a, b.shared(1), &modulus).unwrap();
                let found = [products, squares, powers, public, shared];
                assert!(found == expected, "{bits} bits, places {mask:05b}");
            }
        }
    }
}

#[test]
fn products_give_the_same_wherever_numbers_are() {
    for engine in engines() {
        for (a_bits, b_bits) in [(64, 64), (5000, 4103), (8192, 8192)] {
            let rng = &mut Rng::new(a_bits as u64);
            let (a, b) = (numbers(a_bits, 7, rng), numbers(b_bits, 7, rng));
            let expected = [engine.mul(&a, &b).unwrap(), engine.square(&a).unwrap()];
            for pinned in [false, true] {
                let place = |batch: &Batch| match pinned {
                    false => batch.clone(),
                    true => engine.pin(batch.view()).unwrap(),
                };
                let (a, b) = (place(&a), place(&b));
                let mut products = dirty(&engine, pinned, a_bits + b_bits, 7);
                let mut squares = dirty(&engine, pinned, 2 * a_bits, 7);
                engine.to(&mut products).mul(&a, &b).unwrap();
                engine.to(&mut squares).square(&a).unwrap();
                assert!([products, squares] == expected, "{a_bits} by {b_bits} bits");
            }
        }
    }
}

/// Even moduli and zeros are put together on the host, into the caller's batch too.
#[test]
fn mixed_moduli_and_failed_items_are_written_in_place() {
    for engine in engines() {
        let a = Batch::from_hex(["5", "7", "9", "b"]).unwrap();
        let moduli = Batch::from_hex(["b", "0", "4", "1"]).unwrap();
        let mut answers = dirty(&engine, true, 4, 4);
        let Err(Error::Items(partial)) = engine.to(&mut answers).square_mod(&a, &moduli) else {
            panic!("a modulus is zero")
        };
        assert_eq!(partial.answers.as_limbs(), [3, 0, 1, 0]);
        assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::ZeroModulus));
        assert_eq!(answers.as_limbs(), [3, 0, 1, 0]);
    }
}

/// The items of an operation that failed, by its name, at one place of the answers.
fn failing<P: Place>(engine: &Engine<P>, name: &str, a: &Batch, moduli: &Batch) -> Result<P::Numbers, Error> {
    let b = a.shared(1);
    match name {
        "mul_mod" => engine.mul_mod(a, b, moduli),
        "square_mod" => engine.square_mod(a, moduli),
        "pow" => engine.pow(a, b, moduli),
        "public pow" => engine.pow(a, Public(b), moduli),
        "multi_pow" => engine.multi_pow(&[a.into(), b], &[b, b], moduli),
        "reduce" => engine.reduce(a, moduli),
        "inv" => engine.inv(a, moduli),
        "div" => engine.div(a, moduli),
        "div_exact" => integers::div_exact(engine, a, moduli),
        "add_mod" => integers::add_mod(engine, a, b, moduli),
        "sub_mod" => integers::sub_mod(engine, a, b, moduli),
        "crt" => integers::crt(engine, (a, moduli), (b, &Modulus::from_hex("d").unwrap())),
        name => panic!("{name} is no operation that fails"),
    }
}

/// Wherever the answers go, the error has the failed items with their reasons, and all other answers.
#[test]
fn the_error_of_failed_items_has_all_other_answers_at_every_place() {
    for engine in engines() {
        let a = Batch::from_hex(["21", "7", "9", "b", "3f"]).unwrap();
        let moduli = Batch::from_hex(["b", "0", "4", "1", "9"]).unwrap();
        for name in [
            "mul_mod",
            "square_mod",
            "pow",
            "public pow",
            "multi_pow",
            "reduce",
            "inv",
            "div",
            "div_exact",
            "add_mod",
            "sub_mod",
            "crt",
        ] {
            let expected = failing(&engine, name, &a, &moduli).unwrap_err();
            let Error::Items(partial) = &expected else { panic!("{name}: {expected}") };
            assert!(partial.failed.iter().any(|item| item.index == 1), "{name}: {expected}");
            assert!(partial.answers.as_limbs().iter().any(|&limb| limb != 0), "{name} has answers");
            for is_pinned in [false, true] {
                let mut answers = dirty(&engine, is_pinned, partial.answers.bits(), 5);
                let found = failing(&engine.to(&mut answers), name, &a, &moduli);
                assert_eq!(found, Err(expected.clone()), "{name} into a batch");
                assert_eq!(answers, partial.answers, "{name} into a batch");
            }
            let found = failing(&engine.on_device(), name, &a, &moduli).map(drop);
            assert_eq!(found, Err(expected.clone()), "{name} on a device");
        }
    }
}

#[test]
fn a_batch_of_another_shape_is_refused() {
    let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let (a, moduli) = (Batch::from_hex(["5", "7"]).unwrap(), Batch::from_hex(["b", "d"]).unwrap());
    let text = |bits, len| {
        let error = engine.to(&mut Batch::zeros(bits, len)).square_mod(&a, &moduli).unwrap_err();
        error.to_string()
    };
    assert_eq!(text(4, 3), "the batch for answers: 3 items instead of 2");
    assert_eq!(text(5, 2), "the batch for answers is 5 bits wide where 4 were expected");
    assert!(engine.to(&mut Batch::zeros(7, 2)).mul(&a, &a).is_err());
    let mut nothing = Batch::zeros(0, 2);
    assert_eq!(engine.to(&mut nothing).mul(&Batch::zeros(0, 2), &Batch::zeros(0, 2)), Ok(()));
}

/// If a device fails, the CPU writes the answers into the same memory.
#[test]
fn the_cpu_finishes_in_the_same_memory() {
    let faults = Faults { fail_launch_after: Some(0), ..Faults::default() };
    let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
    let engine = builder.build().unwrap();
    let rng = &mut Rng::new(7);
    let (a, moduli) = (numbers(128, 9, rng), numbers(128, 9, rng));
    let mut answers = dirty(&engine, true, 128, 9);
    let a = engine.pin(a.view()).unwrap();
    engine.to(&mut answers).square_mod(&a, &moduli).unwrap();
    assert!(!engine.faults().is_empty(), "the device should have failed");
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    assert_eq!(answers, cpu.square_mod(&a, &moduli).unwrap());
}
