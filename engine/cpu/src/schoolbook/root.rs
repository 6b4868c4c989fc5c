//! Integer square roots.

use super::divide::{Numbers, Rows};
use super::estimate::{leading, nearest, root_factors, second_digit, signed};
use super::rows::{add_row, add_two_rows, carry, pass_carries};
use super::{GROUPS, ROWS, shift};
use crate::divsteps::conversion::{gather, join, scatter, split};
use crate::divsteps::vector::Vector;
use crate::divsteps::{DIGIT, Space};
use crate::inverse_root::START;

/// Numbers and the rows of their roots.
pub(crate) struct Roots<'a> {
    pub(crate) numbers: Numbers<'a>,
    pub(crate) rows: Rows<'a>,
}

/// The lengths of square roots. A number is shifted up by `offset` bits, and by an even number of bits that
/// puts a bit into the top two of its limbs.
#[derive(Clone, Copy)]
struct Lengths {
    /// Limbs of the numbers.
    limbs: usize,
    /// Digits of the roots.
    root: usize,
    offset: usize,
}

impl Lengths {
    fn new(bits: usize) -> Self {
        let (width, limbs) = (DIGIT as usize, bits.div_ceil(64));
        // The highest digit of a root is between 2^28 and 2^29.
        let root = (64 * limbs + 2).div_ceil(2 * width).max(2);
        Self { limbs, root, offset: 2 * width * root - 2 - 64 * limbs }
    }

    /// The vectors that a group of lanes takes.
    fn vectors(self) -> usize {
        self.limbs + 3 * self.root + 1
    }
}

/// The numbers of a group of lanes.
struct Group<'a, V> {
    limbs: &'a mut [V],
    /// The root's digits times -2; zero before they are known.
    doubled: &'a mut [V],
    /// The part of the number that the square of the root leaves.
    window: &'a mut [V],
}

/// The values that a group of lanes keeps in registers.
#[derive(Clone, Copy)]
struct Scalars<V> {
    /// The factor that makes digits of leading digits.
    factor: V,
    shift: Shift<V>,
}

impl<'a, V: Vector> Group<'a, V> {
    #[inline(always)]
    fn of(vectors: &'a mut [V], lengths: Lengths) -> Self {
        let (limbs, rest) = vectors.split_at_mut(lengths.limbs);
        let (doubled, window) = rest.split_at_mut(lengths.root);
        Self { limbs, doubled, window }
    }

    /// Splits the numbers from `first` on, and finds the first two digits of their roots. Missing items
    /// repeat the last one.
    #[inline(always)]
    fn start(mut self, lengths: Lengths, numbers: Numbers<'_>, first: usize, zero: V) -> Scalars<V> {
        let Self { limbs, doubled, window } = &mut self;
        gather(&numbers.limbs[first..], limbs);
        let shift = normalise(limbs);
        let last = 2 * lengths.root;
        split(limbs, lengths.offset, &mut window[..last]);
        window[last] = zero;
        doubled.fill(zero);
        let (factor, root) = root_factors(window[last - 1], window[last - 2], START);
        let digit = nearest(root, root.double(1.0));
        let square = digit.times(digit);
        window[last - 2] = window[last - 2].sub(square).add(window[last - 1].up::<DIGIT>());
        doubled[lengths.root - 1] = double_and_negate(digit);
        // The divisor of the second digit is the first digit alone.
        let digit = second_digit(self.leading(lengths.root - 2), factor);
        self.step(lengths.root - 2, digit);
        Scalars { factor, shift }
    }

    /// The leading digits of the window of digit i.
    #[inline(always)]
    fn leading(&self, i: usize) -> V {
        let top = i + self.doubled.len();
        leading([self.window[top], self.window[top - 1], self.window[top - 2]])
    }

    /// Takes digit i of the root from what is left.
    #[inline(always)]
    fn step(self, i: usize, digit: V) {
        let top = i + self.doubled.len();
        add_row(&mut self.window[2 * i + 1..top], &self.doubled[i + 1..], digit);
        self.window[2 * i] = self.window[2 * i].sub(digit.times(digit));
        self.window[top - 1] = self.window[top - 1].add(self.window[top].up::<DIGIT>());
        self.doubled[i] = double_and_negate(digit);
    }

