//! The arithmetic of transforms on vectors of doubles.

use super::field::{Doubles, Sum};
use super::join;
use super::vector::Vector;
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{COUNT, FactorForm, ShoupFactor};
use crate::fft::three_primes::arithmetic::Arithmetic;

impl<V: Vector> Doubles<V> {
    /// [`Arithmetic::forward4`] for an `a` within 7/4 p. The other inputs are within 3p.
    #[inline(always)]
    fn split4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        let (x, y) = (self.mul(x, w), self.mul(y, w));
        let (a, x) = (a.add(x), a.sub(x));
        let (b, y) = (b.add(y), b.sub(y));
        let (b, y) = (self.mul(b, v), self.mul(y, iv));
        [a.add(b), a.sub(b), x.add(y), x.sub(y)]
    }
}

impl<V: Vector> Arithmetic for Doubles<V> {
    type Token = V::Token;
    type Vector = V;
    const VECTORS: usize = V::PER_POINT;
    const FORM: FactorForm = FactorForm::Doubles;
    const DIVIDED_BY: u64 = 1;

    #[inline(always)]
    fn run<T>(token: V::Token, work: impl FnOnce() -> T) -> T {
        V::run(token, work)
    }

    #[inline(always)]
    fn new(token: V::Token, prime: u64) -> Self {
        Self::of_prime(token, prime)
    }

    #[inline(always)]
    fn load(&self, point: &Point, vector: usize) -> V {
        self.read(&point.0[V::WIDTH * vector..][..V::WIDTH])
    }

    #[inline(always)]
    fn store(&self, point: &mut Point, vector: usize, x: V) {
        x.store(&mut point.0[V::WIDTH * vector..][..V::WIDTH]);
    }

    #[inline(always)]
    fn zero(&self) -> V {
        self.set(0.0)
    }

    #[inline(always)]
    fn add(&self, a: V, b: V) -> V {
        a.add(b)
    }

    #[inline(always)]
    fn negate(&self, x: V) -> V {
        self.zero().sub(x)
    }

    /// The result is within `(1/2 + 2^-50) p`, for an x within 7p.
    #[inline(always)]
    fn reduce(&self, x: V) -> V {
        self.quotient(x, self.inverse).neg_mul_add(self.prime, x)
    }

    #[inline(always)]
    fn splat(&self, factor: &ShoupFactor) -> [V; 2] {
        self.factor(factor)
    }

    #[inline(always)]
    fn mul_add_by(&self, sum: V, x: V, factors: [V; 2]) -> V {
        sum.add(self.mul_by(x, factors))
    }

    /// The result is within `p / 2 + 2^32`: the high half of a digit is reduced, and the low half is added.
    #[inline(always)]
    fn residues(&self, digits: &[u64; LANES], vector: usize) -> V {
        // With these exponent bits, a half digit reads as a double, times one or 2^32.
        const LOW: f64 = (1u64 << 52) as f64;
        const HIGH: f64 = LOW * (1u64 << 32) as f64;
        let upper = [LOW, HIGH].map(|x| self.set(x));
        let [low, high] = self.read(&digits[V::WIDTH * vector..][..V::WIDTH]).halves(upper);
        self.reduce(high.sub(upper[1])).add(low.sub(upper[0]))
    }

    #[inline(always)]
    fn forward2(&self, [a, x]: [V; 2], w: &ShoupFactor) -> [V; 2] {
        let (a, x) = (self.reduce(a), self.mul(x, w));
        [a.add(x), a.sub(x)]
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
        [self.reduce(a.add(x)), self.mul(x.sub(a), w)]
    }

    /// Sums and differences of two numbers are within 5/2 p, and their products within 9/16 p. Sums of four
    /// are within 5p.
    #[inline(always)]
    fn inverse4(&self, [a, b, x, y]: [V; 4], [w, v, iv]: [&ShoupFactor; 3]) -> [V; 4] {
        let (sum, difference) = (a.add(b), b.sub(a));
        let (other, distance) = (x.add(y), y.sub(x));
        let (b, y) = (self.mul(difference, v), self.mul(distance, iv));
        [self.reduce(sum.add(other)), b.add(y), self.mul(other.sub(sum), w), self.mul(y.sub(b), w)]
    }

