//! The promises to callers, by example: order, errors, empty batches, ways to give operands.

use modmill::{
    Batch, Engine, Error, Family, ItemError, ItemErrorKind, KERNEL_MAX_BITS, Modulus, Op, Operand, Public,
    Request, TRANSFORM_MAX_BITS, primality,
};

fn engine() -> Engine {
    Engine::new().unwrap()
}

fn hex(batch: &Batch) -> Vec<String> {
    (0..batch.len()).map(|item| batch.to_hex(item)).collect()
}

#[test]
fn a_mixed_batch_is_answered_in_order() {
    let bases = Batch::from_hex(["2", "3", "2", "ffffffffffffffffffff", "5", "7", "0"]).unwrap();
    let exponents = Batch::from_hex(["a", "4", "100", "1", "0", "2", "0"]).unwrap();
    let moduli = Batch::from_hex(["3e8", "50", "10000000000000001", "100", "9", "1", "d"]).unwrap();
    // python3 -c "print([hex(pow(b, e, n)) for b, e, n in ...])" with the numbers above.
    let expected = ["18", "1", "1", "ff", "1", "0", "1"];
    assert_eq!(hex(&engine().pow(&bases, &exponents, &moduli).unwrap()), expected);
    assert_eq!(hex(&engine().pow(&bases, Public(&exponents), &moduli).unwrap()), expected);
}

#[test]
fn an_empty_batch_is_an_empty_answer() {
    let none = Batch::zeros(512, 0);
    let modulus = Modulus::from_hex("ff").unwrap();
    let engine = engine();
    for answer in [
        engine.mul(&none, &none),
        engine.mul_mod(&none, &none, &none),
        engine.square_mod(&none, &modulus),
        engine.pow(&none, &none, &modulus),
        engine.pow(&none, Public(Operand::Shared { bits: 8, value: &[3] }), &none),
        engine.inv(&none, &modulus),
    ] {
        assert!(answer.unwrap().is_empty());
    }
    assert_eq!(primality::is_probable_prime(&engine, &none, &[2]), Ok(vec![]));
}

#[test]
fn an_item_without_an_answer_costs_no_other_item_its_own() {
    let bases = Batch::from_values([[2u64], [3], [4]]);
    let moduli = Batch::from_values([[5u64], [0], [7]]);
    let two = Operand::Shared { bits: 2, value: &[2] };
    let Err(Error::Items(partial)) = engine().pow(&bases, two, &moduli) else {
        panic!("modulus 0 was accepted")
    };
    assert_eq!(partial.failed, [ItemError { index: 1, kind: ItemErrorKind::ZeroModulus }]);
    assert_eq!(hex(&partial.answers), ["4", "0", "2"]);
    assert_eq!(Error::Items(partial).to_string(), "item 1: the modulus is zero");
}

#[test]
fn numbers_without_an_inverse_are_named_beside_moduli_of_zero() {
    let numbers = Batch::from_values([[3u64], [3], [1], [2], [9]]);
    let moduli = Batch::from_values([[10u64], [9], [0], [1], [10]]);
    let Err(Error::Items(partial)) = engine().inv(&numbers, &moduli) else {
        panic!("3 has no inverse modulo 9")
    };
    let failed = [
        ItemError { index: 1, kind: ItemErrorKind::NotInvertible },
        ItemError { index: 2, kind: ItemErrorKind::ZeroModulus },
    ];
    assert_eq!(partial.failed, failed);
    assert_eq!(hex(&partial.answers), ["7", "0", "0", "0", "9"]);
}

#[test]
fn lengths_that_differ_are_named() {
    let (two, three) = (Batch::from_values([[1u64], [2]]), Batch::from_values([[1u64], [2], [3]]));
    let error = engine().pow(&two, &three, &two).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "exponents", expected: 2, found: 3 });
    assert_eq!(error.to_string(), "exponents: 3 items instead of 2");
    assert!(matches!(engine().inv(&two, &three), Err(Error::LengthMismatch { what: "moduli", .. })));
}

