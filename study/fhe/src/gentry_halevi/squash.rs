//! The secret key as a sum of s multiples of public numbers, `w = sum_i x_i R^(l_i) mod d`.

use super::residue::{add_mod, negate_mod};
use super::{Error, Setting, random};
use modmill::{Batch, Engine, Modulus};
use modmill_core::limbs::add_assign;
use zeroize::Zeroizing;

/// The numbers x_i, which are public, and the secret places l_i.
pub(super) struct Squash {
    pub(super) multipliers: Batch,
    pub(super) places: Zeroizing<Vec<usize>>,
}

impl Squash {
    /// Draws all numbers but the last, all places, and computes the last number.
    pub(super) fn draw(
        engine: &Engine,
        setting: &Setting,
        modulus: &Modulus,
        w: &Batch,
    ) -> Result<Self, Error> {
        let (s, d) = (setting.blocks(), modulus.value());
        let places: Result<Vec<usize>, Error> =
            (0..s).map(|_| random::index_below(setting.multiples())).collect();
        let places = Zeroizing::new(places?);
        let first = random::below(d, modulus.bits(), s - 1)?;
        let longest = setting.ratio_bits() * (setting.multiples() - 1);
        let mut powers = Batch::try_zeros(longest + 1, s - 1)?;
        for (index, place) in places[..s - 1].iter().enumerate() {
            let bit = setting.ratio_bits() * place;
            powers.get_mut(index)[bit / 64] = 1 << (bit % 64);
        }
        let summands = engine.mul_mod(&first, &powers, modulus)?;
        let mut rest = Batch::try_zeros(modulus.bits(), 1)?;
        for summand in summands.iter() {
            add_mod(rest.get_mut(0), summand, d);
        }
        negate_mod(rest.get_mut(0), d);
        add_mod(rest.get_mut(0), w.get(0), d);
        // R^-l as a power of 1/2, whose exponent is as wide as any.
        let mut half = Batch::try_zeros(modulus.bits(), 1)?;
        half.get_mut(0).copy_from_slice(d);
        halve_odd(half.get_mut(0));
        let mut exponent = Batch::try_zeros(longest.ilog2() as usize + 1, 1)?;
        exponent.get_mut(0)[0] = (setting.ratio_bits() * places[s - 1]) as u64;
        let inverse = engine.pow(&half, &exponent, modulus)?;
        let last = engine.mul_mod(&rest, &inverse, modulus)?;
        Ok(Self { multipliers: first.try_followed_by(last.view())?, places })
    }
}

/// `(x + 1) / 2` in place, for an odd x.
fn halve_odd(x: &mut [u64]) {
    let above = x.iter().skip(1).map(|limb| limb << 63).chain([0]).collect::<Vec<_>>();
    for (limb, above) in x.iter_mut().zip(above) {
        *limb = *limb >> 1 | above;
    }
    add_assign(x, &[1]);
}
