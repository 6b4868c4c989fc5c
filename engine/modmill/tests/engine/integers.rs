//! Operations of `modmill::integers` on every path and at every place, beside num-bigint.

use modmill::{Backend, Batch, Engine, Error, ItemErrorKind, Modulus, integers};
use modmill_cuda::Faults;
use modmill_testing::oracle::{batch_of_width, number};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// An engine for every path of the CPU, and an emulated GPU where there is a compiler for it.
fn engines() -> Vec<Engine> {
    let cpu = || Engine::builder().backend(Backend::Cpu).threads(2);
    let free = cpu().build().unwrap();
    let paths: Vec<Engine> = free.paths().into_iter().map(|path| cpu().path(path).build().unwrap()).collect();
    let gpu = modmill_testing::emulated::engine(Faults::default());
    paths.into_iter().chain([free]).chain(gpu.map(|builder| builder.build().unwrap())).collect()
}

/// Numbers of at most `bits` bits: 0, 1, powers of two and one less, squares and their neighbours, others.
fn numbers(bits: usize, rng: &mut Rng) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let root = rng.number(bits / 2);
    let square = &root * &root;
    let mut numbers = vec![BigUint::ZERO, one.clone(), (&one << bits) - &one, &one << (bits - 1)];
    numbers.extend([&one << (bits / 2), &square + &one, &square + &root, square.clone()]);
    numbers.extend((square > one).then(|| &square - &one));
    numbers.extend((0..4).map(|_| rng.number(bits)));
    numbers
}

fn values(batch: &Batch) -> Vec<BigUint> {
    batch.iter().map(number).collect()
}

