//! Batches that stay on a device: every operation on every mixture of places, lifetimes, and memory that runs
//! out.

use crate::places::{engines, numbers};
use modmill::{
    Backend, Batch, Engine, Error, ItemErrorKind, Modulus, Op, Operand, Place, Public, Request, Resident,
    Residues,
};
use modmill_cuda::Faults;
use modmill_testing::rng::Rng;

/// A batch in plain memory, in pinned memory, or on a device.
enum Placed {
    Host(Batch),
    Device(Resident),
}

impl Placed {
    fn new(engine: &Engine, batch: &Batch, place: usize) -> Self {
        match place {
            0 => Self::Host(batch.clone()),
            1 => Self::Host(engine.pin(batch.view()).unwrap()),
            _ => Self::Device(engine.upload(batch).unwrap()),
        }
    }

    fn operand(&self) -> Operand<'_> {
        match self {
            Self::Host(batch) => batch.into(),
            Self::Device(resident) => resident.into(),
        }
    }

    fn shared(&self, index: usize) -> Operand<'_> {
        match self {
            Self::Host(batch) => batch.shared(index),
            Self::Device(resident) => resident.shared(index),
        }
    }
}

fn emulated(faults: Faults) -> Option<Engine> {
    Some(modmill_testing::emulated::engine(faults)?.fallback(false).build().unwrap())
}

#[test]
fn batches_are_joined() {
    for engine in engines() {
        let rng = &mut Rng::new(5);
        for bits in [7, 64, 130] {
            let batches = [3, 0, 1, 5].map(|count| numbers(bits, count, rng));
            let mut residents = batches.each_ref().map(|batch| engine.upload(batch).unwrap());
            // A row of more limbs than the numbers have.
            let wide = engine.on_device().shift_left(&residents[0], 100).unwrap();
            let wide = engine.on_device().shift_right(&wide, 100).unwrap();
            residents[0] = wide.narrowed(bits);
            let parts = [residents[1].clone(), residents[0].clone(), residents[3].clone()];
            let joined = engine.on_device().join(&parts.each_ref()).unwrap();
            let expected: Vec<&[u64]> = batches[0].iter().chain(batches[3].iter()).collect();
            assert_eq!((joined.bits(), joined.len()), (bits, expected.len()));
            assert!(joined.download().unwrap().iter().eq(expected));
        }
        let (narrow, wide) = (engine.upload(&Batch::zeros(8, 1)), engine.upload(&Batch::zeros(9, 1)));
        let found = engine.on_device().join(&[&narrow.unwrap(), &wide.unwrap()]);
        assert!(matches!(found, Err(Error::TooLong { bits: 9, limit: 8, .. })));
        assert_eq!(engine.on_device().join(&[]).unwrap().len(), 0);
    }
}

#[test]
fn numbers_come_back_as_they_went() {
    for engine in engines() {
        let rng = &mut Rng::new(1);
        for (bits, count) in [(1, 1), (64, 7), (65, 300), (5000, 3), (64, 0)] {
            let batch = numbers(bits, count, rng);
            let resident = engine.upload(&batch).unwrap();
            assert_eq!((resident.bits(), resident.len()), (bits, count));
            assert!(resident.download().unwrap() == batch, "{bits} bits");
            let mut pinned = engine.pinned(bits, count).unwrap();
            resident.download_into(&mut pinned).unwrap();
            assert!(pinned == batch, "{bits} bits into pinned memory");
            if count > 2 {
                assert!(resident.slice(1..3).download().unwrap() == batch.slice(1..3).to_batch());
                assert!(
                    engine.upload(batch.slice(1..3)).unwrap().download().unwrap()
                        == batch.slice(1..3).to_batch()
                );
            }
        }
        let mut narrow = Batch::zeros(3, 2);
        let two = engine.upload(&Batch::zeros(4, 2)).unwrap();
        assert!(matches!(two.download_into(&mut narrow), Err(Error::WidthMismatch { expected: 4, .. })));
        assert!(matches!(two.download_into(&mut Batch::zeros(4, 1)), Err(Error::LengthMismatch { .. })));
        assert_eq!(format!("{two:?}"), "Resident(2 x 4 bits)");
    }
}