    /// Finds the digits i + 1 and i, and takes them from the digits at the top of the window alone, where
    /// three digits above them are known.
    #[inline(always)]
    fn begin_two(self, i: usize, factor: V) -> [V; 2] {
        let (len, top) = (self.doubled.len(), i + 1 + self.doubled.len());
        let [n2, n1, n0] = [self.doubled[len - 3], self.doubled[len - 2], self.doubled[len - 1]];
        let high = nearest(self.leading(i + 1), factor);
        let w = &mut self.window[top - 3..=top];
        let first = w[2].add(w[3].up::<DIGIT>()).add(high.times(n0));
        let (second, third) = (w[1].add(high.times(n1)), w[0].add(high.times(n2)));
        let low = nearest(leading([first, second, third]), factor);
        w[0] = third.add(low.times(n1));
        w[1] = second.add(low.times(n0)).add(first.up::<DIGIT>());
        [low, high]
    }

    /// Takes the digits of [`Self::begin_two`] from the rest of the window.
    #[inline(always)]
    fn finish_two(self, i: usize, [low, high]: [V; 2]) {
        let known = self.doubled.len() - 2;
        self.doubled[i + 1] = double_and_negate(high);
        self.doubled[i] = double_and_negate(low);
        // The digits above i + 1, but for the two highest; the products of the two digits follow.
        add_two_rows(&mut self.window[2 * i + 2..], &self.doubled[i + 2..known], [low, high]);
        let products = [low.times(low), low.times(self.doubled[i + 1]), high.times(high)];
        let w = &mut self.window[2 * i..];
        w[0] = w[0].sub(products[0]);
        w[1] = w[1].add(products[1]);
        w[2] = w[2].sub(products[2]);
    }

    /// Passes the carries of the window whose lowest digit is 2 i.
    #[inline(always)]
    fn pass_carries(self, i: usize) {
        pass_carries(&mut self.window[2 * i..i + self.doubled.len()]);
    }

    /// Completes the digits of the roots, and writes them to their rows.
    #[inline(always)]
    fn finish(self, lengths: Lengths, shift: Shift<V>, rows: Rows<'_>) {
        let Self { limbs, doubled, window } = self;
        let zero = window[0].with(0);
        // If the rest is negative, the root is one too large.
        let mut above = carry(&mut window[..lengths.root], zero);
        for digit in doubled.iter_mut() {
            let word = above.sub(signed(*digit).floor::<1>());
            (*digit, above) = (word.digit(), word.floor::<DIGIT>());
        }
        let root = &mut limbs[..rows.stride];
        join(doubled, lengths.offset / 2, root);
        shift.undo_half(root);
        scatter(root, rows.limbs, rows.stride);
    }
}

/// `-2 x` for a signed low half.
#[inline(always)]
fn double_and_negate<V: Vector>(digit: V) -> V {
    digit.with(0).sub(digit.add(digit))
}

/// A shift in whole limbs and in an even number of bits below 64, for each lane.
#[derive(Clone, Copy)]
struct Shift<V> {
    limbs: V,
    bits: V,
}

/// All ones where a word is zero.
#[inline(always)]
fn is_zero<V: Vector>(word: V) -> V {
    let ones = word.with(-1);
    word.or(word.with(0).sub(word)).sign().xor(ones)
}

/// `b` where the mask is set, and `a` elsewhere.
#[inline(always)]
fn choose<V: Vector>(a: V, b: V, mask: V) -> V {
    a.xor(mask.and(a.xor(b)))
}

