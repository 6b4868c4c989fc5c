//! Greatest common divisors of public numbers, one pair a lane.

use super::batch::{Half, Signed, low_bits};
use super::cofactors::negate_where;
use super::update::update;
use super::vector::Vector;
use super::{DIGIT, Space};
use modmill_core::limbs::{bit_length, trailing_zeros};
use modmill_core::{Operand, radix};

/// Writes the greatest common divisors of some items, one for each lane at most, to their rows. No number is
/// zero. The lanes take the steps of the pair that takes most.
#[inline(always)]
pub(crate) fn divisors<V: Vector>(
    [a, b]: [Operand<'_>; 2],
    rows: &mut [(usize, &mut [u64])],
    space: &mut Space<V>,
) {
    let token = space.token();
    let twos = |number: &[u64]| trailing_zeros(number).unwrap_or(0);
    let longest = |(item, _): &(usize, &mut [u64])| bit_length(a.get(*item)).max(bit_length(b.get(*item)));
    let bits = rows.iter().map(longest).max().unwrap_or(0);
    let mut len = bits.div_ceil(DIGIT as usize).max(2);
    let (f, g) = space.take(2 * len).split_at_mut(len);
    for lane in 0..V::LANES {
        let item = rows[lane.min(rows.len() - 1)].0;
        let (a, b) = (a.get(item), b.get(item));
        // f and g are the odd parts.
        radix::split_from(a, twos(a), DIGIT, V::LANES, &mut V::words_mut(f)[lane..]);
        radix::split_from(b, twos(b), DIGIT, V::LANES, &mut V::words_mut(g)[lane..]);
    }
    let mut steps = Signed::<V, 1>::start(token);
    while g[..len].iter().any(|digit| digit.any()) {
        let [matrix] = steps.batch([low_bits(&f[..len])], [low_bits(&g[..len])]);
        update(&mut f[..len], &mut g[..len], matrix);
        len = shortened(f, g, len);
    }
    // Now f is the divisor of the odd parts or its negative.
    let sign = f[len - 1].sign();
    negate_where(&mut f[..len], sign);
    for (lane, (item, row)) in rows.iter_mut().enumerate() {
        let digits = &V::words(&f[..len])[lane..];
        let shift = twos(a.get(*item)).min(twos(b.get(*item)));
        radix::join_at(digits, shift, DIGIT, V::LANES, row);
    }
}

/// The digits of two numbers without last digits that hold nothing but the sign of the digit below, in any
/// lane. Two digits stay.
#[inline(always)]
pub(super) fn shortened<V: Vector>(f: &mut [V], g: &mut [V], mut len: usize) -> usize {
    while len > 2 {
        let (top_f, top_g) = (f[len - 1], g[len - 1]);
        if top_f.xor(top_f.sign()).or(top_g.xor(top_g.sign())).any() {
            break;
        }
        len -= 1;
        f[len - 1] = f[len - 1].add(top_f.up::<DIGIT>());
        g[len - 1] = g[len - 1].add(top_g.up::<DIGIT>());
    }
    len
}