#[test]
fn modular_operations_give_the_same_on_every_mixture_of_places() {
    for engine in engines() {
        for (bits, factor_bits, count) in [(127, 127, 5), (128, 256, 40), (200, 190, 3)] {
            let rng = &mut Rng::new(bits as u64);
            let [a, b] = [(); 2].map(|()| numbers(factor_bits, count, rng));
            let (moduli, exponents) = (numbers(bits, count, rng), numbers(19, count, rng));
            let modulus = Modulus::new(moduli.get(2)).unwrap();
            let resident_moduli = engine.upload_moduli(moduli.clone()).unwrap();
            let expected = [
                engine.mul_mod(&a, &b, &moduli).unwrap(),
                engine.square_mod(&a, &moduli).unwrap(),
                engine.pow(&a, &exponents, &moduli).unwrap(),
                engine.pow(&a, Public(&exponents), &moduli).unwrap(),
                engine.mul_mod(&a, b.shared(1), &modulus).unwrap(),
                engine.pow(&a, exponents.shared(1), &modulus).unwrap(),
                engine.reduce(&a, &moduli).unwrap(),
            ];
            for place in 0..9 {
                let first = Placed::new(&engine, &a, place % 3);
                let second = Placed::new(&engine, &b, place / 3);
                let powers = Placed::new(&engine, &exponents, place / 3);
                let (x, y, e) = (first.operand(), second.operand(), powers.operand());
                let device = engine.on_device();
                let found = [
                    device.mul_mod(x, y, &resident_moduli),
                    device.square_mod(x, &moduli),
                    device.pow(x, e, &resident_moduli),
                    device.pow(x, Public(e), &moduli),
                    device.mul_mod(x, second.shared(1), &modulus),
                    device.pow(x, powers.shared(1), &modulus),
                    device.reduce(x, &resident_moduli),
                ];
                for (which, (found, expected)) in found.into_iter().zip(&expected).enumerate() {
                    assert!(
                        found.unwrap().download().unwrap() == *expected,
                        "{which} at {place}, {bits} bits"
                    );
                }
                let home = [
                    engine.mul_mod(x, y, &moduli),
                    engine.square_mod(x, &resident_moduli),
                    engine.pow(x, e, &moduli),
                    engine.pow(x, Public(e), &resident_moduli),
                    engine.mul_mod(x, second.shared(1), &modulus),
                    engine.pow(x, powers.shared(1), &modulus),
                    engine.reduce(x, &moduli),
                ];
                assert!(home.map(Result::unwrap) == expected, "answers at home, {place}, {bits} bits");
            }
        }
    }
}

#[test]
fn long_products_give_the_same_on_every_mixture_of_places() {
    for engine in engines() {
        let rng = &mut Rng::new(9);
        let (a, b) = (numbers(6000, 3, rng), numbers(4500, 3, rng));
        let expected = [
            engine.mul(&a, &b).unwrap(),
            engine.square(&a).unwrap(),
            engine.mul(&a, b.shared(2)).unwrap(),
            engine.mul(a.shared(0), &b).unwrap(),
        ];
        for place in 0..9 {
            let (first, second) = (Placed::new(&engine, &a, place % 3), Placed::new(&engine, &b, place / 3));
            let (x, y) = (first.operand(), second.operand());
            let device = engine.on_device();
            let found = [
                device.mul(x, y),
                device.square(x),
                device.mul(x, second.shared(2)),
                device.mul(first.shared(0), y),
            ];
            let found = found.map(|found| found.unwrap().download().unwrap());
            assert!(found == expected, "places {place}");
            let home = [
                engine.mul(x, y),
                engine.square(x),
                engine.mul(x, second.shared(2)),
                engine.mul(first.shared(0), y),
            ];
            assert!(home.map(Result::unwrap) == expected, "answers at home, places {place}");
        }
    }
}

/// Transforms modulo long numbers, of one length and of several.
#[test]
fn long_moduli_take_resident_operands() {
    for engine in engines() {
        let rng = &mut Rng::new(11);
        let a = numbers(33_000, 2, rng);
        let mut moduli = numbers(33_000, 2, rng);
        let exponents = numbers(5, 2, rng);
        for is_ragged in [false, true] {
            if is_ragged {
                let last = moduli.stride() - 1;
                moduli.get_mut(1)[last] = 1;
            }
            let expected = engine.mul_mod(&a, &a, &moduli).unwrap();
            let power = engine.pow(&a, &exponents, &moduli).unwrap();
            let (resident, divisors) =
                (engine.upload(&a).unwrap(), engine.upload_moduli(moduli.clone()).unwrap());
            let device = engine.on_device();
            assert!(device.mul_mod(&resident, &a, &divisors).unwrap().download().unwrap() == expected);
            assert!(device.pow(&resident, &exponents, &divisors).unwrap().download().unwrap() == power);
            assert!(engine.square_mod(&resident, &divisors).unwrap() == expected);
        }
    }
}