#[test]
fn the_longest_numbers_work_and_longer_ones_are_refused() {
    let engine = engine();
    let mut top = Batch::zeros(KERNEL_MAX_BITS, 1);
    top.as_limbs_mut().fill(u64::MAX);
    // (2^k - 1)^2 = 0 and 2^k - 1 = -1 modulo 2^k - 1 and 2^k - 2 respectively.
    assert_eq!(hex(&engine.square_mod(&top, &top).unwrap()), ["0"]);
    let mut even = top.clone();
    even.get_mut(0)[0] -= 1;
    assert_eq!(hex(&engine.square_mod(&top, &even).unwrap()), ["1"]);
    let three = Operand::Shared { bits: 2, value: &[3] };
    let mut odd = top.clone();
    odd.get_mut(0)[0] -= 2;
    assert_eq!(hex(&engine.pow(&top, three, &odd).unwrap()), ["8"]);
    assert_eq!(engine.mul(&top, &top).unwrap().bits(), 2 * KERNEL_MAX_BITS);
    let long = Operand::Shared { bits: TRANSFORM_MAX_BITS + 1, value: &[3] };
    let error = engine.mul_mod(long, &top, &top).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("a has {} bits; the limit is {TRANSFORM_MAX_BITS}", TRANSFORM_MAX_BITS + 1)
    );
    // Longer than the kernels take: by transforms, odd and even moduli alike.
    let mut top = Batch::zeros(KERNEL_MAX_BITS + 100, 1);
    top.as_limbs_mut().fill(u64::MAX);
    *top.as_limbs_mut().last_mut().unwrap() >>= 28;
    assert_eq!(hex(&engine.square_mod(&top, &top).unwrap()), ["0"]);
    let mut even = top.clone();
    even.get_mut(0)[0] -= 1;
    assert_eq!(hex(&engine.pow(&top, three, &even).unwrap()), ["1"]);
    // -1 is its own inverse, and all ones are 1 modulo one less.
    assert_eq!(hex(&engine.inv(&top, &even).unwrap()), ["1"]);
}

#[test]
fn a_view_of_a_batch_serves_as_an_operand() {
    let engine = engine();
    let bases = Batch::from_values((0..10u64).map(|i| [i]));
    let moduli = Batch::from_values((0..10u64).map(|i| [i + 20]));
    let whole = engine.square_mod(&bases, &moduli).unwrap();
    let part = engine.square_mod(bases.slice(3..7), moduli.slice(3..7)).unwrap();
    assert_eq!(hex(&part), hex(&whole)[3..7]);
}

#[test]
fn a_shared_value_may_have_fewer_limbs_than_its_width_or_more() {
    let engine = engine();
    let moduli = Batch::from_values([[1009u64], [1024]]);
    for value in [&[3u64][..], &[3, 0], &[3, 0, 0, 0, 0, 0]] {
        for bits in [2, 64, 65, 200] {
            let three = Operand::Shared { bits, value };
            assert_eq!(hex(&engine.pow(three, three, &moduli).unwrap()), ["1b", "1b"], "{bits} bits");
            assert_eq!(hex(&engine.pow(three, Public(three), &moduli).unwrap()), ["1b", "1b"], "{bits} bits");
            assert_eq!(hex(&engine.mul_mod(three, three, &moduli).unwrap()), ["9", "9"], "{bits} bits");
            assert_eq!(hex(&engine.mul(three, three).unwrap()), ["9"], "{bits} bits");
            assert_eq!(hex(&engine.inv(three, &moduli).unwrap()), ["2a1", "2ab"], "{bits} bits");
        }
    }
}

