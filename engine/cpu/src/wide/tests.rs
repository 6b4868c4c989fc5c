//! Tests for any vector type; [`suite`] instantiates them for one.

use super::samples::Samples;
use super::{Leaves, Part, Wide, charge_cross, charge_pass};
use crate::domain::{Domain, Workspace};
use crate::kernel::{BatchKernel, Kernel};
use crate::pow;
use crate::test_support::Random;
use crate::working_memory::Rows;
use num_bigint::{BigInt, BigUint};

/// Instantiates the tests for a vector type. They are skipped if the processor lacks the instruction set.
macro_rules! suite {
    ($vector:ident, $detect:expr, $($name:ident)+) => {
        #[cfg(test)]
        mod tests {
            $(
                #[test]
                fn $name() {
                    match $detect {
                        Some(token) => $crate::wide::tests::$name::<super::$vector>(token),
                        None => eprintln!("skipped: this processor lacks the instruction set"),
                    }
                }
            )+
        }
    };
    ($vector:ident, $detect:expr) => {
        $crate::wide::tests::suite! { $vector, $detect,
            one_product_splits_exactly
            passes_add_exact_products
            cross_passes_add_exact_products
            montgomery_products_keep_their_contract
            montgomery_products_at_real_sizes
            powers_agree_with_another_library
            full_products_agree_with_another_library
            sums_and_selections
            the_longest_columns_do_not_overflow
        }
    };
}
pub(crate) use suite;

/// A generator of hard words, biased to runs of equal bits.
struct Words(Random);

impl Words {
    fn next(&mut self) -> u64 {
        self.0.word()
    }

    /// A number of exactly `bits` bits, often with long runs of ones or zeros.
    fn number(&mut self, bits: usize) -> BigUint {
        let mut value = BigUint::from(1u8);
        while value.bits() < bits as u64 {
            let run = (self.next() % 60 + 1).min(bits as u64 - value.bits());
            value <<= run;
            value += match self.next() % 4 {
                0 => 0,
                1 => (1u64 << run) - 1,
                _ => self.next() & ((1 << run) - 1),
            };
        }
        value
    }

    fn below(&mut self, bound: &BigUint) -> BigUint {
        let bits = bound.bits() as usize + 8;
        self.number(bits) % bound
    }
}

/// Samples at their bounds, and samples at ties of rounding to nearest.
fn edges<S: Samples>(words: &mut Words) -> Vec<u64> {
    let full = 1u64 << S::WIDTH;
    let half = full >> 1;
    let mut edges = vec![0, 1, 2, 3, full, full - 1, full - 2, half, half - 1, half + 1, half + half / 2];
    edges.extend([1 << (S::WIDTH / 2), (1 << (S::WIDTH / 2)) - 1, 3 << (S::WIDTH / 2), full / 3]);
    edges.extend((0..8).map(|_| words.next() & (full - 1)));
    edges
}

fn rows_of<S: Samples>(samples: &[u64]) -> Rows {
    let mut rows = Rows::zeros(samples.len() * S::LANES);
    for (vector, &sample) in rows.chunks_exact_mut(S::LANES).zip(samples) {
        vector.fill((sample as f64).to_bits());
    }
    rows
}

/// The sum of the signed columns of one lane.
fn total<S: Samples>(columns: &[u64], start: &[u64], lane: usize) -> BigInt {
    let mut sum = BigInt::ZERO;
    for (index, vector) in columns.chunks_exact(S::LANES).enumerate().rev() {
        sum = (sum << S::WIDTH) + BigInt::from(vector[lane].wrapping_add(start[index]) as i64);
    }
    sum
}

fn value(samples: &[u64], width: u32) -> BigUint {
    samples.iter().rev().fold(BigUint::ZERO, |sum, &sample| (sum << width) + sample)
}