/// Even moduli and moduli of several lengths are put together on the host; a modulus of zero is named.
#[test]
fn moduli_of_all_kinds_take_resident_operands() {
    for engine in engines() {
        let texts = ["ffffffffffffffffffffffff", "10000", "7", "1", "3039303930393039303930"];
        let moduli = Batch::from_hex(texts).unwrap();
        let a = numbers(100, texts.len(), &mut Rng::new(3));
        let resident = engine.upload(&a).unwrap();
        let expected = engine.square_mod(&a, &moduli).unwrap();
        assert!(engine.square_mod(&resident, &moduli).unwrap() == expected);
        let divisors = engine.upload_moduli(moduli).unwrap();
        assert!(engine.on_device().square_mod(&resident, &divisors).unwrap().download().unwrap() == expected);
        let with_zero = Batch::from_hex(["7", "0", "7", "7", "7"]).unwrap();
        let Err(Error::Items(partial)) = engine.on_device().square_mod(&resident, &with_zero) else {
            panic!()
        };
        assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::ZeroModulus));
        assert!(!partial.answers.is_empty());
    }
}

/// Operations that GPUs have no kernels for take resident operands too.
#[test]
fn the_host_computes_what_devices_cannot() {
    for engine in engines() {
        let a = Batch::from_hex(["3", "10001", "deadbeef"]).unwrap();
        let b = Batch::from_hex(["6", "20002", "7"]).unwrap();
        let modulus = Modulus::from_hex("fffffffb").unwrap();
        let [x, y] = [&a, &b].map(|batch| engine.upload(batch).unwrap());
        assert!(engine.gcd(&x, &y).unwrap() == engine.gcd(&a, &b).unwrap());
        assert!(engine.inv(&x, &modulus).unwrap() == engine.inv(&a, &modulus).unwrap());
        let prepared = engine.prepare(&x, 32).unwrap();
        assert!(engine.mul_prepared(&y, &prepared).unwrap() == engine.mul(a.shared(0), &b).unwrap());
        assert!(engine.mul(&x, &y).unwrap() == engine.mul(&a, &b).unwrap());
    }
}

#[test]
fn a_chain_needs_no_trip_home() {
    let Some(engine) = emulated(Faults::default()) else { return };
    let modulus = Modulus::from_hex("fffffffffffffffffffffffffffffffb").unwrap();
    let factors = numbers(128, 33, &mut Rng::new(5));
    let mut expected = factors.clone();
    let factor = engine.upload(&factors).unwrap();
    let mut product = factor.clone();
    for _ in 0..20 {
        expected = engine.mul_mod(&expected, &factors, &modulus).unwrap();
        product = engine.on_device().mul_mod(&product, &factor, &modulus).unwrap();
    }
    assert!(product.download().unwrap() == expected);
}

#[test]
fn a_resident_batch_outlives_its_engine_and_serves_others() {
    let (Some(first), Some(second)) = (emulated(Faults::default()), emulated(Faults::default())) else {
        return;
    };
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let modulus = Modulus::from_hex("fffffffffffffffb").unwrap();
    let batch = numbers(64, 9, &mut Rng::new(6));
    let expected = cpu.square_mod(&batch, &modulus).unwrap();
    let (one, two) = (first.upload(&batch).unwrap(), second.upload(&batch).unwrap());
    // Operands of two devices in one call, and of another engine's device.
    for engine in [&first, &second, &cpu] {
        assert!(engine.mul_mod(&one, &two, &modulus).unwrap() == expected);
        assert!(engine.on_device().mul_mod(&two, &one, &modulus).unwrap().download().unwrap() == expected);
    }
    drop(first);
    assert!(one.download().unwrap() == batch);
    assert!(second.square_mod(&one, &modulus).unwrap() == expected);
}

