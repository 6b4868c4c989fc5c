//! The arithmetic of transforms on vectors of eight words.
#![allow(unsafe_code)]

use super::join;
use super::words::{LOW, V, Words};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{COUNT, FactorForm, PRIMES, ShoupFactor};
use crate::fft::three_primes::arithmetic::Arithmetic;
use crate::isa::Ifma as Token;
use std::arch::x86_64::*;

impl Words {
    /// `a b` modulo `x^8 - y`, divided by `2^52`. `turned` is `y b`.
    #[inline(always)]
    fn product(&self, a: &[u64; LANES], b: V, turned: V) -> V {
        let (mut low, mut high) = (self.zero, self.prime);
        macro_rules! terms {
            ($($k:literal)+) => {
                $(
                    // x^k b: coefficients that are shifted beyond x^7 return as their product with y.
                    // SAFETY: a `Words` proves AVX-512 IFMA.
                    let shifted = unsafe { _mm512_alignr_epi64::<{ (8 - $k) & 7 }>(b, turned) };
                    let shifted = if $k == 0 { b } else { shifted };
                    let digit = Self::set(a[$k] as i64);
                    low = self.low(low, digit, shifted);
                    high = self.high(high, digit, shifted);
                )+
            };
        }
        terms!(0 1 2 3 4 5 6 7);
        // Montgomery's reduction: the product minus q p is a multiple of 2^52. Eight terms below (1 + e) p
        // times 2 p make a high half below 16/5 p. It starts at p, so it is between p and 21/5 p, and at most
        // p is subtracted.
        let quotient = self.low(self.zero, low, self.inverse);
        let multiple = self.high(self.zero, quotient, self.prime);
        // SAFETY: a `Words` proves AVX-512 IFMA.
        let carry = unsafe { _mm512_srli_epi64::<52>(low) };
        self.reduce(self.sub(self.add(high, carry), multiple))
    }
}

impl Arithmetic for Words {
    type Token = Token;
    type Vector = V;
    const VECTORS: usize = 1;
    const FORM: FactorForm = FactorForm::Words;
    const DIVIDED_BY: u64 = 1 << 52;

    #[inline(always)]
    fn run<T>(_: Token, work: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx512f,avx512ifma")]
        fn run<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { run(work) }
    }

    #[inline(always)]
    fn new(token: Token, prime: u64) -> Self {
        Self::of_prime(token, prime)
    }

    #[inline(always)]
    fn load(&self, point: &Point, _: usize) -> V {
        // SAFETY: a point is 64 bytes, aligned to 64; a `Words` proves AVX-512 IFMA.
        unsafe { _mm512_load_si512(std::ptr::from_ref(point).cast()) }
    }

    #[inline(always)]
    fn store(&self, point: &mut Point, _: usize, x: V) {
        // SAFETY: a point is 64 bytes, aligned to 64; a `Words` proves AVX-512 IFMA.
        unsafe { _mm512_store_si512(std::ptr::from_mut(point).cast(), x) }
    }

    #[inline(always)]
    fn zero(&self) -> V {
        self.zero
    }

    #[inline(always)]
    fn add(&self, a: V, b: V) -> V {
        Words::add(self, a, b)
    }

    #[inline(always)]
    fn negate(&self, x: V) -> V {
        self.sub(self.double_prime(), x)
    }

    #[inline(always)]
    fn reduce(&self, x: V) -> V {
        self.reduce_from(self.zero, x)
    }

    #[inline(always)]
    fn splat(&self, factor: &ShoupFactor) -> [V; 2] {
        [Self::set(factor.value as i64), Self::set(factor.quotient as i64)]
    }

    #[inline(always)]
    fn mul_add_by(&self, sum: V, x: V, factors: [V; 2]) -> V {
        Words::mul_add_by(self, sum, x, factors)
    }

    /// The result is below `2^49 + (1 + 2^-36) p`, which is less than 13/8 p.
    #[inline(always)]
    fn residues(&self, digits: &[u64; LANES], _: usize) -> V {
        // SAFETY: the slice has 64 bytes, and the load needs no alignment; a `Words` proves AVX-512 IFMA.
        let [low, high] = unsafe {
            let digits = _mm512_loadu_si512(digits.as_ptr().cast());
            [_mm512_and_si512(digits, Self::set((1 << LOW) - 1)), _mm512_srli_epi64::<LOW>(digits)]
        };
        self.mul_add(low, high, &self.high_digit)
    }

    #[inline(always)]
    fn forward2(&self, [a, x]: [V; 2], w: &ShoupFactor) -> [V; 2] {
        let a = self.reduce_from(Self::set(-2), a);
        let x = self.mul_add(self.negative, x, w);
        [self.add(a, x), self.sub(a, x)]
    }

