//! A batch of division steps on the low bits of f and g, for several groups of lanes side by side, so that
//! the steps of one group fill the latencies of another.

use super::DIGIT;
use super::vector::Vector;

/// The steps that run on one word of each number.
pub(super) const HALF: u32 = DIGIT / 2;

/// A matrix of steps: `2^s (f', g') = (u f + v g, q f + r g)` after s steps, with `|u| + |v| <= 2^s` and
/// `|q| + |r| <= 2^s`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<T> {
    pub(super) u: T,
    pub(super) v: T,
    pub(super) q: T,
    pub(super) r: T,
}

/// An entry of a batch: a digit and what is above it, which is signed and at most 2^30 in magnitude.
pub(super) type Entry<V> = [V; 2];

impl<V: Vector> Matrix<V> {
    /// `(u f + v g, q f + r g)`.
    #[inline(always)]
    fn times(self, f: V, g: V) -> (V, V) {
        (self.u.times(f).add(self.v.times(g)), self.q.times(f).add(self.r.times(g)))
    }

    /// The matrix of the steps of `first`, and then these. Entries of at most 2^15, or of at most 2^30, have
    /// products that fit a word.
    #[inline(always)]
    fn after(self, first: Self) -> Self {
        let ((u, q), (v, r)) = (self.times(first.u, first.q), self.times(first.v, first.r));
        Self { u, v, q, r }
    }

    /// These entries as two digits.
    #[inline(always)]
    fn entries(self) -> Matrix<Entry<V>> {
        let split = |entry: V| [entry.digit(), entry.floor::<DIGIT>()];
        Matrix { u: split(self.u), v: split(self.v), q: split(self.q), r: split(self.r) }
    }
}

/// The low 64 bits of a number of at least two digits.
#[inline(always)]
pub(super) fn low_bits<V: Vector>(number: &[V]) -> V {
    let low = number[0].add(number[1].up::<DIGIT>());
    number.get(2).map_or(low, |next| low.add(next.up::<{ 2 * DIGIT }>()))
}

/// Half a batch of some kind of division steps, with what it knows of the steps before.
pub(super) trait Half<V: Vector, const G: usize> {
    /// The matrices of 15 steps from the low bits of f and g.
    fn half(&mut self, f: [V; G], g: [V; G]) -> [Matrix<V>; G];

    /// The matrices of 30 steps.
    #[inline(always)]
    fn two_halves(&mut self, mut f: [V; G], mut g: [V; G]) -> [Matrix<V>; G] {
        let first = self.half(f, g);
        for k in 0..G {
            let (next_f, next_g) = first[k].times(f[k], g[k]);
            (f[k], g[k]) = (next_f.down::<HALF>(), next_g.down::<HALF>());
        }
        let mut both = self.half(f, g);
        for k in 0..G {
            both[k] = both[k].after(first[k]);
        }
        both
    }

    /// The matrices of 60 steps from the low 64 bits of f and g.
    #[inline(always)]
    fn batch(&mut self, mut f: [V; G], mut g: [V; G]) -> [Matrix<Entry<V>>; G] {
        let first = self.two_halves(f, g);
        // The low bits of f and g after 30 steps. A product has the low halves of its factors, so that 32
        // bits are right.
        for k in 0..G {
            let low = first[k].times(f[k].digit(), g[k].digit());
            let high = first[k].times(f[k].down::<DIGIT>(), g[k].down::<DIGIT>());
            f[k] = low.0.floor::<DIGIT>().add(high.0);
            g[k] = low.1.floor::<DIGIT>().add(high.1);
        }
        let second = self.two_halves(f, g);
        let mut both = [second[0].after(first[0]).entries(); G];
        for k in 1..G {
            both[k] = second[k].after(first[k]).entries();
        }
        both
    }
}

/// Division steps with their zeta, which is `-(delta + 1/2)` as in [`crate::inverse`].
pub(super) struct Signed<V, const G: usize> {
    zeta: [V; G],
}

impl<V: Vector, const G: usize> Signed<V, G> {
    #[inline(always)]
    pub(super) fn start(token: V::Token) -> Self {
        Self { zeta: [V::splat(token, -1); G] }
    }
}

impl<V: Vector, const G: usize> Half<V, G> for Signed<V, G> {
    /// From the low 15 bits of f and g.
    ///
    /// One word has a number with its row of the matrix: `w = l + 2^31 u + 2^47 v`, where
    /// `l = u (f mod 2^15) + v (g mod 2^15)` is the number times `2^i` after i steps. A step adds or
    /// subtracts words, and doubles that of f, so that g need not be halved. `|u| + |v|` is at most `2^i`, so
    /// that `|l| <= 2^15 (2^15 - 1)`.
    #[inline(always)]
    fn half(&mut self, mut f: [V; G], mut g: [V; G]) -> [Matrix<V>; G] {
        let zeta = &mut self.zeta;
        let low = f[0].with((1 << HALF) - 1);
        for k in 0..G {
            f[k] = f[k].and(low).add(low.with(1 << 31));
            g[k] = g[k].and(low).add(low.with(1 << 47));
        }
        for step in 0..HALF {
            for k in 0..G {
                V::step(step, &mut f[k], &mut g[k], &mut zeta[k]);
            }
        }
        let mut matrices = [Matrix { u: low, v: low, q: low, r: low }; G];
        for k in 0..G {
            zeta[k] = zeta[k].sub(low.with(i64::from(HALF)));
            let ((u, v), (q, r)) = (row(f[k]), row(g[k]));
            matrices[k] = Matrix { u, v, q, r };
        }
        matrices
    }
}

/// The entries u and v of a word, each above `-2^15` and at most `2^15`.
///
/// `l + 2^31 u + 2^46 - 2^30` is at least `-(2^30 - 2^15) + 2^31 (1 - 2^15) + 2^46 - 2^30 = 2^15`, and at
/// most `2^30 - 2^15 + 2^46 + 2^46 - 2^30 = 2^47 - 2^15`, so that the part of the word above it is v.
#[inline(always)]
fn row<V: Vector>(word: V) -> (V, V) {
    let v = word.add(word.with((1 << 46) - (1 << 30))).floor::<47>();
    let rest = word.sub(v.up::<47>());
    (rest.add(rest.with(1 << 30)).floor::<31>(), v)
}