#[test]
fn memory_is_accounted_and_given_back() {
    let Some(engine) = emulated(Faults::default()) else { return };
    let held = || engine.memory().unwrap()[0].resident;
    assert_eq!(held(), 0);
    let one = engine.upload(&Batch::zeros(640, 100)).unwrap();
    assert_eq!((held(), one.bytes()), (8000, 8000));
    let two = one.clone();
    let three = engine.upload(&Batch::zeros(64, 1000)).unwrap();
    assert_eq!(held(), 16_000);
    drop((one, three));
    assert_eq!(held(), 8000, "a clone keeps the memory");
    drop(two);
    assert_eq!(held(), 0);
}

#[test]
fn memory_that_runs_out_in_a_chain_is_a_typed_error_and_costs_nothing_else() {
    let faults = Faults { out_of_memory_above: Some(2 << 20), ..Faults::default() };
    let Some(engine) = emulated(faults) else { return };
    let modulus = Modulus::from_hex("fffffffffffffffb").unwrap();
    let batch = numbers(64, 1 << 15, &mut Rng::new(7));
    let expected = engine.square_mod(&batch, &modulus).unwrap();
    let first = engine.upload(&batch).unwrap();
    let mut kept = Vec::new();
    let error = loop {
        match engine.on_device().square_mod(&first, &modulus) {
            Ok(answers) => kept.push(answers),
            Err(error) => break error,
        }
        assert!(kept.len() < 20, "memory never runs out");
    };
    assert!(matches!(error, Error::OutOfMemory { what: "device memory", bytes } if bytes > 0), "{error}");
    for answers in &kept {
        assert!(answers.download().unwrap() == expected);
    }
    kept.pop();
    assert!(engine.on_device().square_mod(&first, &modulus).unwrap().download().unwrap() == expected);
}

#[test]
fn a_lost_device_is_an_error_of_its_batches_only() {
    let faults = Faults { lose_device_after: Some(3), ..Faults::default() };
    let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
    let engine = builder.build().unwrap();
    let modulus = Modulus::from_hex("fffffffffffffffb").unwrap();
    let batch = numbers(64, 5, &mut Rng::new(8));
    let resident = engine.upload(&batch).unwrap();
    let failed = (0..5).find_map(|_| engine.square_mod(&resident, &modulus).err());
    assert!(matches!(failed, Some(Error::Device(_))), "{failed:?}");
    // The host still has its own numbers.
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    assert!(engine.square_mod(&batch, &modulus).unwrap() == cpu.square_mod(&batch, &modulus).unwrap());
}

#[test]
fn plans_tell_where_operands_are() {
    let Some(engine) = emulated(Faults::default()) else { return };
    let request = Request::new(Op::MulMod, 256, 1000).resident_operands().resident_answers();
    let plan = engine.plan(&request).unwrap();
    assert_eq!(plan.backend(), Backend::Cuda);
    assert!(plan.reason.contains("the operands are on the device"), "{}", plan.reason);
    let symbols = engine.plan(&Request { op: Op::Jacobi, ..request }).unwrap();
    assert!(symbols.reason.contains("are copied"), "{}", symbols.reason);
}

