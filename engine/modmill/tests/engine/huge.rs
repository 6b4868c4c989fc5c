//! Long numbers through the engine: divisors, cofactors, inverses, powers, prepared factors.

use modmill::{Batch, Engine, Error, Family, Isa, ItemErrorKind, Modulus, Op, Operand, Public, Request};
use modmill_testing::oracle::number as big;
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// A pseudorandom number of `limbs` limbs that depends on `seed` alone.
fn number(limbs: usize, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    (0..limbs).map(|_| rng.word()).collect()
}

fn engines() -> Vec<Engine> {
    let portable = Engine::builder().isa(Isa::Portable).build().unwrap();
    vec![Engine::new().unwrap(), portable]
}

#[test]
fn divisors_and_cofactors() {
    let pairs = [(0, 0), (0, 7), (7, 0), (12, 18), (1, 1), (35, 64)].map(|(a, b)| (vec![a], vec![b]));
    let long = [(700, 690, 1), (650, 650, 2), (900, 3, 3)]
        .map(|(a, b, seed)| (number(a, seed), number(b, seed + 10)));
    let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().chain(long).unzip();
    let (a, b) = (Batch::from_values(&a), Batch::from_values(&b));
    for engine in engines() {
        let found = engine.xgcd(&a, &b).unwrap();
        assert_eq!(engine.gcd(&a, &b).unwrap(), found.gcd);
        assert_eq!(found.gcd.iter().map(|g| g[0]).take(6).collect::<Vec<_>>(), [0, 7, 7, 6, 1, 1]);
        for item in 0..a.len() {
            let (plus, minus) =
                (big(found.s.get(item)) * big(a.get(item)), big(found.t.get(item)) * big(b.get(item)));
            let (plus, minus) = if found.is_swapped[item] { (minus, plus) } else { (plus, minus) };
            let gcd = big(found.gcd.get(item));
            assert_eq!(plus, minus + &gcd, "item {item}");
            if gcd != BigUint::ZERO {
                assert_eq!(big(a.get(item)) % &gcd + big(b.get(item)) % &gcd, BigUint::ZERO);
            }
        }
        assert!(engine.gcd(&Batch::zeros(64, 0), &Batch::zeros(0, 0)).unwrap().is_empty());
        assert!(matches!(
            engine.gcd(&Batch::zeros(64, 2), &Batch::zeros(64, 3)),
            Err(Error::LengthMismatch { .. })
        ));
    }
}

#[test]
fn inverses_of_long_numbers() {
    let engine = Engine::new().unwrap();
    let mut even = number(600, 6);
    even[0] &= !1;
    // A prime is prime to all but its multiples.
    let mut mersenne = vec![u64::MAX; 696];
    mersenne[695] >>= 64 * 696 - 44_497;
    for modulus in [mersenne, even] {
        let value = big(&modulus);
        let numbers = Batch::from_values((0..5).map(|seed| number(590 + 5 * seed as usize, 20 + seed)));
        let kept = Modulus::new(&modulus).unwrap();
        for count in [1, 5] {
            let numbers = numbers.slice(0..count);
            let (inverses, failed) = match engine.inv(numbers, &kept) {
                Ok(inverses) => (inverses, vec![]),
                Err(Error::Items(partial)) => (partial.answers.clone(), partial.failed.clone()),
                Err(error) => panic!("{error}"),
            };
            for (index, (number, inverse)) in numbers.iter().zip(inverses.iter()).enumerate() {
                let has_failed = failed.iter().any(|item| item.index == index);
                assert!(has_failed || big(number) * big(inverse) % &value == BigUint::from(1u8));
                let gcd = engine
                    .gcd(Operand::Shared { bits: 64 * 700, value: number }, &Batch::from_values([&modulus]));
                assert_eq!(has_failed, big(gcd.unwrap().get(0)) != BigUint::from(1u8));
            }
            assert!(failed.iter().all(|item| item.kind == ItemErrorKind::NotInvertible));
        }
    }
}

