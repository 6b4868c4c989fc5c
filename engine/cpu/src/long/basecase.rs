//! Products that are too short for transforms: rows, and Karatsuba's algorithm for longer factors.

use crate::karatsuba;
use crate::scalar::Scalar;
use crate::working_memory::Rows;
use zeroize::Zeroizing;

/// `out <- a b`.
pub(super) fn multiply<S: Scalar>(scalar: S, a: &[u64], b: &[u64], out: &mut [u64]) {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return out.fill(0);
    }
    // Karatsuba's algorithm needs factors of equal length, so the longer factor is cut into pieces.
    let mut pieces = long.chunks_exact(short.len());
    if short.len() == long.len() || short.len() < S::KARATSUBA {
        return karatsuba::product(scalar, short, long, out);
    }
    out.fill(0);
    let mut product = Zeroizing::new(vec![0; 2 * short.len()]);
    let mut halves = Rows::default();
    for (index, piece) in pieces.by_ref().enumerate() {
        karatsuba::multiply(scalar, short, piece, &mut product, &mut halves);
        // The partial sum ends within the range of this piece, so there is no carry out.
        scalar.add_assign(&mut out[index * short.len()..][..2 * short.len()], &product);
    }
    let rest = pieces.remainder();
    if !rest.is_empty() {
        let product = &mut product[..short.len() + rest.len()];
        multiply(scalar, short, rest, product);
        scalar.add_assign(&mut out[long.len() - rest.len()..], product);
    }
}

/// `out <- a^2`.
pub(super) fn square<S: Scalar>(scalar: S, a: &[u64], out: &mut [u64]) {
    karatsuba::square(scalar, a, out, &mut Rows::default());
}
