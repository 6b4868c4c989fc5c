//! Inverses modulo odd numbers, one number a lane, in constant time.

use super::batch::{Half, Signed, low_bits};
use super::cofactors::{Modulus, add_where, canonical, grow, negate_where, reduce, update_modulo};
use super::conversion::{gather, join, split};
use super::update::update;
use super::vector::Vector;
use super::{BATCH, DIGIT, MASK, Space};
use crate::inverse::divsteps::division_steps;
use modmill_core::limbs::inverse_of_odd;

/// Numbers and their odd moduli of at least 3, of at most `bits` bits each.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) numbers: &'a [&'a [u64]],
    pub(crate) moduli: &'a [&'a [u64]],
    pub(crate) bits: usize,
}

/// The groups of lanes that are computed side by side, so that one fills the latencies of the other;
/// measured.
pub(crate) const GROUPS: usize = 2;

/// The digits of numbers whose moduli have at most `bits` bits. d and e are below `2^(60 k) + K n` in
/// magnitude after K batches, of which k had no reduction. K is below `2^11` for all lengths that
/// kernels take.
fn digits(bits: usize) -> usize {
    (bits + 12).div_ceil(DIGIT as usize).max(3)
}

/// Writes the inverses to rows of `stride` limbs. A row is zero if the item has no inverse.
#[inline(always)]
pub(crate) fn inverses<V: Vector>(inputs: Inputs<'_>, space: &mut Space<V>, out: &mut [u64], stride: usize) {
    if inputs.moduli.len() <= V::LANES {
        invert::<V, 1>(inputs, space, out, stride);
    } else {
        invert::<V, GROUPS>(inputs, space, out, stride);
    }
}

/// The numbers of a group of lanes.
struct Group<'a, V> {
    f: &'a mut [V],
    g: &'a mut [V],
    d: &'a mut [V],
    e: &'a mut [V],
    n: &'a mut [V],
}

impl<'a, V: Vector> Group<'a, V> {
    /// The vectors that a group of numbers of `len` digits takes.
    const fn vectors(len: usize) -> usize {
        5 * len
    }

    #[inline(always)]
    fn of(vectors: &'a mut [V]) -> Self {
        let len = vectors.len() / 5;
        let (f, rest) = vectors.split_at_mut(len);
        let (g, rest) = rest.split_at_mut(len);
        let (d, rest) = rest.split_at_mut(len);
        let (e, n) = rest.split_at_mut(len);
        Self { f, g, d, e, n }
    }

    /// Starts with the items from `first` on, and returns the negatives of the inverses of their moduli.
    /// Missing items repeat the last one.
    #[inline(always)]
    fn start(&mut self, zero: V, inputs: Inputs<'_>, first: usize) -> V {
        let Self { f, g, d, n, .. } = self;
        let limbs = &mut d[..inputs.bits.div_ceil(64)];
        for (numbers, digits) in [(inputs.moduli, &mut **n), (inputs.numbers, &mut **g)] {
            gather(&numbers[first..], limbs);
            split(limbs, 0, digits);
        }
        let mut negated_inverse = [zero];
        for lane in 0..V::LANES {
            let item = (first + lane).min(inputs.moduli.len() - 1);
            let inverse = inverse_of_odd(inputs.moduli[item][0]).wrapping_neg();
            V::words_mut(&mut negated_inverse)[lane] = inverse & MASK as u64;
        }
        f.copy_from_slice(n);
        // An even g is replaced by g + n, which is odd.
        let even = g[0].and(zero.with(1)).sub(zero.with(1));
        add_where(g, n, even);
        negated_inverse[0]
    }

    /// Brings d, divided by `2^60` once for each batch without a reduction, to the inverse, and returns
    /// zero in the lanes that have one.
    #[inline(always)]
    fn finish(&mut self, negated_inverse: V, unreduced: usize) -> V {
        let Self { f, d, e, n, .. } = self;
        let last = f.len() - 1;
        // f is 1 or -1 where there is an inverse. The digits of f ^ sign are 1, or 0, and zeros above.
        let sign = f[last].sign();
        let one = sign.with(1);
        let mut others = f[0].xor(sign.digit()).xor(one.sub(one.and(sign)));
        for index in 1..last {
            others = others.or(f[index].xor(sign.digit()));
        }
        others = others.or(f[last].xor(sign));
        negate_where(d, sign);
        for _ in 0..unreduced {
            reduce(d, Modulus { digits: n, negated_inverse });
        }
        canonical(d, n, e);
        others
    }
}

