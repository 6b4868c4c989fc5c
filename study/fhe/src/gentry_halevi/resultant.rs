//! The determinant of a lattice and two coefficients of its inverse, by halving.
//!
//! For a polynomial v modulo `x^N + 1` let `v(x) = e(x^2) + x o(x^2)`. The product
//! `v(x) v(-x) = e(y)^2 - y o(y)^2` with `y = x^2` has half as many coefficients modulo `y^(N/2) + 1`, of
//! twice the length. After log2 N such steps the resultant d of v and `x^N + 1` is left. A numerator u that
//! is multiplied by the same `v(-x)` on the way, with its even part kept, `a(y) e(y) - y b(y) o(y)` for
//! `u(x) = a(x^2) + x b(x^2)`, ends as the constant coefficient of `d u / v`. With `u = 1` and `u = -x^(n-1)`
//! these are the coefficients w_0 and w_1 of the scaled inverse w, `w v = d`.

use super::Error;
use super::kronecker::{fold, pack, sign, subtract_shifted, unpack};
use modmill::{Batch, Engine};
use modmill_core::limbs::negate;
use rayon::prelude::*;
use zeroize::Zeroizing;

/// A polynomial: coefficients in two's complement of `stride` limbs, each of magnitude below `2^bits`.
pub(super) struct Coefficients {
    pub(super) limbs: Zeroizing<Vec<u64>>,
    pub(super) stride: usize,
    pub(super) bits: usize,
}

impl Coefficients {
    fn len(&self) -> usize {
        self.limbs.len() / self.stride
    }

    /// The coefficients of even or of odd index.
    fn half(&self, is_odd: bool) -> impl Iterator<Item = &[u64]> {
        self.limbs.chunks(self.stride).skip(usize::from(is_odd)).step_by(2)
    }

    /// The polynomial of the coefficients of even or of odd index.
    fn take_half(&self, is_odd: bool) -> Self {
        Self { limbs: Zeroizing::new(self.half(is_odd).flatten().copied().collect()), ..*self }
    }
}

/// The resultant d and the coefficients w_0 and w_1, in two's complement.
pub(super) struct Resultant {
    pub(super) d: Zeroizing<Vec<u64>>,
    pub(super) w: [Zeroizing<Vec<u64>>; 2],
}

/// The resultant of v and `x^n + 1` for a power of two n, the number of coefficients. `progress` is called
/// after each of log2 n steps.
pub(super) fn resultant(
    engine: &Engine,
    v: &Coefficients,
    mut progress: impl FnMut(),
) -> Result<Resultant, Error> {
    // The first step, without products for the numerators: 1 v(-x) has the even part e, and -x^(n-1) v(-x)
    // has -o.
    let zero = v.take_half(false);
    let mut one = v.take_half(true);
    one.limbs.chunks_mut(one.stride).for_each(negate);
    let mut polynomials = halve(engine, &[v])?;
    polynomials.extend([zero, one]);
    progress();
    while polynomials[0].len() > 1 {
        polynomials = halve(engine, &polynomials.iter().collect::<Vec<_>>())?;
        progress();
    }
    let mut last = polynomials.into_iter().map(|polynomial| polynomial.limbs);
    let mut next = || last.next().unwrap_or_default();
    Ok(Resultant { d: next(), w: [next(), next()] })
}

/// One step: the first polynomial is v, the others are numerators.
fn halve(engine: &Engine, polynomials: &[&Coefficients]) -> Result<Vec<Coefficients>, Error> {
    let v = polynomials[0];
    let half = v.len() / 2;
    let widest = polynomials.iter().map(|polynomial| polynomial.bits).max().unwrap_or(0);
    // A coefficient of a product of two polynomials is a sum of `half` products, and one more bit is for the
    // difference of two products.
    let sum_bits = v.bits + widest + half.ilog2() as usize + 1;
    // One more for the sign.
    let slot = (sum_bits + 1).div_ceil(64);
    let pack_all = |polynomials: &[&Coefficients]| {
        let mut packed = Batch::try_zeros(64 * slot * half, 2 * polynomials.len())?;
        let stride = packed.stride();
        let rows = packed.as_limbs_mut().par_chunks_mut(stride).enumerate();
        let signs: Vec<bool> = engine.install(|| {
            rows.map(|(row, out)| pack(polynomials[row / 2].half(row % 2 == 1), slot, out)).collect()
        });
        Ok::<_, Error>((packed, signs))
    };
    let (factors, factor_signs) = pack_all(&vec![v; polynomials.len()])?;
    let (packed, signs) = pack_all(polynomials)?;
    let mut products = engine.mul(&packed, &factors)?;
    drop((packed, factors));
    let is_negative: Vec<bool> = signs.iter().zip(factor_signs).map(|(a, b)| a != &b).collect();
    let pair = 2 * products.stride();
    let pairs = products
        .as_limbs_mut()
        .par_chunks_mut(pair)
        .zip(is_negative.par_chunks(2))
        .zip(polynomials.par_iter());
    let finish = |((pair, is_negative), polynomial): ((&mut [u64], &[bool]), &&Coefficients)| {
        let (even, odd) = pair.split_at_mut(pair.len() / 2);
        subtract_shifted(even, is_negative[0], odd, is_negative[1], slot);
        unpack(even, slot);
        fold(even, slot);
        // Each is a sum of 2 half products.
        let bits = v.bits + polynomial.bits + half.ilog2() as usize + 1;
        shortened(&even[..half * slot], slot, bits)
    };
    Ok(engine.install(|| pairs.map(finish).collect()))
}

/// Coefficients of fewer limbs, which are enough for `bits` bits and a sign.
fn shortened(coefficients: &[u64], slot: usize, bits: usize) -> Coefficients {
    let stride = bits / 64 + 1;
    let mut limbs = Zeroizing::new(vec![0; coefficients.len() / slot * stride]);
    for (out, coefficient) in limbs.chunks_mut(stride).zip(coefficients.chunks(slot)) {
        let used = stride.min(slot);
        out[..used].copy_from_slice(&coefficient[..used]);
        out[used..].fill(sign(coefficient));
    }
    Coefficients { limbs, stride, bits }
}
