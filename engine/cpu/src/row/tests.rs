//! Every scalar arithmetic at every length.

use super::*;
use crate::domain::{Domain, Workspace};
use crate::portable::Portable;
use crate::pow::pow;
use crate::test_support::Random;
use modmill_core::limbs::reduce_once;
use modmill_core::reference::Natural;

fn natural(limbs: &[u64]) -> Natural {
    Natural::from_limbs(limbs)
}

/// Numbers of `count` limbs with long carry chains: zeros, ones, single bits, runs, and two random
/// numbers.
fn hard(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let bit = |place: usize| {
        let mut number = vec![0; count];
        number[place / 64] = 1 << (place % 64);
        number
    };
    let mut numbers = vec![vec![0; count], vec![u64::MAX; count], bit(0), bit(64 * count - 1)];
    for place in [1, 63, 64 * count / 2, 64 * count - 1] {
        let mut run = bit(place);
        sub_assign(&mut run, &[1]);
        numbers.push(run.iter().map(|limb| !limb).collect());
        numbers.push(run);
    }
    numbers.push((0..count as u64).map(|i| (i % 2).wrapping_neg()).collect());
    numbers.push(random.limbs(count));
    numbers.push(random.limbs(count));
    numbers
}

fn products_of_all_shapes<S: Scalar>(scalar: S) {
    let mut random = Random::new(3);
    for (x_len, y_len) in [(1, 1), (1, 5), (2, 3), (3, 3), (4, 4), (4, 3), (5, 4), (7, 7), (8, 8), (9, 17)] {
        for x in hard(x_len, &mut random) {
            for y in hard(y_len, &mut random) {
                let mut out = vec![1; x_len + y_len];
                Row::<S>::product(scalar, &x, &y, &mut out);
                assert_eq!(natural(&out), natural(&x).times(&natural(&y)), "{x:x?} {y:x?}");
            }
        }
    }
    for (x_len, y_len) in
        [(16, 16), (32, 32), (47, 47), (48, 48), (49, 49), (64, 64), (65, 63), (64, 20), (97, 97), (150, 130)]
    {
        for x in [vec![u64::MAX; x_len], random.limbs(x_len)] {
            for y in [vec![u64::MAX; y_len], random.limbs(y_len)] {
                let mut out = vec![1; x_len + y_len];
                Row::<S>::product(scalar, &x, &y, &mut out);
                assert_eq!(natural(&out), natural(&x).times(&natural(&y)), "{x_len} by {y_len} limbs");
            }
        }
    }
}

fn squares_are_products<S: Scalar>(scalar: S) {
    let mut random = Random::new(4);
    for count in 1..=34 {
        for x in hard(count, &mut random) {
            let mut expected = vec![0; 2 * count];
            Row::<S>::product(scalar, &x, &x, &mut expected);
            let mut out = vec![1; 2 * count];
            scalar.square(&x, &mut out);
            assert_eq!(out, expected, "{x:x?}");
        }
    }
}

/// Odd moduli of `count` limbs: the largest, the smallest, a random one, and one just above half the
/// range.
fn moduli(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let mut above = vec![0; count];
    above[count - 1] = 1;
    above[0] |= if count == 1 { 3 } else { 1 };
    let mut middle = random.limbs(count);
    middle[0] |= 1;
    let mut half = vec![0; count];
    half[count - 1] = 1 << 63;
    half[0] |= 1;
    vec![vec![u64::MAX; count], above, middle, half]
}

fn montgomery_products_of_any_numbers_below_r<S: Scalar>(scalar: S) {
    let mut random = Random::new(8);
    for count in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17] {
        let mut r = vec![0; count + 1];
        r[count] = 1;
        for modulus in moduli(count, &mut random) {
            let n = natural(&modulus);
            let row = Row::new(scalar, &modulus);
            let mut scratch = vec![1; Row::<S>::scratch_words(count)];
            for x in hard(count, &mut random) {
                for y in hard(count, &mut random) {
                    let mut z = x.clone();
                    row.multiply(&mut z, &y, &mut scratch);
                    let back = natural(&z).times(&natural(&r)).modulo(&n);
                    assert_eq!(
                        back,
                        natural(&x).times(&natural(&y)).modulo(&n),
                        "{x:x?} {y:x?} {modulus:x?}"
                    );
                }
                let (mut squared, mut product) = (x.clone(), x.clone());
                row.square(&mut squared, 1, &mut scratch);
                row.multiply(&mut product, &x, &mut scratch);
                assert_eq!(squared, product);
            }
        }
    }
}

fn sums_wrap_modulo_the_modulus<S: Scalar>(scalar: S) {
    let mut random = Random::new(6);
    for modulus in [1, 3, 8].iter().flat_map(|&count| moduli(count, &mut Random::new(9))) {
        let n = natural(&modulus);
        let row = Row::new(scalar, &modulus);
        for x in hard(modulus.len(), &mut random) {
            let mut y = vec![u64::MAX; modulus.len()];
            y[modulus.len() - 1] >>= 5;
            let mut sum = x.clone();
            row.add(&mut sum, &y);
            let (mut wide, mut y_wide) = (x.clone(), y.clone());
            wide.push(0);
            y_wide.push(0);
            add_assign(&mut wide, &y_wide);
            assert_eq!(natural(&sum).modulo(&n), natural(&wide).modulo(&n));
        }
    }
}

