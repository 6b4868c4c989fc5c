//! Quotients and remainders at every place, beside num-bigint.

use modmill::{Batch, Engine, Error, ItemErrorKind, Modulus};
use modmill_cuda::Faults;
use modmill_testing::oracle::{batch_of_width, number};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::slice::from_ref;

/// The CPU, and an emulated GPU where there is a compiler for it.
fn engines() -> Vec<Engine> {
    let cpu = Engine::builder().threads(2).build().unwrap();
    let gpu = modmill_testing::emulated::engine(Faults::default());
    [cpu].into_iter().chain(gpu.map(|builder| builder.build().unwrap())).collect()
}

/// Numbers of a width: zero, one, the largest, and others.
fn dividends(bits: usize, rng: &mut Rng) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let hard = [BigUint::default(), one.clone(), (&one << bits) - &one, &one << (bits - 1)];
    hard.into_iter().chain((0..3).map(|_| rng.number(bits))).collect()
}

#[test]
fn quotients_and_remainders_make_up_the_dividends() {
    for engine in engines() {
        for (bits, divisor_bits) in [(64, 64), (130, 64), (512, 256), (256, 512), (700, 65), (2048, 1024)] {
            let rng = &mut Rng::new((bits + divisor_bits) as u64);
            let numbers = dividends(bits, rng);
            let one = BigUint::from(1u8);
            // Even and odd divisors, powers of two, one, and the dividend itself where it fits.
            let mut divisors = vec![one.clone(), &one << (divisor_bits - 1), (&one << divisor_bits) - &one];
            divisors.extend((3..numbers.len()).map(|_| rng.exact(divisor_bits)));
            let (a, b) = (batch_of_width(&numbers, bits), batch_of_width(&divisors, divisor_bits));
            let check = |quotients: &Batch, remainders: &Batch, divisor: &dyn Fn(usize) -> BigUint| {
                for (item, dividend) in numbers.iter().enumerate() {
                    let divisor = divisor(item);
                    assert_eq!(number(quotients.get(item)), dividend / &divisor, "{bits} by {divisor_bits}");
                    assert_eq!(number(remainders.get(item)), dividend % &divisor, "{bits} by {divisor_bits}");
                }
            };
            let each = |item: usize| divisors[item].clone();
            let (quotients, remainders) = engine.div_rem(&a, &b).unwrap();
            check(&quotients, &remainders, &each);
            assert_eq!(engine.div(&a, &b).unwrap(), quotients);
            let mut written = Batch::zeros(bits, numbers.len());
            engine.to(&mut written).div(&a, &b).unwrap();
            assert_eq!(written, quotients);
            let kept = engine.on_device().div_rem(&engine.upload(&a).unwrap(), &b).unwrap();
            check(&kept.0.download().unwrap(), &kept.1.download().unwrap(), &each);
            // One divisor for all, and one dividend for all.
            let shared = Modulus::new(b.get(4)).unwrap();
            let (quotients, remainders) = engine.div_rem(&a, &shared).unwrap();
            check(&quotients, &remainders, &|_| divisors[4].clone());
            let quotients = engine.div(a.shared(2), &b).unwrap();
            for (item, divisor) in divisors.iter().enumerate() {
                assert_eq!(number(quotients.get(item)), &numbers[2] / divisor);
            }
        }
    }
}

#[test]
fn a_zero_divisor_fails_alone() {
    for engine in engines() {
        let (a, b) = (Batch::from_hex(["9", "9", "9"]).unwrap(), Batch::from_hex(["2", "0", "3"]).unwrap());
        let Err(Error::Items(partial)) = engine.div(&a, &b) else { panic!("a divisor is zero") };
        assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::ZeroModulus));
        assert_eq!(partial.answers.as_limbs(), [4, 0, 3]);
        let Err(Error::Items(partial)) = engine.div_rem(&a, &b) else { panic!("a divisor is zero") };
        assert_eq!(partial.answers.as_limbs(), [1, 0, 0]);
    }
}

#[test]
fn long_quotients_are_exact() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let rng = &mut Rng::new(9);
    for (bits, divisor_bits) in [(140_000, 70_000), (100_000, 64), (70_000, 69_999)] {
        let (a, b) = (rng.exact(bits), rng.exact(divisor_bits));
        let (quotients, remainders) = engine
            .div_rem(&batch_of_width(from_ref(&a), bits), &batch_of_width(from_ref(&b), divisor_bits))
            .unwrap();
        assert_eq!(number(quotients.get(0)), &a / &b);
        assert_eq!(number(remainders.get(0)), &a % &b);
    }
}
