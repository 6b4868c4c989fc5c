//! Greatest common divisors of public numbers, one pair a lane.

use super::batch::{Half, Signed, low_bits};
use super::cofactors::negate_where;
use super::inverse::GROUPS;
use super::update::update;
use super::vector::Vector;
use super::{DIGIT, Space};
use modmill_core::limbs::{bit_length, trailing_zeros};
use modmill_core::{Operand, radix};

/// Writes the greatest common divisors of some items to their rows: of one for each lane of [`GROUPS`]
/// vectors at most. No number is zero. The lanes take the steps of the pair that takes most.
#[inline(always)]
pub(crate) fn divisors<V: Vector>(
    pair: [Operand<'_>; 2],
    rows: &mut [(usize, &mut [u64])],
    space: &mut Space<V>,
) {
    if rows.len() <= V::LANES {
        in_groups::<V, 1>(pair, rows, space);
    } else {
        in_groups::<V, GROUPS>(pair, rows, space);
    }
}

#[inline(always)]
fn in_groups<V: Vector, const G: usize>(
    [a, b]: [Operand<'_>; 2],
    rows: &mut [(usize, &mut [u64])],
    space: &mut Space<V>,
) {
    let zero = V::splat(space.token(), 0);
    let mut steps = Signed::<V, G>::start(space.token());
    let twos = |number: &[u64]| trailing_zeros(number).unwrap_or(0);
    let longest =
        |(item, _): &(usize, &mut [u64])| bit_length(a.limbs(*item)).max(bit_length(b.limbs(*item)));
    let bits = rows.iter().map(longest).max().unwrap_or(0);
    let len = bits.div_ceil(DIGIT as usize).max(2);
    let vectors = space.take(2 * G * len);
    for (k, vectors) in vectors.chunks_exact_mut(2 * len).enumerate() {
        let (f, g) = vectors.split_at_mut(len);
        for lane in 0..V::LANES {
            let item = rows[(k * V::LANES + lane).min(rows.len() - 1)].0;
            let (a, b) = (a.limbs(item), b.limbs(item));
            // f and g are the odd parts.
            radix::split_from(a, twos(a), DIGIT, V::LANES, &mut V::words_mut(f)[lane..]);
            radix::split_from(b, twos(b), DIGIT, V::LANES, &mut V::words_mut(g)[lane..]);
        }
    }
    let mut lens = [len; G];
    loop {
        let (mut low_f, mut low_g, mut is_done) = ([zero; G], [zero; G], true);
        for (k, vectors) in vectors.chunks_exact(2 * len).enumerate() {
            let (f, g) = (&vectors[..lens[k]], &vectors[len..][..lens[k]]);
            (low_f[k], low_g[k]) = (low_bits(f), low_bits(g));
            is_done &= !g.iter().any(|digit| digit.any());
        }
        if is_done {
            break;
        }
        let matrices = steps.batch(low_f, low_g);
        for (k, vectors) in vectors.chunks_exact_mut(2 * len).enumerate() {
            let (f, g) = vectors.split_at_mut(len);
            update(&mut f[..lens[k]], &mut g[..lens[k]], matrices[k]);
            lens[k] = shortened(f, g, lens[k]);
        }
    }
    for (k, vectors) in vectors.chunks_exact_mut(2 * len).enumerate() {
        // Now f is the divisor of the odd parts or its negative.
        let f = &mut vectors[..lens[k]];
        negate_where(f, f[lens[k] - 1].sign());
        for (lane, (item, row)) in rows.iter_mut().skip(k * V::LANES).take(V::LANES).enumerate() {
            let shift = twos(a.limbs(*item)).min(twos(b.limbs(*item)));
            radix::join_at(&V::words(f)[lane..], shift, DIGIT, V::LANES, row);
        }
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