    #[inline(always)]
    fn forward4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        // a and b are in 2p..(3 + e) p. The two terms added or subtracted below are in -p..p.
        let a = self.reduce_from(Self::set(-2), a);
        let b = self.reduce_from(Self::set(-2), b);
        let x = self.mul_add(self.negative, x, w);
        let y = self.mul_add(self.negative, y, w);
        let (a, x) = (self.add(a, x), self.sub(a, x));
        let (b, y) = (self.add(b, y), self.sub(b, y));
        let b = self.mul_add(self.negative, b, v);
        let y = self.mul_add(self.negative, y, iv);
        [self.add(a, b), self.sub(a, b), self.add(x, y), self.sub(x, y)]
    }

    #[inline(always)]
    fn inverse2(&self, [a, x]: [V; 2], w: &ShoupFactor) -> [V; 2] {
        let difference = self.sub(self.add(x, self.double_prime()), a);
        [self.reduce(self.add(a, x)), self.mul_add(self.zero, difference, w)]
    }

    #[inline(always)]
    fn inverse4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        let double = self.double_prime();
        let (sum, difference) = (self.add(a, b), self.sub(self.add(b, double), a));
        let (other, distance) = (self.add(x, y), self.sub(self.add(y, double), x));
        // Differences are below 4p, so products are below 9/5 p: b is in -p..4/5 p and y in p..14/5 p.
        let b = self.mul_add(self.negative, difference, v);
        let y = self.mul_add(self.prime, distance, iv);
        // The sums are in -p..ep and in p..(2 + e) p.
        let sum = self.reduce_from(Self::set(1), sum);
        let other = self.reduce_from(Self::set(-1), other);
        [
            self.reduce(self.add(sum, other)),
            self.reduce(self.add(b, y)),
            self.mul_add(self.zero, self.sub(other, sum), w),
            self.mul_add(self.zero, self.sub(y, b), w),
        ]
    }

    #[inline(always)]
    fn transform3(&self, [x0, x1, x2]: [V; 3], w: &ShoupFactor) -> [V; 3] {
        let double = self.double_prime();
        // x0 is in 0..(1 + e) p, and the sum is below 2^52 = (5 + e) p.
        let x0 = self.reduce(x0);
        let sum = self.add(x0, self.add(x1, x2));
        // `turned` is in -p..4/5 p, so adding 3p to the other terms gives 0..(5 + e) p.
        let turned = self.mul_add(self.negative, self.sub(self.add(x1, double), x2), w);
        let x0 = self.add(x0, self.add(double, self.prime));
        [sum, self.add(self.sub(x0, x2), turned), self.sub(self.sub(x0, x1), turned)]
    }

    #[inline(always)]
    fn transform5(&self, [x0, x1, x2, x3, x4]: [V; 5], fifths: &[ShoupFactor; 4]) -> [V; 5] {
        let double = self.double_prime();
        let x0 = self.reduce(x0);
        let (s, t) = (self.reduce(self.add(x1, x4)), self.reduce(self.add(x2, x3)));
        let sum = self.add(s, t);
        // The factors are below (5/2 + e) p and 13/8 p. The sums are up to (33/8 + e) p, and from 3/8 p to
        // (9/2 + e) p.
        let both = self.mul_add(x0, sum, &fifths[1]);
        let turned = self.mul_add(self.zero, self.sub(self.add(s, double), t), &fifths[0]);
        // `near` and `far` are in 2p..(3 + e) p. The terms added or subtracted below are in -2p..2p.
        let near = self.reduce_from(Self::set(-2), self.add(both, turned));
        let far = self.reduce_from(Self::set(-2), self.sub(self.add(both, double), turned));
        // Differences are below 4p, and their products are in -p..4/5 p.
        let (d, e) = (self.sub(self.add(x1, double), x4), self.sub(self.add(x2, double), x3));
        let minus_e = self.sub(self.add(x3, double), x2);
        let turn = |d: V, f: usize| self.mul_add(self.negative, d, &fifths[f]);
        let (odd, other) = (self.add(turn(d, 2), turn(e, 3)), self.add(turn(d, 3), turn(minus_e, 2)));
        [
            self.add(x0, sum),
            self.add(near, odd),
            self.add(far, other),
            self.sub(far, other),
            self.sub(near, odd),
        ]
    }

    #[inline(always)]
    fn multiply_point(
        &self,
        a: &mut Point,
        b: &Point,
        (root, twiddle): (&ShoupFactor, Option<&ShoupFactor>),
        is_negated: bool,
    ) {
        // Both are in 0..(1 + e) p, and `turned` is below p (1 + (1 + e) / 5).
        let (b, x) = (self.reduce(self.load(b, 0)), self.reduce(self.load(a, 0)));
        self.store(a, 0, x);
        let mut turned = self.mul_add(self.zero, b, root);
        if let Some(twiddle) = twiddle {
            turned = self.mul_add(self.zero, turned, twiddle);
        }
        if is_negated {
            turned = self.negate(turned);
        }
        let product = self.product(&a.0, b, turned);
        self.store(a, 0, product);
    }

    #[inline(always)]
    fn join(
        token: Token,
        first: usize,
        is_signed: bool,
        residues: [V; COUNT],
        factors: [[V; 2]; COUNT],
        (words, vector): (&mut [Point; 3], usize),
    ) {
        let c = Self::new(token, PRIMES[first]);
        let joined = join::join(token, first, is_signed, residues, factors);
        for (word, joined) in words.iter_mut().zip(joined) {
            c.store(word, vector, joined);
        }
    }
}
