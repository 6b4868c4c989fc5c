//! Conversion between limbs and the digits of several numbers side by side.

use super::DIGIT;
use super::vector::Vector;

/// Writes the digits of a number in each lane. Missing numbers repeat the last one, and bits above the digits
/// are left out. `limbs` is space for a limb more than a number of `out` has.
#[inline(always)]
pub(super) fn split<V: Vector>(numbers: &[&[u64]], limbs: &mut [V], out: &mut [V]) {
    let (len, zero) = (limbs.len() - 1, limbs[0].with(0));
    limbs.fill(zero);
    for lane in 0..V::LANES {
        let number = numbers[lane.min(numbers.len() - 1)];
        let places = V::words_mut(&mut limbs[..len])[lane..].iter_mut().step_by(V::LANES);
        places.zip(number).for_each(|(place, &limb)| *place = limb);
    }
    for (index, digit) in out.iter_mut().enumerate() {
        let (limb, shift) = (index * DIGIT as usize / 64, index * DIGIT as usize % 64);
        *digit = match limbs.get(limb..limb + 2) {
            // A shift by 64 gives zero.
            Some(pair) => pair[0].down_by(shift).or(pair[1].up_by(64 - shift)).digit(),
            None => zero,
        };
    }
}

/// Joins digits to limbs, of which `limbs` has room for as many as wanted.
#[inline(always)]
pub(super) fn join<V: Vector>(digits: &[V], limbs: &mut [V]) {
    let width = DIGIT as usize;
    for (index, limb) in limbs.iter_mut().enumerate() {
        // At most four digits overlap a limb; the first of them may start in the limb below.
        let first = 64 * index / width;
        let mut joined = digits[first].down_by(64 * index - first * width);
        let end = (64 * index + 63) / width + 1;
        for (next, digit) in digits.iter().enumerate().take(end).skip(first + 1) {
            joined = joined.or(digit.up_by(next * width - 64 * index));
        }
        *limb = joined;
    }
}