/// The answers of every step, at the place of the engine.
fn steps<P: Place>(
    engine: &Engine<P>,
    [x, y, flags]: [Operand<'_>; 3],
    indices: &[usize],
) -> [Result<P::Numbers, Error>; 9] {
    [
        engine.add(x, y),
        engine.sub(x, y),
        engine.less(x, y),
        engine.equal(x, y),
        engine.shift_left(x, 95),
        engine.shift_right(x, 33),
        engine.shift_left(x, 64),
        engine.select(flags, x, y),
        engine.gather(x, indices),
    ]
}

/// Steps between products, on every mixture of places, against the oracle's integers.
#[test]
fn steps_give_the_same_on_every_mixture_of_places() {
    use modmill_testing::oracle::{self, batch_of_width};
    use num_bigint::BigUint;
    for engine in engines() {
        for (bits, count) in [(64, 300), (130, 40), (5000, 5), (70_000, 3)] {
            let rng = &mut Rng::new(bits as u64);
            let (mut a, mut b) = (numbers(bits, count, rng), numbers(bits - 1, count, rng));
            // All ones and one, equal numbers, and zero.
            a.get_mut(0).fill(u64::MAX);
            if let Some(top) = a.get_mut(0).last_mut() {
                *top >>= (64 - bits % 64) % 64;
            }
            b.get_mut(0).fill(0);
            b.get_mut(0)[0] = 1;
            let equal = b.get(1).to_vec();
            a.get_mut(1).fill(0);
            a.get_mut(1)[..equal.len()].copy_from_slice(&equal);
            a.get_mut(2).fill(0);
            let flags = Batch::from_values((0..count as u64).map(|item| [item & 1]));
            let indices: Vec<usize> = (0..2 * count).map(|item| item * 7 % count).collect();
            let (x, y) = (oracle::numbers(&a), oracle::numbers(&b));
            let each = |answer: &dyn Fn(&BigUint, &BigUint) -> BigUint, bits: usize| {
                let answers: Vec<BigUint> = x.iter().zip(&y).map(|(x, y)| answer(x, y)).collect();
                batch_of_width(&answers, bits)
            };
            let flag = |flag: bool| BigUint::from(u8::from(flag));
            let chosen: Vec<BigUint> = (0..count)
                .map(|item| if item & 1 == 1 { x[item].clone() } else { y[item].clone() })
                .collect();
            let gathered: Vec<BigUint> = indices.iter().map(|&index| x[index].clone()).collect();
            let expected = [
                each(&|x, y| x + y, bits + 1),
                each(&|x, y| ((BigUint::from(1u8) << bits) + x - y) % (BigUint::from(1u8) << bits), bits),
                each(&|x, y| flag(x < y), 1),
                each(&|x, y| flag(x == y), 1),
                each(&|x, _| x << 95, bits + 95),
                each(&|x, _| x >> 33, bits - 33),
                each(&|x, _| x << 64, bits + 64),
                batch_of_width(&chosen, bits),
                batch_of_width(&gathered, bits),
            ];
            for place in 0..9 {
                let (first, second) =
                    (Placed::new(&engine, &a, place % 3), Placed::new(&engine, &b, place / 3));
                let flags = Placed::new(&engine, &flags, place % 2 * 2);
                let (x, y, flags) = (first.operand(), second.operand(), flags.operand());
                let found = steps(&engine.on_device(), [x, y, flags], &indices);
                for (which, (found, expected)) in found.into_iter().zip(&expected).enumerate() {
                    let found = found.unwrap().download().unwrap();
                    assert!(found == *expected, "step {which} at {place}, {bits} bits");
                }
                let home = steps(&engine, [x, y, flags], &indices);
                assert!(home.map(Result::unwrap) == expected, "answers at home, {place}, {bits} bits");
            }
        }
    }
}

/// Slices of resident batches, shared operands and empty batches.
#[test]
fn steps_take_slices_shared_numbers_and_nothing() {
    for engine in engines() {
        let batch = Batch::from_values((0..10u64).map(|item| [item, item]));
        let resident = engine.upload(&batch).unwrap();
        let device = engine.on_device();
        let sums = device.add(resident.slice(2..5), resident.shared(9)).unwrap().download().unwrap();
        assert_eq!(sums.as_limbs(), [11, 11, 12, 12, 13, 13]);
        let some = device.gather(resident.slice(2..5), &[2, 0]).unwrap().download().unwrap();
        assert_eq!(some.as_limbs(), [4, 4, 2, 2]);
        let squares = device.mul(resident.slice(3..5), resident.slice(3..5)).unwrap().download().unwrap();
        assert!(squares == engine.square(batch.slice(3..5)).unwrap());
        assert!(device.add(resident.slice(0..0), &Batch::zeros(5, 0)).unwrap().is_empty());
        assert!(device.gather(&resident, &[]).unwrap().is_empty());
        // A shift of more bits than a word counts.
        let nothing = device.shift_right(&resident, (1 << 35) + 3).unwrap().download().unwrap();
        assert!(nothing.bits() == 1 && nothing.as_limbs() == [0; 10]);
        let error = device.gather(&resident, &[10]).unwrap_err();
        assert_eq!(error.to_string(), "an index is 10; it must be 0 to 9");
        let error = device.add(&resident, &Batch::zeros(5, 2)).unwrap_err();
        assert_eq!(error, Error::LengthMismatch { what: "b", expected: 10, found: 2 });
    }
}

/// Residues in Montgomery form, of every kind of modulus.
#[test]
fn residues_stay_in_their_form() {
    use modmill_testing::oracle;
    for engine in engines() {
        let device = engine.on_device();
        let texts = [
            "fffffffffffffffb",
            "8000000000000000000000000000000000000000000000000000000000000001",
            "10000000000000000000000000000000000000000000000000",
            "3",
            "1",
        ];
        for text in texts {
            let modulus = Modulus::from_hex(text).unwrap();
            let n = oracle::number(modulus.value());
            let rng = &mut Rng::new(text.len() as u64);
            // Longer than the modulus, and the modulus itself and its neighbours.
            let (mut a, b) = (numbers(300, 9, rng), numbers(70, 9, rng));
            for (item, value) in [&n - 1u8, n.clone(), &n * 2u8].iter().enumerate() {
                a.get_mut(item)
                    .copy_from_slice(oracle::batch_of_width(std::slice::from_ref(value), 300).get(0));
            }
            let (x, y) = (oracle::numbers(&a), oracle::numbers(&b));
            let one = Residues::new(&device, &a, &modulus).unwrap();
            let two = Residues::new(&device, &engine.upload(&b).unwrap(), &modulus).unwrap();
            assert_eq!((one.len(), one.modulus().value()), (9, modulus.value()));
            let found = [
                one.numbers(&device).unwrap(),
                one.mul(&device, &two).unwrap().numbers(&device).unwrap(),
                one.square(&device).unwrap().numbers(&device).unwrap(),
                one.add(&device, &two).unwrap().numbers(&device).unwrap(),
                one.sub(&device, &two).unwrap().numbers(&device).unwrap(),
            ];
            let found = found.map(|numbers| oracle::numbers(&numbers.download().unwrap()));
            for item in 0..9 {
                let (x, y) = (&x[item] % &n, &y[item] % &n);
                let expected = [x.clone(), &x * &y % &n, &x * &x % &n, (&x + &y) % &n, (&n + &x - &y) % &n];
                for (which, (found, expected)) in found.iter().zip(expected).enumerate() {
                    assert_eq!(found[item], expected, "operation {which}, item {item}, modulo {text}");
                }
            }
            let other = Residues::new(&device, &b, &Modulus::from_hex("fd").unwrap()).unwrap();
            assert!(matches!(one.mul(&device, &other), Err(Error::Unavailable(_))));
            let short = Residues::new(&device, b.slice(0..2), &modulus).unwrap();
            assert!(matches!(one.mul(&device, &short), Err(Error::LengthMismatch { .. })));
        }
    }
}

/// Factors that are transformed once, one for all items and one for each, of every place.
#[test]
fn prepared_factors_multiply_like_plain_ones() {
    for engine in engines() {
        let device = engine.on_device();
        let rng = &mut Rng::new(21);
        for (bits, other_bits) in [(6000, 4500), (200, 5000), (9000, 64), (100, 100)] {
            let (factors, others) = (numbers(bits, 3, rng), numbers(other_bits, 3, rng));
            let each = engine.mul(&others, &factors).unwrap();
            let all = engine.mul(&others, factors.shared(1)).unwrap();
            for place in 0..9 {
                let first = Placed::new(&engine, &factors, place % 3);
                let second = Placed::new(&engine, &others, place / 3);
                let by_item = device.prepare(first.operand(), other_bits).unwrap();
                let shared = device.prepare(first.shared(1), other_bits + 1).unwrap();
                assert_eq!(
                    (by_item.len(), by_item.bits(), shared.len(), shared.longest()),
                    (3, bits, 1, other_bits + 1)
                );
                let found = device.mul_prepared(second.operand(), &by_item).unwrap().download().unwrap();
                assert!(found == each, "one for each, {bits} bits, places {place}");
                let found = engine.mul_prepared(second.operand(), &by_item).unwrap();
                assert!(found == each, "to the host, {bits} bits, places {place}");
                let found = device.mul_prepared(second.operand(), &shared).unwrap().download().unwrap();
                assert!(found == all, "one for all, {bits} bits, places {place}");
            }
            let prepared = device.prepare(&factors, other_bits).unwrap();
            let error = device.mul_prepared(others.slice(0..2), &prepared).unwrap_err();
            assert_eq!(error, Error::LengthMismatch { what: "a", expected: 3, found: 2 });
            let wider = numbers(other_bits + 1, 3, rng);
            assert!(matches!(device.mul_prepared(&wider, &prepared), Err(Error::TooLong { what: "a", .. })));
        }
    }
}