/// Shifts numbers up by an even number of bits, so that their top two bits are not both zero. Zero gets a bit
/// instead, and is shifted by its whole length.
#[inline(always)]
fn normalise<V: Vector>(limbs: &mut [V]) -> Shift<V> {
    let (len, zero) = (limbs.len(), limbs[0].with(0));
    let mut shift = Shift { limbs: zero, bits: zero };
    let mut step = len.next_power_of_two() / 2;
    while step > 0 {
        let mut all = zero;
        for limb in &limbs[len - step..] {
            all = all.or(*limb);
        }
        let empty = is_zero(all);
        for place in (0..len).rev() {
            let below = if place < step { zero } else { limbs[place - step] };
            limbs[place] = choose(limbs[place], below, empty);
        }
        shift.limbs = shift.limbs.add(empty.and(zero.with(step as i64)));
        step /= 2;
    }
    let nothing = is_zero(limbs[len - 1]);
    shift.limbs = choose(shift.limbs, zero.with(len as i64), nothing);
    limbs[len - 1] = limbs[len - 1].or(nothing.and(zero.with(1 << 62)));
    let mut top = limbs[len - 1];
    macro_rules! find {
        ($($bits:literal)*) => {$(
            let empty = is_zero(top.down::<{ 64 - $bits }>());
            top = choose(top, top.up::<$bits>(), empty);
            shift.bits = shift.bits.add(empty.and(zero.with($bits)));
        )*};
    }
    find!(32 16 8 4 2);
    let _ = top;
    shift::up(limbs, shift.bits);
    shift
}

impl<V: Vector> Shift<V> {
    /// Shifts roots down by half as many bits.
    #[inline(always)]
    fn undo_half(self, root: &mut [V]) {
        let (zero, len) = (self.limbs.with(0), root.len());
        // Half of an odd number of limbs is 32 bits more.
        shift::down(root, self.bits.down::<1>().add(self.limbs.and(zero.with(1)).up::<5>()));
        let mut limbs = self.limbs.down::<1>();
        let mut step = 1;
        while step <= len {
            let chosen = zero.sub(limbs.and(zero.with(1)));
            for place in 0..len {
                let from = if place + step < len { root[place + step] } else { zero };
                root[place] = choose(root[place], from, chosen);
            }
            limbs = limbs.down::<1>();
            step *= 2;
        }
    }
}

/// Writes the roots of some numbers, one for each lane of [`GROUPS`] vectors at most, to rows of half as many
/// limbs, rounded up. The time depends on the declared width.
#[inline(always)]
pub(crate) fn roots<V: Vector>(roots: Roots<'_>, space: &mut Space<V>) {
    if roots.numbers.limbs.len() <= V::LANES {
        roots_of_groups::<V, 1>(roots, space);
    } else {
        roots_of_groups::<V, GROUPS>(roots, space);
    }
}

#[inline(always)]
fn roots_of_groups<V: Vector, const G: usize>(roots: Roots<'_>, space: &mut Space<V>) {
    let Roots { numbers, mut rows } = roots;
    let (lengths, zero) = (Lengths::new(numbers.bits), V::splat(space.token(), 0));
    let size = lengths.vectors();
    let vectors = space.take(G * size);
    let mut scalars = [Scalars { factor: zero, shift: Shift { limbs: zero, bits: zero } }; G];
    for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
        scalars[k] = Group::of(part, lengths).start(lengths, numbers, k * V::LANES, zero);
    }
    // Two rows are added, and two digits are known. Pairs need three.
    let (mut left, mut added) = (lengths.root - 2, 2);
    let singles = if left > 1 { 1 + (left - 1) % 2 } else { left };
    for _ in 0..singles {
        left -= 1;
        added += 1;
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            let group = Group::of(part, lengths);
            let digit = nearest(group.leading(left), scalars[k].factor);
            group.step(left, digit);
        }
    }
    while left > 0 {
        left -= 2;
        if added + 2 > ROWS {
            added = 0;
            for part in vectors.chunks_exact_mut(size) {
                Group::of(part, lengths).pass_carries(left + 2);
            }
        }
        added += 2;
        let mut digits = [[zero; 2]; G];
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            digits[k] = Group::of(part, lengths).begin_two(left, scalars[k].factor);
        }
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            Group::of(part, lengths).finish_two(left, digits[k]);
        }
    }
    for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
        Group::of(part, lengths).finish(lengths, scalars[k].shift, rows.take(V::LANES));
    }
}
