//! Properties on drawn inputs, against `num-bigint`, on the path the engine chooses and on the
//! portable one.

use modmill::{Batch, Engine, Error, Isa, Modulus, Public};
use modmill_testing::oracle;
use num_bigint::BigUint;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::sync::LazyLock;

static ENGINES: LazyLock<[Engine; 2]> = LazyLock::new(|| {
    [Engine::new().unwrap(), Engine::builder().isa(Isa::Portable).threads(1).build().unwrap()]
});

fn config(cases: u32) -> ProptestConfig {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proptest-regressions/properties.txt");
    let persistence = FileFailurePersistence::Direct(file);
    ProptestConfig { cases, failure_persistence: Some(Box::new(persistence)), ..ProptestConfig::default() }
}

/// Limbs as they trouble carries.
fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => any::<u64>(),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => (0..64u32).prop_map(|place| 1 << place),
        1 => (0..64u32).prop_map(|place| u64::MAX >> place),
    ]
}

fn number(limbs: usize) -> impl Strategy<Value = BigUint> {
    prop::collection::vec(limb(), 0..=limbs).prop_map(|limbs| oracle::number(&limbs))
}

fn modulus(limbs: usize) -> impl Strategy<Value = BigUint> {
    (number(limbs), 0..130usize, any::<bool>()).prop_map(|(number, shift, odd)| match odd {
        true => number | BigUint::from(1u8),
        false => (number | BigUint::from(1u8)) << shift,
    })
}

fn items(limbs: usize, exponent_limbs: usize) -> impl Strategy<Value = Vec<(BigUint, BigUint, BigUint)>> {
    prop::collection::vec((number(2 * limbs), number(exponent_limbs), modulus(limbs)), 0..20)
}

fn columns(items: &[(BigUint, BigUint, BigUint)]) -> [Batch; 3] {
    let column = |pick: fn(&(BigUint, BigUint, BigUint)) -> &BigUint| {
        oracle::batch(&items.iter().map(|item| pick(item).clone()).collect::<Vec<_>>())
    };
    [column(|item| &item.0), column(|item| &item.1), column(|item| &item.2)]
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn powers_are_right(items in items(9, 2)) {
        let [a, b, n] = columns(&items);
        let expected: Vec<BigUint> = items.iter().map(|(a, b, n)| oracle::pow(a, b, n)).collect();
        for engine in ENGINES.iter() {
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, &b, &n).unwrap()), &expected);
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, Public(&b), &n).unwrap()), &expected);
        }
    }

    #[test]
    fn products_and_squares_are_right(items in items(20, 40)) {
        let [a, b, n] = columns(&items);
        let products: Vec<BigUint> = items.iter().map(|(a, b, _)| a * b).collect();
        let reduced: Vec<BigUint> = items.iter().map(|(a, b, n)| a * b % n).collect();
        let squares: Vec<BigUint> = items.iter().map(|(a, _, n)| a * a % n).collect();
        for engine in ENGINES.iter() {
            prop_assert_eq!(&oracle::numbers(&engine.mul(&a, &b).unwrap()), &products);
            prop_assert_eq!(&oracle::numbers(&engine.mul_mod(&a, &b, &n).unwrap()), &reduced);
            prop_assert_eq!(&oracle::numbers(&engine.square_mod(&a, &n).unwrap()), &squares);
        }
    }

    #[test]
    fn inverses_are_right_and_their_absence_is_named(items in items(9, 1)) {
        let [a, _, n] = columns(&items);
        for engine in ENGINES.iter() {
            let (answers, failed) = match engine.inv(&a, &n) {
                Ok(answers) => (answers, Vec::new()),
                Err(Error::Items(partial)) => (partial.answers, partial.failed),
                Err(other) => panic!("{other}"),
            };
            let failed: Vec<usize> = failed.iter().map(|error| error.index).collect();
            let expected: Vec<Option<BigUint>> = items.iter().map(|(a, _, n)| oracle::inv(a, n)).collect();
            let without: Vec<usize> = (0..items.len()).filter(|&item| expected[item].is_none()).collect();
            prop_assert_eq!(failed, without);
            let expected: Vec<BigUint> = expected.into_iter().map(Option::unwrap_or_default).collect();
            prop_assert_eq!(oracle::numbers(&answers), expected);
        }
    }

    #[test]
    fn a_shared_modulus_and_wider_declarations_change_nothing(
        bases in prop::collection::vec(number(6), 1..12),
        exponent in number(2),
        modulus in modulus(5),
        wider in 0..300usize,
    ) {
        let a = oracle::batch(&bases);
        let a_wide = a.with_bits(a.bits() + wider).unwrap();
        let b = oracle::batch(std::slice::from_ref(&exponent));
        let b_wide = b.with_bits(b.bits() + wider).unwrap();
        let n = Modulus::new(&modulus.to_u64_digits()).unwrap();
        let n_wide = oracle::batch_of_width(&vec![modulus.clone(); bases.len()], modulus.bits() as usize + wider);
        let expected: Vec<BigUint> = bases.iter().map(|base| oracle::pow(base, &exponent, &modulus)).collect();
        for engine in ENGINES.iter() {
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, b.shared(0), &n).unwrap()), &expected);
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a_wide, b_wide.shared(0), &n).unwrap()), &expected);
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a_wide, b.shared(0), &n_wide).unwrap()), &expected);
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, Public(b_wide.shared(0)), &n_wide).unwrap()), &expected);
        }
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn long_powers_are_right(items in prop::collection::vec((number(34), number(18), modulus(18)), 1..4)) {
        let [a, b, n] = columns(&items);
        let expected: Vec<BigUint> = items.iter().map(|(a, b, n)| oracle::pow(a, b, n)).collect();
        for engine in ENGINES.iter() {
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, &b, &n).unwrap()), &expected);
            prop_assert_eq!(&oracle::numbers(&engine.pow(&a, Public(&b), &n).unwrap()), &expected);
        }
    }
}