    /// Inputs within 5/4 p give outputs within 4p.
    #[inline(always)]
    fn transform3(&self, [x0, x1, x2]: [V; 3], w: &ShoupFactor) -> [V; 3] {
        let turned = self.mul(x1.sub(x2), w);
        [x0.add(x1.add(x2)), x0.sub(x2).add(turned), x0.sub(x1).sub(turned)]
    }

    #[inline(always)]
    fn transform5(&self, [x0, x1, x2, x3, x4]: [V; 5], fifths: &[ShoupFactor; 4]) -> [V; 5] {
        let (s, t) = (x1.add(x4), x2.add(x3));
        let (d, e) = (x1.sub(x4), x2.sub(x3));
        // Sums of four are within 5p, and sums of five within 7p. Products of sums are within 5/8 p, products
        // of differences within 9/16 p. The outputs are within 4p.
        let sum = s.add(t);
        let both = x0.add(self.mul(sum, &fifths[1]));
        let turned = self.mul(s.sub(t), &fifths[0]);
        let (near, far) = (both.add(turned), both.sub(turned));
        let odd = self.mul(d, &fifths[2]).add(self.mul(e, &fifths[3]));
        let other = self.mul(d, &fifths[3]).sub(self.mul(e, &fifths[2]));
        [self.reduce(x0.add(sum)), near.add(odd), far.add(other), far.sub(other), near.sub(odd)]
    }

    #[inline(always)]
    fn multiply_point(
        &self,
        a: &mut Point,
        b: &Point,
        (root, twiddle): (&ShoupFactor, Option<&ShoupFactor>),
        is_negated: bool,
    ) {
        // The words of y b, followed by those of b: x^k b is the window that starts k words before b, since
        // coefficients that are shifted beyond x^7 return as their product with y.
        let mut sequence = [self.zero(); 4];
        for vector in 0..V::PER_POINT {
            let b = self.reduce(self.load(b, vector));
            let mut turned = self.mul(b, root);
            if let Some(twiddle) = twiddle {
                turned = self.mul(turned, twiddle);
            }
            sequence[vector] = if is_negated { self.negate(turned) } else { turned };
            sequence[V::PER_POINT + vector] = b;
            let reduced = self.reduce(self.load(a, vector));
            self.store(a, vector, reduced);
        }
        let mut sums = [Sum::new(self); 2];
        for (k, &digit) in a.0.iter().enumerate() {
            let digit = self.set(f64::from_bits(digit));
            for (vector, sum) in sums[..V::PER_POINT].iter_mut().enumerate() {
                let first = LANES - k + V::WIDTH * vector;
                let (low, from) = (first / V::WIDTH, first % V::WIDTH);
                let window = match from {
                    0 => sequence[low],
                    _ => V::window(sequence[low], sequence[low + 1], from),
                };
                sum.add(digit, window);
            }
        }
        for (vector, sum) in sums[..V::PER_POINT].iter().enumerate() {
            // The eight terms are within (1/2 + 2^-50) p times 9/16 p. The high vector is below 9/4 p^2,
            // which is less than 2^101. Its quotient is below 2^51, with an error of at most 3/4. The low
            // vector is within 2^52, so the sum is within 6p.
            let high = sum.high(self);
            let rest = self.quotient(high, self.inverse).neg_mul_add(self.prime, high);
            let product = self.reduce(rest.add(sum.low));
            self.store(a, vector, product);
        }
    }

    #[inline(always)]
    fn join(
        token: V::Token,
        first: usize,
        is_signed: bool,
        residues: [V; COUNT],
        factors: [[V; 2]; COUNT],
        (words, vector): (&mut [Point; 3], usize),
    ) {
        let joined = join::join(token, first, is_signed, residues, factors);
        for (word, joined) in words.iter_mut().zip(joined) {
            joined.store(&mut word.0[V::WIDTH * vector..][..V::WIDTH]);
        }
    }
}
