//! Every step of every arithmetic at the bounds of its inputs. The outputs are congruent to the definition
//! and within the bounds of the next step.

use super::arithmetic::Arithmetic;
use super::doubles::{Doubles, Vector};
use super::odd_roots::odd_roots;
use crate::avx512ifma::fft::Words;
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, COUNT, PRIMES, ShoupFactor};
use crate::fft::three_primes::OFFSET;
use crate::isa;
use crate::test_support::Random;
use num_bigint::BigUint;
use std::ops::RangeInclusive;

type Range = RangeInclusive<i128>;

/// An arithmetic with its stated bounds.
trait Bounded: Arithmetic {
    fn any(p: i128) -> Range;
    fn products(p: i128) -> Range;
    fn read(word: u64) -> i128;
    fn write(number: i128) -> u64;
}

impl Bounded for Words {
    fn any(_: i128) -> Range {
        0..=(1 << 52) - 1
    }

    fn products(p: i128) -> Range {
        0..=2 * p
    }

    fn read(word: u64) -> i128 {
        i128::from(word % (1 << 52))
    }

    fn write(number: i128) -> u64 {
        number as u64
    }
}

impl<V: Vector> Bounded for Doubles<V> {
    fn any(p: i128) -> Range {
        -4 * p..=4 * p
    }

    fn products(p: i128) -> Range {
        -5 * p / 4..=5 * p / 4
    }

    fn read(word: u64) -> i128 {
        let number = f64::from_bits(word);
        assert_eq!(number, number.trunc());
        number as i128
    }

    fn write(number: i128) -> u64 {
        (number as f64).to_bits()
    }
}

/// Numbers of a range, mostly at its ends.
fn numbers(random: &mut Random, range: &Range) -> [i128; LANES] {
    let (low, high) = (*range.start(), *range.end());
    std::array::from_fn(|_| match random.word() % 8 {
        0 | 1 => low,
        2 | 3 => high,
        4 => low + 1,
        5 => high - 1,
        _ => low + i128::from(random.word()) % (high - low + 1),
    })
}

struct Bench<A: Bounded> {
    c: A,
    p: i128,
    field: usize,
    random: Random,
}

impl<A: Bounded> Bench<A> {
    fn factor(&mut self) -> (ShoupFactor, i128) {
        let p = self.p as u64;
        let value = match self.random.word() % 4 {
            0 => p - 1,
            1 => p / 2 + self.random.word() % 2,
            _ => self.random.word() % p,
        };
        (ShoupFactor::new(A::FORM, value, p), value.into())
    }

    /// Applies a step to numbers of a range. Checks the results against the definition and against another
    /// range.
    #[track_caller]
    fn check<const N: usize>(
        &mut self,
        [from, to]: [Range; 2],
        step: impl Fn(&A, [A::Vector; N]) -> [A::Vector; N],
        definition: impl Fn([i128; N]) -> [i128; N],
    ) {
        let inputs: [[i128; LANES]; N] = std::array::from_fn(|_| numbers(&mut self.random, &from));
        let points = inputs.map(|numbers| Point(numbers.map(A::write)));
        let mut out = [Point::ZERO; N];
        for vector in 0..A::VECTORS {
            let x = step(&self.c, points.map(|point| self.c.load(&point, vector)));
            for (point, x) in out.iter_mut().zip(x) {
                self.c.store(point, vector, x);
            }
        }
        for lane in 0..LANES {
            let expected = definition(inputs.map(|numbers| numbers[lane]));
            for (point, expected) in out.iter().zip(expected) {
                let number = A::read(point.0[lane]);
                assert!(to.contains(&number), "{number} of {to:?}");
                assert_eq!((number - expected).rem_euclid(self.p), 0);
            }
        }
    }

