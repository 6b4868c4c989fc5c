//! Shifts of limbs side by side by the bits of each lane.

use crate::divsteps::vector::Vector;

/// `limbs <- 2^bits limbs`, for the bits of each lane, up to 63. Bits above the last limb are left out.
#[inline(always)]
pub(super) fn up<V: Vector>(limbs: &mut [V], bits: V) {
    let rest = bits.with(64).sub(bits);
    for index in (1..limbs.len()).rev() {
        limbs[index] = limbs[index].up_each(bits).or(limbs[index - 1].down_each(rest));
    }
    limbs[0] = limbs[0].up_each(bits);
}

/// `limbs <- limbs / 2^bits`, for the bits of each lane, up to 63.
#[inline(always)]
pub(super) fn down<V: Vector>(limbs: &mut [V], bits: V) {
    let (rest, last) = (bits.with(64).sub(bits), limbs.len() - 1);
    for index in 0..last {
        limbs[index] = limbs[index].down_each(bits).or(limbs[index + 1].up_each(rest));
    }
    limbs[last] = limbs[last].down_each(bits);
}