pub(crate) fn one_product_splits_exactly<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(1));
    let edges = edges::<S>(&mut words);
    let mut start = vec![0; 2];
    charge_pass::<S>(&mut start, 1, 1);
    let full = 1i128 << S::WIDTH;
    for &a in &edges {
        for &b in &edges {
            let mut columns = Rows::zeros(2 * S::LANES);
            S::pass(token, Part::Whole, &mut columns, &rows_of::<S>(&[a]), &rows_of::<S>(&[b]));
            for lane in 0..S::LANES {
                let half = |index: usize| columns[index * S::LANES + lane].wrapping_add(start[index]) as i64;
                let (low, high) = (i128::from(half(0)), i128::from(half(1)));
                assert_eq!(high * full + low, i128::from(a) * i128::from(b), "{a} * {b}");
                assert!((0..=full).contains(&high));
                // Rounding toward zero leaves a remainder as the low half; rounding to nearest leaves at most
                // half a unit.
                let bounds = if S::BIAS == 0 { 0..=full - 1 } else { -full / 2..=full / 2 };
                assert!(bounds.contains(&low), "{a} * {b} has low half {low}");
            }
        }
    }
}

pub(crate) fn passes_add_exact_products<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(2));
    for rows in 1..=S::BLOCK {
        for count in rows..rows + 9 {
            for round in 0..6 {
                let edges = edges::<S>(&mut words);
                let mut pick = |count: usize| -> Vec<u64> {
                    // A chain of samples at the upper bound reaches its own bound.
                    let any = |words: &mut Words| edges[words.next() as usize % edges.len()];
                    (0..count).map(|_| if round == 0 { 1 << S::WIDTH } else { any(&mut words) }).collect()
                };
                let (held, stream) = (pick(rows), pick(count));
                let mut start = vec![0; rows + count];
                charge_pass::<S>(&mut start, rows, count);
                let expected = BigInt::from(value(&held, S::WIDTH) * value(&stream, S::WIDTH));
                let (held, stream) = (rows_of::<S>(&held), rows_of::<S>(&stream));
                let mut columns = Rows::zeros((rows + count) * S::LANES);
                S::pass(token, Part::Whole, &mut columns, &held, &stream);
                assert_eq!(total::<S>(&columns, &start, S::LANES - 1), expected, "{rows} by {count}");
                if count >= S::BLOCK {
                    let mut parts = Rows::zeros((rows + count) * S::LANES);
                    S::pass(token, Part::Head, &mut parts, &held, &stream);
                    S::pass(token, Part::Tail, &mut parts, &held, &stream);
                    assert_eq!(parts[..], columns[..], "{rows} by {count} in two parts");
                }
            }
        }
    }
}

pub(crate) fn cross_passes_add_exact_products<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(3));
    for rows in 1..=S::BLOCK {
        for count in (2 * rows - 1).max(2)..2 * rows + 8 {
            let edges = edges::<S>(&mut words);
            let x: Vec<u64> = (0..count).map(|_| edges[words.next() as usize % edges.len()]).collect();
            let mut expected = BigInt::ZERO;
            for i in 0..rows {
                for j in i + 1..count {
                    expected +=
                        BigInt::from(u128::from(x[i]) * u128::from(x[j])) << (S::WIDTH as usize * (i + j));
                }
            }
            let mut start = vec![0; rows + count];
            charge_cross::<S>(&mut start, rows, count);
            let mut columns = Rows::zeros((rows + count) * S::LANES);
            S::cross_pass(token, rows, &mut columns, &rows_of::<S>(&x));
            assert_eq!(total::<S>(&columns, &start, 0), expected, "{rows} of {count}");
        }
    }
}

/// Converts one number per lane to plain digits.
fn spread<S: Samples>(numbers: &[BigUint], digits: usize) -> Rows {
    let mut rows = Rows::zeros(digits * S::LANES);
    for (lane, number) in numbers.iter().enumerate() {
        modmill_core::radix::split(&number.to_u64_digits(), S::WIDTH, S::LANES, &mut rows[lane..]);
    }
    rows
}

