//! Chapter 7's modular multiplier against another implementation.

use modmill_hardware::{Error, Form, ModularMultiplier};
use num_bigint::BigUint;

fn random(bits: usize, seed: u64) -> BigUint {
    let mut random = fastrand::Rng::with_seed(seed);
    BigUint::new((0..bits / 32).map(|_| random.u32(..)).collect())
}

fn limbs(number: &BigUint) -> Vec<u64> {
    number.to_u64_digits()
}

fn number(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// Moduli of full length, of all ones, and short ones.
fn moduli(bits: usize) -> Vec<BigUint> {
    let one = BigUint::from(1u32);
    vec![
        random(bits, 7) | &one | (&one << (bits - 1)),
        (&one << bits) - &one,
        (&one << (bits - 1)) + &one,
        random(bits / 2, 8) | &one,
        BigUint::from(3u32),
    ]
}

#[test]
fn products_are_exact_in_2030_and_2330_cycles() {
    for (digit_bits, bits) in [(16, 8192), (24, 12_288)] {
        let r = BigUint::from(1u32) << bits;
        for modulus in moduli(bits) {
            let mut machine = ModularMultiplier::new(digit_bits, &limbs(&modulus)).unwrap();
            let (x, y) = (random(bits, 1) % &modulus, &modulus - BigUint::from(1u32));
            // z = x y R^-1 exactly if z R = x y.
            let check = |z: &[u64], x: &BigUint, y: &BigUint| {
                assert!(number(z) < modulus);
                assert_eq!(number(z) * &r % &modulus, x * y % &modulus);
            };
            let full = machine.multiply(&limbs(&x), &limbs(&y), Form::Number).unwrap();
            check(&full.limbs, &x, &y);
            assert_eq!(full.cycles(), 2330);
            let fast = machine.multiply(&limbs(&y), &[], Form::Prepared).unwrap();
            check(&fast.limbs, &y, &y);
            assert_eq!(fast.cycles(), 2030);
            let square = machine.multiply(&limbs(&x), &[], Form::Same).unwrap();
            check(&square.limbs, &x, &x);
            assert_eq!((square.cycles(), square.phases.len()), (2030, 11));
        }
    }
}

#[test]
fn powers_are_exact_and_take_2030_cycles_a_product() {
    let modulus = &moduli(8192)[0];
    let mut machine = ModularMultiplier::new(16, &limbs(modulus)).unwrap();
    let base = random(8192, 3) % modulus;
    for exponent in [0u64, 1, 2, 0b1011, 65_537] {
        let power = machine.pow_vartime(&limbs(&base), &[exponent]).unwrap();
        assert_eq!(number(&power.limbs), base.modpow(&BigUint::from(exponent), modulus), "{exponent}");
        let products = u64::from(64 - exponent.leading_zeros() + exponent.count_ones());
        assert_eq!((power.products, power.loop_cycles), (products, 2030 * products));
    }
}

#[test]
fn wrong_inputs_are_named() {
    let new = |bits, modulus: &[u64]| ModularMultiplier::new(bits, modulus).map(|_| ()).unwrap_err();
    assert!(matches!(new(20, &[7]), Error::Design(_)));
    assert_eq!(
        [new(16, &[8]), new(16, &[1]), new(16, &[])],
        [Error::Modulus, Error::Modulus, Error::Modulus]
    );
    assert!(matches!(new(16, &[1; 129]), Error::OperandTooLong { bits: 8193, limit: 8192, .. }));
    let mut machine = ModularMultiplier::new(16, &[7]).unwrap();
    assert_eq!(machine.multiply(&[7], &[1], Form::Number), Err(Error::NotReduced("x")));
    assert_eq!(machine.multiply(&[1], &[9], Form::Number), Err(Error::NotReduced("y")));
    assert!(matches!(machine.multiply(&[1], &[], Form::Prepared), Err(Error::ReadTooEarly(_))));
}
