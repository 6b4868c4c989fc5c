//! Invariants of keys that need their secrets, against other arithmetic.

use super::keygen::generate;
use super::lattice::Lattice;
use super::resultant::Coefficients;
use super::scheme::GentryHalevi;
use super::squash::Squash;
use super::{Setting, selectors};
use modmill::Engine;
use num_bigint::{BigInt, BigUint, Sign};

fn engine() -> Engine {
    Engine::builder().backend(modmill::Backend::Cpu).threads(2).build().unwrap()
}

fn big(limbs: &[u64]) -> BigInt {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigInt::from(BigUint::from_bytes_le(&bytes))
}

fn signed(limbs: &[u64]) -> BigInt {
    BigInt::from_signed_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

fn coefficients(v: &Coefficients) -> Vec<BigInt> {
    v.limbs.chunks(v.stride).map(signed).collect()
}

fn modulo(x: &BigInt, d: &BigInt) -> BigInt {
    ((x % d) + d) % d
}

/// The determinant of the matrix whose rows are `x^i v mod x^n + 1`, by elimination without fractions
/// (Bareiss).
fn determinant(v: &[BigInt]) -> BigInt {
    let n = v.len();
    let entry = |row: usize, column: usize| match column >= row {
        true => v[column - row].clone(),
        false => -&v[n + column - row],
    };
    let mut rows: Vec<Vec<BigInt>> =
        (0..n).map(|row| (0..n).map(|column| entry(row, column)).collect()).collect();
    let mut before = BigInt::from(1);
    for step in 0..n - 1 {
        let pivot = rows[step].clone();
        assert_ne!(pivot[step].sign(), Sign::NoSign, "a random matrix needs no exchange of rows");
        for row in &mut rows[step + 1..] {
            let first = row[step].clone();
            for column in step..n {
                row[column] = (&row[column] * &pivot[step] - &pivot[column] * &first) / &before;
            }
        }
        before = pivot[step].clone();
    }
    rows[n - 1][n - 1].clone()
}

#[test]
fn lattices_are_those_of_other_arithmetic() {
    for (n, t) in [(8, 32), (16, 100), (32, 64)] {
        let setting = Setting::custom(n, t, 8).unwrap();
        let Lattice { v, modulus, r, w } = Lattice::draw(&engine(), &setting, &mut |_| {}).unwrap();
        let (v, d, r, w) = (coefficients(&v), big(modulus.value()), big(r.get(0)), big(w.get(0)));
        let half = BigInt::from(1) << (t - 1);
        assert!(v.iter().all(|coefficient| -&half <= *coefficient && *coefficient <= half));
        assert_eq!(determinant(&v), d);
        assert!(d.bit(0), "d is odd");
        assert_eq!(r.modpow(&BigInt::from(n), &d), &d - 1, "r^n = -1");
        let inverse = r.modinv(&d).unwrap();
        let at_inverse =
            v.iter().rev().fold(BigInt::ZERO, |sum, coefficient| modulo(&(sum * &inverse + coefficient), &d));
        assert_eq!(at_inverse, BigInt::ZERO, "v(1/r) = 0");
        // The other coefficients of the scaled inverse follow from w and r: up to a power of x, their
        // polynomial times v is d.
        let centred = |x: BigInt| if &x * 2 > d { x - &d } else { x };
        let mut scaled = vec![centred(w.clone())];
        for _ in 1..n {
            let next = modulo(&(scaled.last().unwrap() * &r), &d);
            scaled.push(centred(next));
        }
        assert!(scaled[0].bit(0), "w is odd");
        let mut product = vec![BigInt::ZERO; n];
        for (i, a) in scaled.iter().enumerate() {
            for (j, b) in v.iter().enumerate() {
                let term = a * b;
                if i + j < n { product[i + j] += term } else { product[i + j - n] -= term }
            }
        }
        let others: Vec<&BigInt> =
            product.iter().filter(|coefficient| coefficient.sign() != Sign::NoSign).collect();
        assert!(
            matches!(others[..], [only] if only.magnitude() == d.magnitude()),
            "w v is d times a power of x"
        );
    }
}

#[test]
fn the_secret_is_the_sum_of_its_multiples() {
    let engine = engine();
    for security in [8, 32, 72] {
        let setting = Setting::custom(32, 64, security).unwrap();
        let Lattice { modulus, w, .. } = Lattice::draw(&engine, &setting, &mut |_| {}).unwrap();
        let Squash { multipliers, places } = Squash::draw(&engine, &setting, &modulus, &w).unwrap();
        assert_eq!((multipliers.len(), places.len()), (setting.blocks(), setting.blocks()));
        assert!(places.iter().all(|place| *place < setting.multiples()));
        let d = big(modulus.value());
        let multiple = |(x, place): (&[u64], &usize)| big(x) << (setting.ratio_bits() * place);
        let sum: BigInt = multipliers.iter().zip(places.iter()).map(multiple).sum();
        assert_eq!(sum % d, big(w.get(0)));
    }
}

#[test]
fn one_pair_of_selectors_in_every_block_encrypts_ones() {
    let engine = engine();
    for security in [8, 72] {
        let setting = Setting::custom(64, 128, security).unwrap();
        let (public, secret) = generate(&engine, &setting, &mut |_| {}).unwrap();
        let scheme = GentryHalevi::new(&engine, public).unwrap();
        let numbers = engine.upload(&**scheme.key().selectors()).unwrap();
        let encrypted = scheme.ciphertexts(numbers, vec![0.0; setting.selectors()]);
        let bits = scheme.decrypt(&secret, &encrypted).unwrap();
        let (c, d) = (setting.block_selectors(), big(scheme.key().modulus().value()));
        let mut sum = BigInt::ZERO;
        for (block, multiplier) in bits.chunks(c).zip(scheme.key().multipliers().iter()) {
            let ones: Vec<usize> = (0..c).filter(|&index| block[index]).collect();
            let [a, b] = ones[..] else { panic!("{} ones", ones.len()) };
            let place = selectors::pairs(c).position(|pair| pair == (a, b)).unwrap();
            assert!(place < setting.multiples());
            sum += big(multiplier) << (setting.ratio_bits() * place);
        }
        assert_eq!(sum % d, big(secret.w().get(0)), "the pairs tell the multiples of the secret key");
    }
}
