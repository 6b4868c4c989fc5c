//! The arithmetic of transforms on vectors of four doubles.
#![allow(unsafe_code)]

use super::doubles::{Doubles, Sum, V};
use super::join;
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{COUNT, FactorForm, ShoupFactor};
use crate::fft::three_primes::arithmetic::Arithmetic;
use crate::isa::Avx2 as Token;
use std::arch::x86_64::*;

impl Doubles {
    /// [`Arithmetic::forward4`] for an `a` within 7/4 p. The other inputs are within 3p.
    #[inline(always)]
    fn split4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        let (x, y) = (self.mul(x, w), self.mul(y, w));
        let (a, x) = (self.add(a, x), self.sub(a, x));
        let (b, y) = (self.add(b, y), self.sub(b, y));
        let (b, y) = (self.mul(b, v), self.mul(y, iv));
        [self.add(a, b), self.sub(a, b), self.add(x, y), self.sub(x, y)]
    }
}

impl Arithmetic for Doubles {
    type Token = Token;
    type Vector = V;
    const VECTORS: usize = 2;
    const FORM: FactorForm = FactorForm::Doubles;
    const DIVIDED_BY: u64 = 1;

    #[inline(always)]
    fn run<T>(_: Token, work: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx2,fma")]
        fn run<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: the token proves AVX2 and FMA.
        unsafe { run(work) }
    }

    #[inline(always)]
    fn new(token: Token, prime: u64) -> Self {
        Self::of_prime(token, prime)
    }