#[test]
fn shared_values_of_any_length_serve_products_by_transforms_and_divisors() {
    let fft = Engine::builder().family(Family::Fft).build().unwrap();
    let others = Batch::from_values([[5u64], [7]]);
    for engine in [engine(), fft] {
        for bits in [2, 64, 65, 6400, 40_000] {
            // Limbs above 40000 bits are above all widths, and not looked at.
            let mut beyond = vec![0; 700];
            (beyond[0], beyond[650]) = (3, 1);
            for value in [&[3u64][..], &[3, 0, 0, 0, 0, 0], &beyond] {
                let three = Operand::Shared { bits, value };
                assert_eq!(hex(&engine.mul(three, three).unwrap()), ["9"], "{bits} bits");
                assert_eq!(hex(&engine.mul(three, &others).unwrap()), ["f", "15"], "{bits} bits");
                assert_eq!(hex(&engine.square(three).unwrap()), ["9"], "{bits} bits");
                assert_eq!(hex(&engine.gcd(three, &others).unwrap()), ["1", "1"], "{bits} bits");
                assert_eq!(engine.xgcd(three, &others).unwrap().gcd.bits(), bits.max(3));
                let prepared = engine.prepare(three, bits).unwrap();
                assert_eq!(hex(&engine.mul_prepared(three, &prepared).unwrap()), ["9"], "{bits} bits");
            }
        }
    }
}

#[test]
fn numbers_of_no_bits_are_zeros() {
    let engine = engine();
    let (none, ones) = (Batch::zeros(0, 2), Batch::from_values([[1u64], [1]]));
    let modulus = Modulus::new(&[15]).unwrap();
    for (a, b, bits) in [(&none, &none, 0), (&none, &ones, 1), (&ones, &none, 1)] {
        let prepared = engine.prepare(b, 64).unwrap();
        for product in [engine.mul(a, b).unwrap(), engine.mul_prepared(a, &prepared).unwrap()] {
            assert_eq!((product.bits(), hex(&product)), (bits, vec!["0".to_owned(); 2]));
        }
        assert_eq!(hex(&engine.mul_mod(a, b, &modulus).unwrap()), ["0", "0"]);
    }
    assert_eq!(hex(&engine.pow(&none, &none, &modulus).unwrap()), ["1", "1"]);
    assert!(matches!(engine.pow(&ones, &ones, &none), Err(Error::Items(_))));
}

#[test]
fn plans_are_made_for_any_length() {
    for op in Op::OF_ITEMS {
        for count in [0, usize::MAX] {
            for bits in [0, TRANSFORM_MAX_BITS] {
                let plan = engine().plan(&Request::new(*op, bits, count)).unwrap();
                assert_eq!(plan.request, Request::new(*op, bits, count));
                assert!(!plan.seconds.is_nan());
            }
            assert!(matches!(
                engine().plan(&Request::new(*op, usize::MAX, count)),
                Err(Error::TooLong { .. })
            ));
        }
    }
}

#[test]
fn answers_do_not_depend_on_threads() {
    let items = |offset: u64| Batch::from_values((0..100u64).map(|i| [i * i + offset, i, offset + i % 7]));
    let (bases, exponents, moduli) = (items(3), items(1), items(2));
    let answers: Vec<Batch> = [1, 2, 5]
        .map(|threads| {
            let engine = Engine::builder().threads(threads).build().unwrap();
            assert_eq!(engine.threads(), threads);
            engine.pow(&bases, &exponents, &moduli).unwrap()
        })
        .into();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn one_engine_serves_many_threads() {
    let engine = engine();
    let modulus = Modulus::from_hex("fffffffffffffffffffffffffffffffffffffffffffffff1").unwrap();
    let bases = Batch::from_values((1..50u64).map(|i| [i, !i]));
    let expected = engine.square_mod(&bases, &modulus).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(engine.square_mod(&bases, &modulus.clone()).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn secrets_are_not_printed() {
    let batch = Batch::from_values([[0xdead_beefu64]]);
    let error = Error::items(batch.clone(), vec![ItemError { index: 0, kind: ItemErrorKind::ZeroModulus }]);
    for text in [format!("{batch:?}"), format!("{error:?}"), format!("{error}")] {
        assert!(!text.contains("dead") && !text.contains("3735928559"), "{text}");
    }
}