#[test]
fn powers_by_every_reduction() {
    // Barrett's for short exponents, Montgomery's for long ones, folding for special moduli.
    let mut ones = vec![u64::MAX; 520];
    ones[519] >>= 5;
    let mut fermat = vec![0; 513];
    (fermat[0], fermat[512]) = (1, 1);
    let mut random = number(530, 9);
    random[0] |= 1;
    let engines = engines();
    // Special moduli are folded whatever the exponent; the others are Montgomery's from 1024 bits on.
    for (modulus, exponent_limbs) in [(&ones, 2), (&fermat, 2), (&random, 17)] {
        let base = number(530, 8);
        for exponent in [vec![65_537], number(exponent_limbs, 7)] {
            let expected = big(&base).modpow(&big(&exponent), &big(modulus));
            let batch = |value: &Vec<u64>| Batch::from_values([value]);
            let (b, e, n) = (batch(&base), batch(&exponent), batch(modulus));
            for engine in &engines {
                assert_eq!(big(engine.pow(&b, &e, &n).unwrap().get(0)), expected);
                assert_eq!(big(engine.pow(&b, Public(&e), &n).unwrap().get(0)), expected);
                let product = engine.mul_mod(&b, &e, &n).unwrap();
                assert_eq!(big(product.get(0)), big(&base) * big(&exponent) % big(modulus));
                let square = engine.square_mod(&b, &n).unwrap();
                assert_eq!(big(square.get(0)), big(&base) * big(&base) % big(modulus));
            }
        }
    }
}

#[test]
fn prepared_factors() {
    for engine in engines() {
        for limbs in [1, 50, 300] {
            let factor = number(limbs, 3);
            let shared = Operand::Shared { bits: 64 * limbs, value: &factor };
            let prepared = engine.prepare(shared, 64 * 320).unwrap();
            assert_eq!((prepared.bits(), prepared.longest()), (64 * limbs, 64 * 320));
            for other in [1, 100, 320] {
                let numbers = Batch::from_values([number(other, 4), vec![u64::MAX; other], vec![0; other]]);
                let products = engine.mul_prepared(&numbers, &prepared).unwrap();
                for (number, product) in numbers.iter().zip(products.iter()) {
                    assert_eq!(big(product), big(number) * big(&factor));
                }
            }
            let long = Batch::zeros(64 * 320 + 1, 1);
            assert!(matches!(
                engine.mul_prepared(&long, &prepared),
                Err(Error::TooLong { limit: 20_480, .. })
            ));
        }
    }
}

/// Sums of products, checked without another library: `(a + b)^2 = a^2 + 2 a b + b^2` and
/// `a (b + c) = a b + a c`.
#[test]
fn identities_of_long_products() {
    let engine = Engine::new().unwrap();
    let batch = |value: &BigUint| Batch::from_values([value.to_u64_digits()]);
    for limbs in [89, 90, 91, 700, 5000, 20_000] {
        let [a, b, c] = [1, 2, 3].map(|seed| big(&number(limbs, seed)));
        let mul = |a: &BigUint, b: &BigUint| big(engine.mul(&batch(a), &batch(b)).unwrap().get(0));
        let square = |a: &BigUint| big(engine.square(&batch(a)).unwrap().get(0));
        assert!(square(&(&a + &b)) == square(&a) + (mul(&a, &b) << 1) + square(&b), "{limbs} limbs");
        assert!(mul(&a, &(&b + &c)) == mul(&a, &b) + mul(&a, &c), "{limbs} limbs");
    }
}

#[test]
fn plans_say_which_reduction_powers_take() {
    let engine = Engine::builder().family(Family::Fft).build().unwrap();
    let variant = |op, bits| engine.plan(&Request::new(op, bits, 1)).unwrap().variant;
    assert_eq!(engine.plan(&Request::new(Op::Pow, 65_536, 1)).unwrap().family(), Family::Fft);
    for (op, bits, method) in [
        (Op::Pow, 65_536, "Montgomery"),
        (Op::Pow, 512, "Barrett"),
        (Op::Gcd, 65_536, "half-gcd"),
        (Op::Inv, 65_536, "half-gcd"),
    ] {
        assert!(variant(op, bits).contains(method), "{op} of {bits} bits");
    }
}