    fn steps(&mut self) {
        let (p, any, products) = (self.p, A::any(self.p), A::products(self.p));
        let modulo = move |a: i128, b: i128| (a.rem_euclid(p) * b.rem_euclid(p)) % p;
        self.check([any.clone(), products.clone()], |c, [x]| [c.reduce(x)], |x| x);
        let (f, w) = self.factor();
        let times_w = |[x]: [i128; 1]| [modulo(x, w)];
        self.check([any.clone(), products.clone()], |c, [x]| [c.mul_add(c.zero(), x, &f)], times_w);
        self.check([products.clone(), products.clone()], |c, [x]| [c.negate(x)], |[x]| [-x]);
        let split = |a: i128, x: i128, w: i128| [a + modulo(x, w), a - modulo(x, w)];
        self.check([any.clone(), any.clone()], |c, x| c.forward2(x, &f), |[a, x]| split(a, x, w));
        let ((g, v), (h, u)) = (self.factor(), self.factor());
        let split4 = |[a, b, x, y]: [i128; 4]| {
            let ([a, x], [b, y]) = (split(a, x, w), split(b, y, w));
            let ([a, b], [x, y]) = (split(a, b, v), split(x, y, u));
            [a, b, x, y]
        };
        self.check([any.clone(), any.clone()], |c, x| c.forward4(x, [&f, &g, &h]), split4);
        self.check(
            [any.clone(), any.clone()],
            |c, x| c.forward4_again(c.forward4(x, [&f, &g, &h]), [&f, &g, &h]),
            |x| split4(split4(x)),
        );
        let join = |a: i128, x: i128, w: i128| [a + x, modulo(x - a, w)];
        self.check([products.clone(), products.clone()], |c, x| c.inverse2(x, &f), |[a, x]| join(a, x, w));
        self.check(
            [products.clone(), products.clone()],
            |c, x| c.inverse4(x, [&f, &g, &h]),
            |[a, b, x, y]| {
                let ([a, b], [x, y]) = (join(a, b, v), join(x, y, u));
                let ([a, x], [b, y]) = (join(a, x, w), join(b, y, w));
                [a, b, x, y]
            },
        );
        self.columns::<3>();
        if self.field < COUNT {
            self.columns::<5>();
        }
    }

    fn columns<const N: usize>(&mut self) {
        let p = self.p;
        let root = primes::root_of_unity(self.field, N as u64);
        let roots = &odd_roots(A::FORM)[self.field][usize::from(N == 5)][0];
        self.check(
            [A::products(p), A::any(p)],
            |c, x: [A::Vector; N]| {
                let mut padded = [c.zero(); 5];
                padded[..N].copy_from_slice(&x);
                roots.transform(c, &padded)[..N].try_into().expect("N of five")
            },
            |x| {
                std::array::from_fn(|k| {
                    let power = |j: usize| i128::from(primes::pow(root, (j * k % N) as u64, p as u64));
                    (0..N).map(|j| x[j].rem_euclid(p) * power(j) % p).sum()
                })
            },
        );
    }

    fn residues(&mut self) {
        let digits: [u64; LANES] = std::array::from_fn(|lane| match lane {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX << 32,
            3 => u64::MAX >> 15,
            _ => self.random.word(),
        });
        let mut point = Point::ZERO;
        for vector in 0..A::VECTORS {
            self.c.store(&mut point, vector, self.c.residues(&digits, vector));
        }
        for (word, digit) in point.0.into_iter().zip(digits) {
            assert!(A::products(self.p).contains(&A::read(word)));
            assert_eq!((A::read(word) - i128::from(digit)).rem_euclid(self.p), 0);
        }
    }

