//! Jacobi symbols of public numbers, one pair a lane.

use super::batch::{HALF, Half, Matrix, low_bits};
use super::gcd::shortened;
use super::update::update;
use super::vector::Vector;
use super::{BATCH, DIGIT, Space};
use crate::jacobi;
use modmill_core::limbs::bit_length;
use modmill_core::{Moduli, Operand, radix};

/// Writes the Jacobi symbols of some items, one for each lane at most, as signed words. The moduli n are odd.
#[inline(always)]
pub(crate) fn symbols<V: Vector>(
    a: Operand<'_>,
    n: Moduli<'_>,
    rows: &mut [(usize, &mut u64)],
    space: &mut Space<V>,
) {
    let token = space.token();
    let longest = |(item, _): &(usize, &mut u64)| bit_length(a.limbs(*item)).max(bit_length(n.get(*item)));
    let bits = rows.iter().map(longest).max().unwrap_or(0);
    let mut len = bits.div_ceil(DIGIT as usize).max(2);
    let (f, g) = space.take(2 * len).split_at_mut(len);
    for lane in 0..V::LANES {
        let item = rows[lane.min(rows.len() - 1)].0;
        let (a, n) = (a.limbs(item), n.get(item));
        radix::split(n, DIGIT, V::LANES, &mut V::words_mut(f)[lane..]);
        radix::split(a, DIGIT, V::LANES, &mut V::words_mut(g)[lane..]);
    }
    let zero = V::splat(token, 0);
    let mut steps = Positive { zeta: zero.with(-1), flips: zero };
    let most = jacobi::MOST_STEPS * bits / BATCH + 2;
    for _ in 0..most {
        if !(0..len).any(|index| f[index].xor(g[index]).any()) {
            break;
        }
        let [matrix] = steps.batch([low_bits(&f[..len])], [low_bits(&g[..len])]);
        update(&mut f[..len], &mut g[..len], matrix);
        len = shortened(f, g, len);
    }
    let flips = [steps.flips];
    let (f, g) = (V::words(&f[..len]), V::words(&g[..len]));
    for (lane, (item, symbol)) in rows.iter_mut().enumerate() {
        let words = |number: &'_ [u64]| number[lane..].iter().copied().step_by(V::LANES).collect::<Vec<_>>();
        let (f, g) = (words(f), words(g));
        let is_one = f[0] == 1 && f[1..].iter().all(|&digit| digit == 0);
        **symbol = match (f == g || g.iter().all(|&digit| digit == 0), is_one) {
            (true, true) => 1u64.wrapping_sub(V::words(&flips)[lane] & 2),
            (true, false) => 0,
            (false, _) => jacobi::by_shifts(a.limbs(*item), n.get(*item)) as u64,
        };
    }
}

/// Division steps with g + f instead of g - f, which keep f and g positive.
struct Positive<V> {
    zeta: V,
    /// Bit 1 of a word is the parity of the symbol's changes of sign.
    flips: V,
}

impl<V: Vector> Half<V, 1> for Positive<V> {
    /// From the low 17 bits of f and g: a step looks at bits 1 and 2 of f and at bit 1 of g too.
    ///
    /// One word has a number with its row: `w = l + 2^32 u + 2^48 v`. Nothing is negative, and u + v is at
    /// most `2^i` after i steps, so that l is below `2^15 2^17`.
    #[inline(always)]
    fn half(&mut self, [f]: [V; 1], [g]: [V; 1]) -> [Matrix<V>; 1] {
        let low = f.with((1 << (HALF + 2)) - 1);
        let (mut f, mut g) = (f.and(low).add(low.with(1 << 32)), g.and(low).add(low.with(1 << 48)));
        for step in 0..HALF {
            V::positive_step(step, &mut f, &mut g, &mut self.zeta, &mut self.flips);
        }
        self.zeta = self.zeta.sub(low.with(i64::from(HALF)));
        self.flips = self.flips.down::<HALF>();
        let entry = low.with((1 << 16) - 1);
        let row = |word: V| (word.down::<32>().and(entry), word.down::<48>());
        let ((u, v), (q, r)) = (row(f), row(g));
        [Matrix { u, v, q, r }]
    }
}