    #[inline(always)]
    fn load(&self, point: &Point, vector: usize) -> V {
        // SAFETY: the slice has four words, aligned to 32 bytes; a `Doubles` proves AVX2.
        unsafe { _mm256_load_pd(point.0[4 * vector..][..4].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&self, point: &mut Point, vector: usize, x: V) {
        // SAFETY: the slice has four words, aligned to 32 bytes; a `Doubles` proves AVX2.
        unsafe { _mm256_store_pd(point.0[4 * vector..][..4].as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn zero(&self) -> V {
        Self::set(0.0)
    }

    #[inline(always)]
    fn add(&self, a: V, b: V) -> V {
        Doubles::add(self, a, b)
    }

    #[inline(always)]
    fn negate(&self, x: V) -> V {
        self.sub(self.zero(), x)
    }

    /// The result is within `(1/2 + 2^-50) p`, for an x within 7p.
    #[inline(always)]
    fn reduce(&self, x: V) -> V {
        self.minus_product(x, self.quotient(x, self.inverse), self.prime)
    }

    #[inline(always)]
    fn splat(&self, factor: &ShoupFactor) -> [V; 2] {
        Doubles::splat(self, factor)
    }

    #[inline(always)]
    fn mul_add_by(&self, sum: V, x: V, factors: [V; 2]) -> V {
        self.add(sum, self.mul_by(x, factors))
    }

    /// The result is within `p / 2 + 2^32`: the high half of a digit is reduced, and the low half is added.
    #[inline(always)]
    fn residues(&self, digits: &[u64; LANES], vector: usize) -> V {
        // With these exponent bits, a half digit reads as a double, times one or 2^32.
        const LOW: f64 = (1u64 << 52) as f64;
        const HIGH: f64 = LOW * (1u64 << 32) as f64;
        // SAFETY: the slice has four words, and the load needs no alignment; a `Doubles` proves AVX2.
        let [low, high] = unsafe {
            let digits = _mm256_loadu_si256(digits[4 * vector..][..4].as_ptr().cast());
            let exponent = _mm256_castpd_si256(Self::set(LOW));
            [
                _mm256_castsi256_pd(_mm256_blend_epi32::<0b1010_1010>(digits, exponent)),
                _mm256_or_pd(_mm256_castsi256_pd(_mm256_srli_epi64::<32>(digits)), Self::set(HIGH)),
            ]
        };
        self.add(self.reduce(self.sub(high, Self::set(HIGH))), self.sub(low, Self::set(LOW)))
    }

    #[inline(always)]
    fn forward2(&self, [a, x]: [V; 2], w: &ShoupFactor) -> [V; 2] {
        let (a, x) = (self.reduce(a), self.mul(x, w));
        [self.add(a, x), self.sub(a, x)]
    }

    /// Products are within 5/8 p, so the bound of `a` grows from 1/2 p to 7/4 p.
    #[inline(always)]
    fn forward4(&self, [a, b, x, y]: [V; 4], roots: [&ShoupFactor; 3]) -> [V; 4] {
        self.split4([self.reduce(a), b, x, y], roots)
    }

    #[inline(always)]
    fn forward4_again(&self, x: [V; 4], roots: [&ShoupFactor; 3]) -> [V; 4] {
        self.split4(x, roots)
    }

    #[inline(always)]
    fn inverse2(&self, [a, x]: [V; 2], w: &ShoupFactor) -> [V; 2] {
        [self.reduce(self.add(a, x)), self.mul(self.sub(x, a), w)]
    }

    /// Sums and differences of two numbers are within 5/2 p, and their products within 9/16 p. Sums of four
    /// are within 5p.
    #[inline(always)]
    fn inverse4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        let (sum, difference) = (self.add(a, b), self.sub(b, a));
        let (other, distance) = (self.add(x, y), self.sub(y, x));
        let (b, y) = (self.mul(difference, v), self.mul(distance, iv));
        [
            self.reduce(self.add(sum, other)),
            self.add(b, y),
            self.mul(self.sub(other, sum), w),
            self.mul(self.sub(y, b), w),
        ]
    }

    /// Inputs within 5/4 p give outputs within 4p.
    #[inline(always)]
    fn transform3(&self, [x0, x1, x2]: [V; 3], w: &ShoupFactor) -> [V; 3] {
        let turned = self.mul(self.sub(x1, x2), w);
        [
            self.add(x0, self.add(x1, x2)),
            self.add(self.sub(x0, x2), turned),
            self.sub(self.sub(x0, x1), turned),
        ]
    }

    #[inline(always)]
    fn transform5(&self, [x0, x1, x2, x3, x4]: [V; 5], fifths: &[ShoupFactor; 4]) -> [V; 5] {
        let (s, t) = (self.add(x1, x4), self.add(x2, x3));
        let (d, e) = (self.sub(x1, x4), self.sub(x2, x3));
        // Sums of four are within 5p, and sums of five within 7p. Products of sums are within 5/8 p, products
        // of differences within 9/16 p. The outputs are within 4p.
        let sum = self.add(s, t);
        let both = self.add(x0, self.mul(sum, &fifths[1]));
        let turned = self.mul(self.sub(s, t), &fifths[0]);
        let (near, far) = (self.add(both, turned), self.sub(both, turned));
        let odd = self.add(self.mul(d, &fifths[2]), self.mul(e, &fifths[3]));
        let other = self.sub(self.mul(d, &fifths[3]), self.mul(e, &fifths[2]));
        [
            self.reduce(self.add(x0, sum)),
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
        let b = [0, 1].map(|vector| self.reduce(self.load(b, vector)));
        let turned = b.map(|b| {
            let mut turned = self.mul(b, root);
            if let Some(twiddle) = twiddle {
                turned = self.mul(turned, twiddle);
            }
            if is_negated { self.negate(turned) } else { turned }
        });
        for vector in [0, 1] {
            let reduced = self.reduce(self.load(a, vector));
            self.store(a, vector, reduced);
        }
        // x^k b: coefficients that are shifted beyond x^7 return as their product with y.
        let windows = windows([turned[0], turned[1], b[0], b[1]]);
        let mut sums = [Sum::new(); 2];
        for (k, &digit) in a.0.iter().enumerate() {
            let digit = Self::set(f64::from_bits(digit));
            sums[0].add(self, digit, windows[8 - k]);
            sums[1].add(self, digit, windows[12 - k]);
        }
        for (vector, sum) in sums.iter().enumerate() {
            // The eight terms are within (1/2 + 2^-50) p times 9/16 p. The high vector is below 9/4 p^2,
            // which is less than 2^101. Its quotient is below 2^51, with an error of at most 3/4. The low
            // vector is within 2^52, so the sum is within 6p.
            let high = sum.high(self);
            let rest = self.minus_product(high, self.quotient(high, self.inverse), self.prime);
            let product = self.reduce(self.add(rest, sum.low));
            self.store(a, vector, product);
        }
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
        let joined = join::join(token, first, is_signed, residues, factors);
        for (word, joined) in words.iter_mut().zip(joined) {
            // SAFETY: the slice has four words, aligned to 32 bytes; the token proves AVX2.
            unsafe { _mm256_store_si256(word.0[4 * vector..][..4].as_mut_ptr().cast(), joined) }
        }
    }
}

/// The windows of four words that start at words 0 to 12 of sixteen.
#[inline(always)]
fn windows(x: [V; 4]) -> [V; 13] {
    // SAFETY: vectors come from a `Doubles` only.
    let [middles, before, after] = unsafe {
        let middles = [0, 1, 2].map(|i: usize| _mm256_permute2f128_pd::<0b10_0001>(x[i], x[i + 1]));
        [
            middles,
            [0, 1, 2].map(|i: usize| _mm256_shuffle_pd::<0b0101>(x[i], middles[i])),
            [0, 1, 2].map(|i: usize| _mm256_shuffle_pd::<0b0101>(middles[i], x[i + 1])),
        ]
    };
    std::array::from_fn(|from| match (from / 4, from % 4) {
        (i, 0) => x[i],
        (i, 1) => before[i],
        (i, 2) => middles[i],
        (i, _) => after[i],
    })
}