#[inline(always)]
fn invert<V: Vector, const G: usize>(
    inputs: Inputs<'_>,
    space: &mut Space<V>,
    out: &mut [u64],
    stride: usize,
) {
    let token = space.token();
    let zero = V::splat(token, 0);
    let len = digits(inputs.bits);
    let batches = division_steps(inputs.bits + 1).div_ceil(BATCH);
    assert!(batches < 1 << (len * DIGIT as usize - inputs.bits - 1).min(32), "d and e have room");
    // d and e are plain numbers as long as 2^(60 k) is a digit shorter than the room.
    let unreduced = ((len - 1) / 2).min(batches);
    let size = Group::<V>::vectors(len);
    let vectors = space.take(G * size);
    let mut negated_inverses = [zero; G];
    for (k, vectors) in vectors.chunks_exact_mut(size).enumerate() {
        negated_inverses[k] = Group::of(vectors).start(zero, inputs, k * V::LANES);
    }
    let mut steps = Signed::<V, G>::start(token);
    for done in 0..batches {
        let (mut f, mut g) = ([zero; G], [zero; G]);
        for (k, vectors) in vectors.chunks_exact_mut(size).enumerate() {
            let group = Group::of(vectors);
            (f[k], g[k]) = (low_bits(group.f), low_bits(group.g));
        }
        let matrices = steps.batch(f, g);
        for (k, vectors) in vectors.chunks_exact_mut(size).enumerate() {
            let (Group { f, g, d, e, n }, m) = (Group::of(vectors), matrices[k]);
            update(f, g, m);
            if done == 0 {
                // From d = 0 and e = 1.
                d.fill(zero);
                e.fill(zero);
                d[..2].copy_from_slice(&m.v);
                e[..2].copy_from_slice(&m.r);
            } else if done < unreduced {
                grow(d, e, 2 * done, m);
            } else {
                update_modulo(d, e, m, Modulus { digits: n, negated_inverse: negated_inverses[k] });
            }
        }
    }
    let mut rows = out.chunks_exact_mut(stride);
    for (k, vectors) in vectors.chunks_exact_mut(size).enumerate() {
        let mut group = Group::of(vectors);
        let others = [group.finish(negated_inverses[k], unreduced)];
        let limbs = &mut group.e[..inputs.bits.div_ceil(64)];
        join(group.d, 0, limbs);
        for (lane, row) in (0..V::LANES).zip(rows.by_ref()) {
            row.fill(0);
            if V::words(&others)[lane] == 0 {
                let number = V::words(limbs)[lane..].iter().step_by(V::LANES);
                row.iter_mut().zip(number).for_each(|(limb, &joined)| *limb = joined);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divsteps::kernels::Kernels;
    use crate::test_support::Random;

    /// Moduli and numbers of all kinds of at most `bits` bits.
    fn hard(bits: usize, random: &mut Random) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
        let limbs = bits.div_ceil(64);
        let below = |mut number: Vec<u64>| {
            number.resize(limbs, 0);
            number[limbs - 1] &= u64::MAX >> ((64 - bits % 64) % 64);
            number
        };
        let power = |bit: usize| {
            let mut number = vec![0; limbs];
            number[bit / 64] = 1 << (bit % 64);
            number
        };
        let mut kinds =
            vec![below(vec![u64::MAX; limbs]), power(bits - 1), power(0), power(1), vec![0; limbs]];
        kinds.extend((0..6).map(|_| below(random.limbs(limbs))));
        kinds.extend([1, bits / 2, bits - 1].map(|bits| below(random.bits(bits.max(1)))));
        let (mut numbers, mut moduli) = (Vec::new(), Vec::new());
        for n in &kinds {
            let mut n = n.clone();
            n[0] |= 1;
            if n == power(0) {
                n[0] = 3;
            }
            let mut less = n.clone();
            less[0] -= 1;
            for a in kinds.iter().chain([&n, &less]) {
                moduli.push(n.clone());
                numbers.push(a.clone());
            }
        }
        (numbers, moduli)
    }

    fn check<V: Kernels>(token: V::Token) {
        let mut random = Random::new(29);
        let mut space = Space::<V>::new(token);
        for bits in
            [2, 3, 19, 20, 48, 49, 50, 60, 64, 79, 80, 109, 128, 192, 256, 511, 512, 1024, 1111, 2048, 4096]
        {
            let (mut numbers, mut moduli) = hard(bits, &mut random);
            if bits > 600 {
                // Some of them, of all kinds.
                numbers = numbers.into_iter().step_by(7).collect();
                moduli = moduli.into_iter().step_by(7).collect();
            }
            let limbs = bits.div_ceil(64);
            for size in [2 * V::LANES, 1, V::LANES + 1, V::LANES - 1] {
                for (a, n) in
                    numbers.chunks(size).zip(moduli.chunks(size)).take(if size == 16 { 999 } else { 9 })
                {
                    let a: Vec<&[u64]> = a.iter().map(Vec::as_slice).collect();
                    let n: Vec<&[u64]> = n.iter().map(Vec::as_slice).collect();
                    let mut out = vec![7; a.len() * (limbs + 1)];
                    V::inverses(Inputs { numbers: &a, moduli: &n, bits }, &mut space, &mut out, limbs + 1);
                    for ((a, n), row) in a.iter().zip(&n).zip(out.chunks(limbs + 1)) {
                        let used = n.iter().rposition(|&limb| limb > 0).unwrap() + 1;
                        let mut expected =
                            crate::inverse::invert(a, &n[..used]).map_or(vec![], |x| x.to_vec());
                        expected.resize(limbs + 1, 0);
                        assert_eq!(row, expected, "{a:x?} modulo {n:x?}, {bits} bits");
                    }
                }
            }
        }
    }

    #[test]
    fn lanes_agree_with_single_numbers() {
        if let Some(token) = crate::isa::detect_avx512() {
            check::<crate::avx512::words::Eight>(token);
        }
        if let Some(token) = crate::isa::detect_avx2() {
            check::<crate::avx2::words::Four>(token);
        }
    }
}