fn gather<S: Samples>(rows: &[u64], lane: usize) -> BigUint {
    let digits: Vec<u64> = rows.iter().skip(lane).step_by(S::LANES).copied().collect();
    assert!(digits.iter().all(|&digit| digit < 1 << S::WIDTH));
    value(&digits, S::WIDTH)
}

/// Products and squares of residues at the edges of their range, for moduli of `bits` bits.
fn check_montgomery<S: Leaves>(token: S::Token, bits: usize, words: &mut Words) {
    let digits = Domain::<Wide<S>>::digits_for(bits);
    let one = BigUint::from(1u8);
    let r = &one << (S::WIDTH as usize * digits);
    let mut moduli: Vec<BigUint> = (0..S::LANES).map(|_| words.number(bits) | &one).collect();
    moduli[0] = (&one << bits) - &one;
    moduli[1] = (&one << (bits - 1)) + &one;
    let kernel = Wide::<S>::new(token, &spread::<S>(&moduli, digits));
    let mut scratch = Rows::zeros(Wide::<S>::scratch_words(digits));
    let half = &r >> 1;
    for round in 0..8 {
        let mut pick = |lane: usize, round: usize| match round {
            0 => BigUint::ZERO,
            1 => one.clone(),
            2 => &moduli[lane] - &one,
            3 => &half - &one,
            _ => words.below(&half),
        };
        let xs: Vec<BigUint> = (0..S::LANES).map(|lane| pick(lane, round)).collect();
        let ys: Vec<BigUint> = (0..S::LANES).map(|lane| pick(lane, (round * 5 + lane) % 8)).collect();
        let encoded = |numbers: &[BigUint]| {
            let mut rows = spread::<S>(numbers, digits);
            Wide::<S>::encode(&mut rows);
            rows
        };
        let (mut product, mut square) = (encoded(&xs), encoded(&xs));
        kernel.multiply(&mut product, &encoded(&ys), &mut scratch);
        kernel.square(&mut square, 1, &mut scratch);
        Wide::<S>::decode(&mut product);
        Wide::<S>::decode(&mut square);
        for lane in 0..S::LANES {
            let (x, n) = (&xs[lane], &moduli[lane]);
            for (result, y) in [(gather::<S>(&product, lane), &ys[lane]), (gather::<S>(&square, lane), x)] {
                assert_eq!(&result * &r % n, x * y % n, "{bits} bits, round {round}, lane {lane}");
                assert!(&result * &r < x * y + (n << 1u8) * &r + &r, "{bits} bits: too large");
                assert!(result < half);
            }
        }
    }
}

/// A sum may be any number below R. Its product with a residue below R/4 is still a residue.
fn check_unreduced<S: Leaves>(token: S::Token, digits: usize, words: &mut Words) {
    let one = BigUint::from(1u8);
    let width = S::WIDTH as usize * digits;
    let n = words.number(width - Wide::<S>::ROOM) | &one;
    let kernel = Wide::<S>::new(token, &spread::<S>(&vec![n.clone(); S::LANES], digits));
    let r = &one << width;
    let (x, y) = (&r - &one, &r >> 2u8);
    let encoded = |number: &BigUint| {
        let mut rows = spread::<S>(&vec![number.clone(); S::LANES], digits);
        Wide::<S>::encode(&mut rows);
        rows
    };
    let mut product = encoded(&x);
    kernel.multiply(&mut product, &encoded(&y), &mut Rows::zeros(Wide::<S>::scratch_words(digits)));
    Wide::<S>::decode(&mut product);
    let result = gather::<S>(&product, 0);
    assert!(result < &r >> 1u8);
    assert_eq!(result * &r % &n, x * y % n);
}

