use super::*;
use num_bigint::BigUint;

fn value<F: Field>(number: F) -> BigUint {
    let mut bytes = vec![0; F::BYTES];
    number.write(&mut bytes);
    BigUint::from_bytes_be(&bytes)
}

fn prime<F: Field>() -> BigUint {
    F::PRIME.as_ref().iter().rev().fold(BigUint::ZERO, |value, &limb| (value << 64) + limb)
}

fn read<F: Field>(number: &BigUint) -> (F, u64) {
    let bytes = number.to_bytes_be();
    F::read(&[vec![0; F::BYTES - bytes.len()], bytes].concat())
}

/// Numbers at the edges of limbs and of the prime, and some without a pattern.
fn hard<F: Field>() -> Vec<BigUint> {
    let (prime, one) = (prime::<F>(), BigUint::from(1u8));
    let mut numbers: Vec<_> = (0..4u8).map(BigUint::from).collect();
    numbers.extend((1..4u8).map(|less| &prime - less));
    numbers.push(&prime >> 1);
    for bits in (31..F::BITS).step_by(32) {
        numbers.extend([&one << bits, (&one << bits) - 1u8, &prime - (&one << bits)]);
    }
    let mut mixed = BigUint::from(3u8);
    for _ in 0..8 {
        mixed = (&mixed * &mixed * &mixed + 0x1234_5678_9abc_def1u64) % &prime;
        numbers.push(mixed.clone());
    }
    numbers.into_iter().map(|number| number % &prime).collect()
}

fn check<F: Field>() {
    let prime = prime::<F>();
    assert_eq!(prime.bits() as usize, F::BITS);
    let numbers: Vec<(BigUint, F)> =
        hard::<F>().into_iter().map(|number| (number.clone(), read::<F>(&number).0)).collect();
    assert_eq!((value(F::ZERO), value(F::ONE)), (BigUint::ZERO, BigUint::from(1u8)));
    for (a, x) in &numbers {
        assert_eq!(&value(*x), a);
        assert_eq!(value(-*x), (&prime - a) % &prime);
        assert_eq!(value(x.square()), a * a % &prime);
        assert_eq!(x.parity(), a.iter_u64_digits().next().unwrap_or(0) & 1);
        assert_eq!(x.is_zero() == u64::MAX, *a == BigUint::ZERO);
        for (b, y) in &numbers {
            assert_eq!(value(*x + *y), (a + b) % &prime);
            assert_eq!(value(*x - *y), (a + &prime - b) % &prime);
            assert_eq!(value(*x * *y), a * b % &prime, "{a} {b}");
            assert_eq!((x.equals(*y) == u64::MAX, x.equals(*y) == 0), (a == b, a != b));
            assert_eq!((value(F::select(0, *x, *y)), value(F::select(!0, *x, *y))), (b.clone(), a.clone()));
        }
    }
    let less = &prime - 2u8;
    for (a, x) in numbers.iter().rev().take(4) {
        assert_eq!(value(x.inverse()), a.modpow(&less, &prime));
        assert_eq!(value(x.power_of_quotient(3)), a.modpow(&(&prime >> 3), &prime));
    }
    // Bytes that are not below the prime are told, and reduced.
    for number in [prime.clone(), &prime + 1u8, (BigUint::from(1u8) << (8 * F::BYTES)) - 1u8] {
        let (read, in_range) = read::<F>(&number);
        assert_eq!((value(read), in_range), (number % &prime, 0));
    }
    assert_eq!(read::<F>(&(&prime - 1u8)).1, u64::MAX);
    for bytes in
        [vec![0xff; 2 * F::BYTES], (1..=2 * F::BYTES as u8).collect(), vec![0x80; F::BYTES + 3], vec![7; 3]]
    {
        assert_eq!(value(F::read_wide(&bytes)), BigUint::from_bytes_be(&bytes) % &prime);
    }
    zeros_leave_their_neighbours(&numbers);
}

/// A zero at every place of a shared inversion.
fn zeros_leave_their_neighbours<F: Field>(numbers: &[(BigUint, F)]) {
    let others: Vec<F> =
        numbers.iter().filter(|(a, _)| *a != BigUint::ZERO).map(|pair| pair.1).take(7).collect();
    let mut inverses = others.clone();
    invert_all(&mut inverses);
    for (x, inverse) in others.iter().zip(&inverses) {
        assert_eq!(value(*x * *inverse), BigUint::from(1u8));
    }
    for place in 0..=others.len() {
        let mut with_zero = others.clone();
        with_zero.insert(place, F::ZERO);
        invert_all(&mut with_zero);
        assert_eq!(value(with_zero.remove(place)), BigUint::ZERO);
        assert!(with_zero.iter().zip(&inverses).all(|(a, b)| a.equals(*b) == u64::MAX));
    }
    invert_all::<F>(&mut []);
}

#[test]
fn coordinates_agree_with_integers() {
    check::<P256>();
    check::<P384>();
    check::<P521>();
    check::<K256>();
    check::<P25519>();
}

#[test]
fn scalars_agree_with_integers() {
    check::<N256>();
    check::<N384>();
    check::<N521>();
    check::<NK256>();
    check::<N25519>();
}

#[test]
fn roots_are_roots() {
    fn check<F: Field>() {
        for number in hard::<F>() {
            let square = read::<F>(&number).0.square();
            assert_eq!(square.root().square().equals(square), u64::MAX);
        }
    }
    check::<P256>();
    check::<P384>();
    check::<P521>();
    check::<K256>();
}