    fn points(&mut self) {
        let (p, any) = (self.p, A::any(self.p));
        let [a, b] = [(); 2].map(|()| numbers(&mut self.random, &any));
        let ((f, w), (g, v)) = (self.factor(), self.factor());
        for (twiddle, is_negated) in [(None, false), (None, true), (Some(&g), false), (Some(&g), true)] {
            let mut point = Point(a.map(A::write));
            self.c.multiply_point(&mut point, &Point(b.map(A::write)), (&f, twiddle), is_negated);
            let y = w * twiddle.map_or(1, |_| v) % p * if is_negated { p - 1 } else { 1 } % p;
            for (k, word) in point.0.into_iter().enumerate() {
                let term = |i: usize| {
                    let product = a[i].rem_euclid(p) * b[(LANES + k - i) % LANES].rem_euclid(p) % p;
                    if i <= k { product } else { product * y % p }
                };
                let expected = (0..LANES).map(term).sum::<i128>() % p;
                assert!(A::products(p).contains(&A::read(word)));
                let scaled = A::read(word).rem_euclid(p) * i128::from(A::DIVIDED_BY) % p;
                assert_eq!(scaled, expected);
            }
        }
    }
}

/// Numbers at both ends of the range of the reconstruction, with residues in every representation of a
/// product.
fn check_joined<A: Bounded>(token: A::Token, first: usize, random: &mut Random) {
    let c = A::new(token, PRIMES[first]);
    let whole: BigUint = PRIMES[first..][..COUNT].iter().map(|&p| BigUint::from(p)).product();
    let offset = BigUint::from(1u8) << OFFSET;
    let inverses = primes::inverses_of_parts(first);
    let factors =
        std::array::from_fn(|i| c.splat(&ShoupFactor::new(A::FORM, inverses[i], PRIMES[first + i])));
    let big = |limbs: Vec<u64>| limbs.iter().rev().fold(BigUint::ZERO, |sum, &limb| (sum << 64) + limb);
    for is_signed in [false, true] {
        // Signed numbers have the offset added.
        let most = if is_signed { &offset * 2u8 - 1u8 } else { &whole * 63u8 / 64u8 };
        let x: [BigUint; LANES] = std::array::from_fn(|lane| match lane {
            0 => BigUint::ZERO,
            1 => most.clone(),
            2 => BigUint::from(1u8),
            3 => offset.clone(),
            _ => big(random.limbs(3)) % &most,
        });
        let residues: [Point; COUNT] = std::array::from_fn(|i| {
            let p = PRIMES[first + i];
            let products = A::products(p.into());
            Point(std::array::from_fn(|lane| {
                let shifted = if is_signed { &x[lane] + &whole - &offset } else { x[lane].clone() };
                let residue = i128::from((shifted % p).to_u64_digits().first().copied().unwrap_or(0));
                let ways = [residue - i128::from(p), residue, residue + i128::from(p)];
                let ways: Vec<i128> = ways.into_iter().filter(|way| products.contains(way)).collect();
                A::write(ways[random.word() as usize % ways.len()])
            }))
        });
        let mut words = [Point::ZERO; 3];
        for vector in 0..A::VECTORS {
            let residues = residues.map(|point| c.load(&point, vector));
            A::join(token, first, is_signed, residues, factors, (&mut words, vector));
        }
        for (lane, x) in x.iter().enumerate() {
            assert_eq!(&big(words.iter().map(|word| word.0[lane]).collect()), x, "{is_signed}");
        }
    }
}

fn check<A: Bounded>(token: A::Token) {
    for (field, &p) in PRIMES.iter().enumerate() {
        let c = A::new(token, p);
        let mut bench = Bench { c, p: p.into(), field, random: Random::new(71 + field as u64) };
        for _ in 0..300 {
            bench.steps();
            bench.residues();
            bench.points();
        }
    }
    let mut random = Random::new(79);
    for first in [0, COUNT] {
        for _ in 0..300 {
            check_joined::<A>(token, first, &mut random);
        }
    }
}

#[test]
fn words_stay_within_their_bounds() {
    if let Some(token) = isa::detect_ifma() {
        check::<Words>(token);
    }
}

#[test]
fn doubles_stay_within_their_bounds() {
    if let Some(token) = isa::detect_avx2() {
        check::<crate::avx2::fft::Doubles>(token);
    }
    if let Some(token) = isa::detect_avx512() {
        check::<crate::avx512::fft::Doubles>(token);
    }
}