fn selection_reads_every_entry<S: Scalar>(scalar: S) {
    let mut random = Random::new(2);
    for (entries, count) in [(1, 1), (2, 3), (16, 5), (64, 16), (32, 29), (8, 61)] {
        let row = Row::new(scalar, &vec![u64::MAX; count]);
        let table = random.limbs(entries * count);
        for (index, entry) in table.chunks_exact(count).enumerate() {
            let mut out = vec![7; count];
            row.select(&table, &[index as u64], &mut out);
            assert_eq!(out, entry);
        }
    }
}

fn powers_at_every_size<S: Scalar>(scalar: S) {
    let mut random = Random::new(1);
    for bits in (2..=66).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1024, 2048, 3072, 4096]) {
        let count = usize::div_ceil(bits, 64);
        let mut modulus = random.limbs(count);
        modulus[count - 1] = modulus[count - 1] >> (63 - (bits - 1) % 64) | 1 << ((bits - 1) % 64);
        modulus[0] |= 1;
        let domain = Domain::<Row<S>>::new(scalar, bits, &[&modulus]);
        let mut work = Workspace::new::<Row<S>>(bits);
        let (n, exponent) = (natural(&modulus), random.limbs(1));
        let mut less = modulus.clone();
        less[0] -= 1;
        for a in
            [vec![0; count], less, vec![u64::MAX; count], random.limbs(count), random.limbs(2 * count + 1)]
        {
            let mut x = vec![0; count];
            domain.enter(&[&a], 64 * a.len(), &mut x, &mut work);
            let mut trip = x.clone();
            domain.leave(&mut trip, &mut work);
            let mut out = vec![0; count];
            domain.store(&mut trip, &mut out, count, &mut work);
            assert_eq!(natural(&out), natural(&a).modulo(&n), "{bits} bits");
            // The reference divides bit by bit, so long numbers get short exponents.
            let exponent_bits = if bits > 1024 { 5 } else { 64 };
            let exponent = [exponent[0] >> (64 - exponent_bits)];
            pow(&domain, &mut x, &[&exponent], exponent_bits, 4, &mut work);
            domain.leave(&mut x, &mut work);
            domain.store(&mut x, &mut out, count, &mut work);
            assert_eq!(natural(&out), natural(&a).modulo(&n).power(&natural(&exponent), &n), "{bits} bits");
        }
    }
}

/// Products, squares and reductions agree with plain Rust at every length up to 65 limbs. Montgomery
/// products may differ by a multiple of the modulus.
fn every_length_agrees_with_plain_rust<S: Scalar>(scalar: S) {
    let mut random = Random::new(11);
    for count in 1..=65 {
        let mut modulus = random.limbs(count);
        modulus[0] |= 1;
        modulus[count - 1] |= 1 << 63;
        let negated_inverse = inverse_of_odd(modulus[0]).wrapping_neg();
        let reduced = |mut x: Vec<u64>| {
            reduce_once(&mut x, &modulus);
            x
        };
        for (x, y) in [
            (random.limbs(count), random.limbs(count)),
            (vec![u64::MAX; count], random.limbs(count)),
            (vec![u64::MAX; count], vec![u64::MAX; count]),
            (vec![0; count], random.limbs(count)),
        ] {
            let (mut found, mut expected) = (vec![1; 2 * count], vec![2; 2 * count]);
            scalar.square(&x, &mut found);
            Portable.square(&x, &mut expected);
            assert_eq!(found, expected, "the square of {x:x?}");
            scalar.multiply(&x, &y, &mut found);
            Portable.multiply(&x, &y, &mut expected);
            assert_eq!(found, expected, "{x:x?} {y:x?}");
            let (mut low, mut expected_low) = (vec![3; count], vec![4; count]);
            scalar.reduce(&mut found, &modulus, negated_inverse, &mut low);
            Portable.reduce(&mut expected, &modulus, negated_inverse, &mut expected_low);
            let expected_low = reduced(expected_low);
            assert_eq!(reduced(low), expected_low, "{x:x?} {y:x?} modulo {modulus:x?}");
            let mut product = x.clone();
            scalar.montgomery_multiply(&mut product, &y, &mut found, &modulus, negated_inverse);
            assert_eq!(reduced(product), expected_low, "{x:x?} {y:x?} modulo {modulus:x?}");
            let (mut square, mut product) = (x.clone(), x.clone());
            scalar.montgomery_square(&mut square, &mut found, &modulus, negated_inverse);
            Portable.montgomery_multiply(&mut product, &x, &mut expected, &modulus, negated_inverse);
            assert_eq!(reduced(square), reduced(product), "the square of {x:x?} modulo {modulus:x?}");
        }
    }
}

/// Runs the checks above with every scalar arithmetic of this processor.
macro_rules! with_every_scalar {
    ($($check:ident)+) => {
        mod portable {
            $(#[test] fn $check() { super::$check(super::Portable); })+
        }

        #[cfg(target_arch = "x86_64")]
        mod x86 {
            $(#[test] fn $check() { crate::isa::detect_adx().into_iter().for_each(super::$check); })+
        }
    };
}

with_every_scalar! {
    products_of_all_shapes
    squares_are_products
    montgomery_products_of_any_numbers_below_r
    sums_wrap_modulo_the_modulus
    selection_reads_every_entry
    powers_at_every_size
    every_length_agrees_with_plain_rust
}