pub(crate) fn montgomery_products_keep_their_contract<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(4));
    let room = Wide::<S>::ROOM;
    for digits in 1..=2 * S::BLOCK + 2 {
        check_unreduced::<S>(token, digits, &mut words);
        let bits = digits * S::WIDTH as usize - room;
        // The longest and the shortest moduli of `digits` digits.
        let short = (bits + 1).saturating_sub(S::WIDTH as usize);
        for bits in [bits, bits - 1, short, short + 1] {
            if bits >= 2 {
                check_montgomery::<S>(token, bits, &mut words);
            }
        }
    }
    for k in 1..=6 {
        for width in [50, 51, 52, 64] {
            for bits in [width * k - 1, width * k, width * k + 1] {
                check_montgomery::<S>(token, bits, &mut words);
            }
        }
    }
}

pub(crate) fn montgomery_products_at_real_sizes<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(5));
    for bits in [512, 768, 1024, 1536, 2048, 3072, 4096, 8192] {
        check_montgomery::<S>(token, bits, &mut words);
    }
}

pub(crate) fn powers_agree_with_another_library<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(6));
    for bits in [2, 47, 64, 128, 255, 521, 1024] {
        let one = BigUint::from(1u8);
        let moduli: Vec<BigUint> = (0..S::LANES).map(|_| words.number(bits) | &one).collect();
        let mut bases: Vec<BigUint> = (0..S::LANES).map(|_| words.number(bits)).collect();
        let mut exponents: Vec<BigUint> = (0..S::LANES).map(|_| words.number(bits)).collect();
        (bases[0], bases[1], exponents[2]) = (BigUint::ZERO, &moduli[1] - &one, BigUint::ZERO);
        exponents[0] = one.clone();
        let stride = bits.div_ceil(64);
        let limbs = |numbers: &[BigUint]| -> Vec<Vec<u64>> {
            let limbs = numbers.iter().map(BigUint::to_u64_digits);
            limbs
                .map(|mut limbs| {
                    limbs.resize(stride, 0);
                    limbs
                })
                .collect()
        };
        fn views(numbers: &[Vec<u64>]) -> Vec<&[u64]> {
            numbers.iter().map(|number| &number[..]).collect()
        }
        let (n, b, e) = (limbs(&moduli), limbs(&bases), limbs(&exponents));
        let domain = Domain::<Wide<S>>::new(token, bits, &views(&n));
        let mut work = Workspace::new::<Wide<S>>(bits);
        let mut x = Rows::zeros(domain.one().len());
        domain.enter(&views(&b), bits, &mut x, &mut work);
        pow::pow(&domain, &mut x, &views(&e), bits, 4, &mut work);
        domain.leave(&mut x, &mut work);
        let mut results = vec![0; S::LANES * stride];
        domain.store(&mut x, &mut results, stride, &mut work);
        for (lane, result) in results.chunks(stride).enumerate() {
            let expected = bases[lane].modpow(&exponents[lane], &moduli[lane]);
            assert_eq!(result, limbs(&[expected])[0], "{bits} bits, lane {lane}");
        }
    }
}

pub(crate) fn full_products_agree_with_another_library<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(7));
    let width = S::WIDTH as usize;
    for (nx, ny) in [(1, 1), (1, 9), (9, 1), (2, 3), (5, 5), (6, 7), (8, 20), (20, 8), (21, 21), (41, 40)] {
        for round in 0..3 {
            let mut numbers = |digits: usize| -> Vec<BigUint> {
                let all_ones = (BigUint::from(1u8) << (width * digits)) - 1u8;
                let any = |words: &mut Words| words.number(width * digits);
                (0..S::LANES).map(|_| if round == 0 { all_ones.clone() } else { any(&mut words) }).collect()
            };
            let (xs, ys) = (numbers(nx), numbers(ny));
            let mut out = Rows::zeros((nx + ny) * S::LANES);
            Wide::<S>::product(token, &spread::<S>(&xs, nx), &spread::<S>(&ys, ny), &mut out);
            for lane in 0..S::LANES {
                assert_eq!(gather::<S>(&out, lane), &xs[lane] * &ys[lane], "{nx} by {ny} digits");
            }
        }
    }
}