/// The answers, and the items that failed with their reasons.
fn partial(found: Result<Batch, Error>) -> (Vec<BigUint>, Vec<(usize, ItemErrorKind)>) {
    match found {
        Ok(answers) => (values(&answers), Vec::new()),
        Err(Error::Items(partial)) => {
            let failed = partial.failed.iter().map(|item| (item.index, item.kind)).collect();
            (values(&partial.answers), failed)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn square_roots_of_all_lengths_at_every_place() {
    for engine in engines() {
        for bits in [2, 63, 64, 65, 127, 128, 129, 200, 521, 1024, 2047] {
            let numbers = numbers(bits, &mut Rng::new(bits as u64));
            let a = batch_of_width(&numbers, bits);
            let (roots, rests) = integers::sqrt_rem(&engine, &a).unwrap();
            assert_eq!((roots.bits(), rests.bits()), (bits.div_ceil(2), bits.div_ceil(2) + 1));
            let expected: Vec<BigUint> = numbers.iter().map(BigUint::sqrt).collect();
            assert_eq!(values(&roots), expected, "{bits} bits");
            for ((rest, root), a) in values(&rests).iter().zip(&expected).zip(&numbers) {
                assert_eq!(rest + root * root, *a, "{bits} bits");
            }
            assert_eq!(integers::isqrt(&engine, &a).unwrap(), roots);
            let mut written = Batch::zeros(bits.div_ceil(2), numbers.len());
            integers::isqrt(&engine.to(&mut written), &a).unwrap();
            assert_eq!(written, roots);
            let uploaded = engine.upload(&a).unwrap();
            let kept = integers::sqrt_rem(&engine.on_device(), &uploaded).unwrap();
            assert_eq!((kept.0.download().unwrap(), kept.1.download().unwrap()), (roots.clone(), rests));
            let one = integers::isqrt(&engine, a.shared(2)).unwrap();
            assert_eq!((one.len(), number(one.get(0))), (1, expected[2].clone()));
            let squares: Vec<bool> =
                numbers.iter().zip(&expected).map(|(a, root)| root * root == *a).collect();
            assert_eq!(integers::is_square(&engine, &a).unwrap(), squares, "{bits} bits");
        }
    }
}

#[test]
fn long_square_roots_are_right() {
    let engine = Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap();
    for bits in [40_000, 160_001] {
        let numbers = numbers(bits, &mut Rng::new(4));
        let (roots, rests) = integers::sqrt_rem(&engine, &batch_of_width(&numbers, bits)).unwrap();
        for ((root, rest), a) in values(&roots).iter().zip(values(&rests)).zip(&numbers) {
            assert_eq!((root, root * root + rest), (&a.sqrt(), a.clone()));
        }
    }
}

#[test]
fn exact_quotients_and_least_multiples() {
    for engine in engines() {
        for bits in [64, 200, 1024] {
            let rng = &mut Rng::new(bits as u64 + 1);
            let (quotients, divisors) = (numbers(bits, rng), numbers(bits, rng));
            let count = quotients.len().min(divisors.len());
            // Every third item is one above a multiple.
            let number = |item: usize| &quotients[item] * &divisors[item] + BigUint::from(item % 3 / 2);
            let dividends: Vec<BigUint> = (0..count).map(number).collect();
            let (a, b) = (batch_of_width(&dividends, 2 * bits), batch_of_width(&divisors[..count], bits));
            let (found, failed) = partial(integers::div_exact(&engine, &a, &b));
            for item in 0..count {
                let divisor = &divisors[item];
                let error = failed.iter().find(|(index, _)| *index == item).map(|(_, kind)| *kind);
                let expected = match divisor == &BigUint::ZERO {
                    true => Err(ItemErrorKind::ZeroModulus),
                    false if &dividends[item] % divisor != BigUint::ZERO => Err(ItemErrorKind::NotDivisible),
                    false => Ok(&dividends[item] / divisor),
                };
                assert_eq!(error.map_or(Ok(&found[item]), Err), expected.as_ref().map_err(|kind| *kind));
                assert!(error.is_none() || found[item] == BigUint::ZERO);
            }
            let multiples = integers::lcm(&engine, &a, &b).unwrap();
            assert_eq!(multiples.bits(), 3 * bits);
            for (item, found) in values(&multiples).iter().enumerate() {
                assert_eq!(*found, lcm(&dividends[item], &divisors[item]), "item {item} of {bits} bits");
            }
            let kept = integers::lcm(&engine.on_device(), &engine.upload(&a).unwrap(), &b).unwrap();
            assert_eq!(kept.download().unwrap(), multiples);
            let mut written = Batch::zeros(3 * bits, count);
            integers::lcm(&engine.to(&mut written), &a, &b).unwrap();
            assert_eq!(written, multiples);
        }
    }
}

fn lcm(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut x, mut y) = (a.clone(), b.clone());
    while y != BigUint::ZERO {
        (x, y) = (y.clone(), x % y);
    }
    if x == BigUint::ZERO { x } else { a / x * b }
}

#[test]
fn sums_and_differences_modulo_numbers() {
    for engine in engines() {
        for (bits, modulus_bits) in [(64, 64), (300, 129), (129, 300), (512, 512)] {
            let rng = &mut Rng::new((bits + modulus_bits) as u64);
            let (a, b) = (numbers(bits, rng), numbers(bits, rng).into_iter().rev().collect::<Vec<_>>());
            let moduli = numbers(modulus_bits, rng);
            let count = a.len().min(b.len()).min(moduli.len());
            let (x, y) = (batch_of_width(&a[..count], bits), batch_of_width(&b[..count], bits));
            let n = batch_of_width(&moduli[..count], modulus_bits);
            let zeros: Vec<usize> = (0..count).filter(|&item| moduli[item] == BigUint::ZERO).collect();
            let check = |found: Result<Batch, Error>, expected: &dyn Fn(usize) -> BigUint| {
                let (found, failed) = partial(found);
                let kinds = zeros.iter().map(|&item| (item, ItemErrorKind::ZeroModulus));
                assert_eq!(failed, kinds.collect::<Vec<_>>());
                for item in (0..count).filter(|item| !zeros.contains(item)) {
                    assert_eq!(found[item], expected(item), "item {item}, {bits} and {modulus_bits} bits");
                }
            };
            let sum = |item: usize| (&a[item] + &b[item]) % &moduli[item];
            let difference = |item: usize| {
                let n = &moduli[item];
                (&a[item] % n + n - &b[item] % n) % n
            };
            check(integers::add_mod(&engine, &x, &y, &n), &sum);
            check(integers::sub_mod(&engine, &x, &y, &n), &difference);
            // One modulus and one second number for all, on a device too.
            let modulus = Modulus::new(n.get(2)).unwrap();
            let one = |item: usize| (&a[item] % &moduli[2] + &moduli[2] - &b[3] % &moduli[2]) % &moduli[2];
            let expected: Vec<BigUint> = (0..count).map(one).collect();
            let shared = integers::sub_mod(&engine, &x, y.shared(3), &modulus).unwrap();
            assert_eq!(values(&shared), expected);
            let prepared = vec![&modulus; count];
            let found = integers::sub_mod(&engine, &x, y.shared(3), &prepared[..]).unwrap();
            assert_eq!(values(&found), expected);
            let (on_device, y) = (engine.on_device(), engine.upload(&y).unwrap());
            let kept = integers::sub_mod(&on_device, &x, y.shared(3), &modulus).unwrap();
            assert_eq!(values(&kept.download().unwrap()), expected);
            let both = integers::sub_mod(&engine, x.shared(1), y.shared(3), &modulus).unwrap();
            assert_eq!((both.len(), values(&both)[0].clone()), (1, expected[1].clone()));
        }
    }
}

#[test]
fn numbers_from_their_remainders() {
    for engine in engines() {
        for (first, second) in [(64, 64), (200, 65), (65, 512)] {
            let rng = &mut Rng::new((first * second) as u64);
            let (m, mut n) = (numbers(first, rng), numbers(second, rng));
            n.rotate_left(1);
            let (a, b) = (numbers(first + 70, rng), numbers(second, rng));
            let count = [m.len(), n.len(), a.len(), b.len()].into_iter().min().unwrap();
            let batches = [(&a, first + 70), (&m, first), (&b, second), (&n, second)]
                .map(|(numbers, bits)| batch_of_width(&numbers[..count], bits));
            let [x, y, z, w] = &batches;
            let (found, failed) = partial(integers::crt(&engine, (x, y), (z, w)));
            let is_zero = |item: usize| m[item] == BigUint::ZERO || n[item] == BigUint::ZERO;
            for item in 0..count {
                let error = failed.iter().find(|(index, _)| *index == item).map(|(_, kind)| *kind);
                let product = &m[item] * &n[item];
                if is_zero(item) {
                    assert_eq!(error, Some(ItemErrorKind::ZeroModulus));
                } else if lcm(&m[item], &n[item]) != product {
                    assert_eq!(error, Some(ItemErrorKind::NotCoprime));
                } else {
                    assert_eq!(error, None);
                    assert!(found[item] < product);
                    assert_eq!(&found[item] % &m[item], &a[item] % &m[item]);
                    assert_eq!(&found[item] % &n[item], &b[item] % &n[item]);
                }
            }
            let modulus = Modulus::new(&[1 << 32 | 15]).unwrap();
            let odd = Modulus::new(&[65_537]).unwrap();
            let joined = integers::crt(&engine, (x, &modulus), (z.shared(2), &odd)).unwrap();
            for (item, found) in values(&joined).iter().enumerate() {
                assert_eq!(found % (1u64 << 32 | 15), &a[item] % (1u64 << 32 | 15));
                assert_eq!(found % 65_537u32, &b[2] % 65_537u32);
            }
        }
    }
}

#[test]
fn plans_and_bad_operands() {
    let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let (two, three) = (Batch::zeros(64, 2), Batch::zeros(64, 3));
    let ask = engine.ask();
    assert_eq!(integers::isqrt(&ask, &two).unwrap().op().name(), "isqrt");
    assert_eq!(integers::div_exact(&ask, &two, &two).unwrap().op().name(), "div_rem");
    assert_eq!(integers::lcm(&ask, &two, &two).unwrap().op().name(), "gcd");
    let odd = Batch::from_hex(["3", "5"]).unwrap();
    assert_eq!(integers::crt(&ask, (&two, &odd), (&two, &odd)).unwrap().op().name(), "inv");
    assert_eq!(integers::sub_mod(&ask, &two, &two, &odd).unwrap().op().name(), "mul_mod");
    let is_refused = |found: Result<Batch, Error>| {
        assert!(matches!(found, Err(Error::LengthMismatch { .. })), "{found:?}");
    };
    is_refused(integers::div_exact(&engine, &two, &three));
    is_refused(integers::lcm(&engine, &two, &three));
    is_refused(integers::add_mod(&engine, &two, &three, &odd));
    is_refused(integers::sub_mod(&engine, &two, &three, &odd));
    is_refused(integers::crt(&engine, (&two, &odd), (&three, &odd)));
    let wrong = integers::isqrt(&engine.to(&mut Batch::zeros(64, 2)), &two);
    assert!(matches!(wrong, Err(Error::WidthMismatch { .. })), "{wrong:?}");
}
