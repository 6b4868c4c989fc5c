//! Steps of a product: the tensor product, digits for key switching, and the drop of a modulus. All of it in
//! residues.

use super::error::Error;
use super::parameters::Parameters;
use modmill::matrix::{BitVectors, ResidueVectors};
use rayon::prelude::*;

/// The tensor product of ciphertexts, folded: `c_i d_i`, and `c_i d_j + c_j d_i` for `i < j`. Its product
/// with the pairs `s_i s_j`, `i <= j`, is `<c, s> <d, s>`.
pub(super) fn tensor(a: &ResidueVectors, b: &ResidueVectors) -> Result<ResidueVectors, Error> {
    let (length, moduli) = (a.length(), a.moduli().clone());
    let pairs = length * (length + 1) / 2;
    let mut products = ResidueVectors::zeros(&moduli, a.count(), pairs)?;
    let planes = a.as_slice().par_chunks(length).zip(b.as_slice().par_chunks(length));
    let planes = products.as_mut_slice().par_chunks_mut(pairs).zip(planes).enumerate();
    planes.for_each(|(index, (out, (a, b)))| {
        let modulus = moduli.words()[index % moduli.len()];
        let mut out = out.iter_mut();
        for i in 0..length {
            for (j, out) in (i..length).zip(&mut out) {
                let first = modulus.mul(a[i], b[j]);
                *out = if i == j { first } else { modulus.add(first, modulus.mul(a[j], b[i])) };
            }
        }
    });
    Ok(products)
}

/// The bits of all residues: for vectors x, bit t of residue i of element e is bit `(i E + e) 32 + t` for the
/// E elements of a vector. A residue is a word of bits already.
pub(super) fn bits_of(vectors: &ResidueVectors) -> Result<BitVectors, Error> {
    let words = vectors.length() * vectors.moduli().len();
    BitVectors::filled(vectors.count(), 32 * words, |bits| {
        bits.copy_from_slice(vectors.as_slice());
        Ok(())
    })
}

/// The digits of `w` bits of all residues, in the same order, as small integers in residues.
pub(super) fn digits_of(vectors: &ResidueVectors, parameters: &Parameters) -> Result<ResidueVectors, Error> {
    let (bits, digits) = (parameters.digit_bits(), parameters.digits());
    let (moduli, words) = (vectors.moduli(), vectors.length() * vectors.moduli().len());
    let mut answer = ResidueVectors::zeros(moduli, vectors.count(), words * digits)?;
    answer.as_mut_slice().par_chunks_mut(words * digits).enumerate().for_each(|(index, plane)| {
        let modulus = moduli.words()[index % moduli.len()];
        for (digits, &residue) in plane.chunks_mut(digits).zip(vectors.vector(index / moduli.len())) {
            for (place, digit) in digits.iter_mut().enumerate() {
                let shifted = u64::from(residue) >> (place as u32 * bits);
                *digit = modulus.reduce(shifted & ((1 << bits) - 1));
            }
        }
    });
    Ok(answer)
}

/// Divides ciphertexts by their last modulus m, which is dropped: `c' = (c + d) / m` with the even d of least
/// absolute value for which m divides `c + d`. As m is odd and d even, `c'` is congruent to c modulo 2, and
/// so the message stays.
///
/// In residues: `d` is `[-c]_m`, or that less m if it is odd; and `c'_i = (c_i + d) m^-1 mod m_i`.
pub(super) fn drop_modulus(vectors: &ResidueVectors) -> Result<ResidueVectors, Error> {
    let (all, length) = (vectors.moduli(), vectors.length());
    let left = all.first(all.len() - 1)?;
    let last = all.words()[left.len()];
    let mut answer = ResidueVectors::zeros(&left, vectors.count(), length)?;
    answer.as_mut_slice().par_chunks_mut(length).enumerate().for_each(|(index, plane)| {
        let (vector, place) = (index / left.len(), index % left.len());
        let modulus = left.words()[place];
        let m = modulus.reduce(last.get().into());
        // The moduli are coprime.
        let inverse = modulus.inverse_vartime(m).unwrap_or(1);
        let (own, dropped) = (vectors.plane(vector, place), vectors.plane(vector, left.len()));
        for ((out, &c), &dropped) in plane.iter_mut().zip(own).zip(dropped) {
            let distance = last.negate(dropped);
            let odd = (distance & 1).wrapping_neg();
            let sum = modulus.add(c, modulus.reduce(distance.into()));
            *out = modulus.mul(modulus.sub(sum, m & odd), inverse);
        }
    });
    Ok(answer)
}