pub(crate) fn sums_and_selections<S: Leaves>(token: S::Token) {
    let mut words = Words(Random::new(8));
    for digits in [1, 2, 3, 4, 5, 9, 12] {
        let width = S::WIDTH as usize * digits;
        let moduli = vec![BigUint::from(3u8); S::LANES];
        let kernel = Wide::<S>::new(token, &spread::<S>(&moduli, digits));
        // x + y with a carry through all digits.
        let mut xs: Vec<BigUint> = (0..S::LANES).map(|_| words.number(width - 1)).collect();
        xs[0] = (BigUint::from(1u8) << (width - 5)) - 1u8;
        let ys: Vec<BigUint> = (0..S::LANES)
            .map(|lane| if lane == 0 { BigUint::from(1u8) } else { words.number(width - 5) })
            .collect();
        let (mut x, mut y) = (spread::<S>(&xs, digits), spread::<S>(&ys, digits));
        Wide::<S>::encode(&mut x);
        Wide::<S>::encode(&mut y);
        kernel.add(&mut x, &y);
        Wide::<S>::decode(&mut x);
        for lane in 0..S::LANES {
            assert_eq!(gather::<S>(&x, lane), &xs[lane] + &ys[lane]);
        }
        let entries = 16;
        let mut table = Rows::zeros(entries * digits * S::LANES);
        table.iter_mut().for_each(|word| *word = words.next());
        let plain = table.clone();
        kernel.arrange(&mut table, digits);
        for _ in 0..20 {
            let mut indices = Rows::zeros(S::AT_ONCE * S::LANES);
            indices.iter_mut().for_each(|index| *index = words.next() % entries as u64);
            let asked = indices.clone();
            let mut out = Rows::zeros(S::AT_ONCE * digits * S::LANES);
            out.fill(u64::MAX);
            kernel.arrange(&mut indices, 1);
            kernel.select(&table, &indices, &mut out);
            for (found, asked) in out.chunks(digits * S::LANES).zip(asked.chunks(S::LANES)) {
                for (place, word) in found.iter().enumerate() {
                    assert_eq!(*word, plain[asked[place % S::LANES] as usize * found.len() + place]);
                }
            }
        }
    }
    // A digit of exactly 2^WIDTH is a valid encoding.
    let mut digits = rows_of::<S>(&[1 << S::WIDTH, (1 << S::WIDTH) - 1, 0]);
    Wide::<S>::decode(&mut digits);
    assert_eq!(gather::<S>(&digits, 0), BigUint::from(1u8) << (2 * S::WIDTH));
}

/// Fills one column with as many products of the largest samples as the longest modulus makes, reduction
/// included.
pub(crate) fn the_longest_columns_do_not_overflow<S: Leaves>(token: S::Token) {
    let digits = Wide::<S>::MAX_DIGITS;
    let full = rows_of::<S>(&vec![1 << S::WIDTH; digits]);
    let mut start = Wide::<S>::biases(2 * digits);
    let mut columns = Rows::zeros(2 * digits * S::LANES);
    for _ in 0..2 {
        Wide::<S>::charge_product(&mut start, digits, digits);
        Wide::<S>::multiply_columns(token, &mut columns, &full, &full);
    }
    let number = value(&vec![1 << S::WIDTH; digits], S::WIDTH);
    let mut result = Rows::zeros(columns.len());
    for (column, start) in columns.chunks_exact_mut(S::LANES).zip(&start) {
        column.iter_mut().for_each(|word| *word = word.wrapping_add(*start));
    }
    S::finish(token, &columns, 0, &mut result);
    Wide::<S>::decode(&mut result);
    let modulus = BigUint::from(1u8) << (2 * digits * S::WIDTH as usize);
    assert_eq!(gather::<S>(&result, 0), (&number * &number * 2u8) % modulus);
}
