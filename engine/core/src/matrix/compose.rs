//! From integers to residues and back.

use super::moduli::{ResidueModuli, residue_of};
use super::vectors::ResidueVectors;
use crate::error::Error;
use crate::{Batch, limbs};
use zeroize::Zeroizing;

impl ResidueModuli {
    /// The residues of numbers, as one vector with an element for each number. Numbers may be any; they count
    /// modulo M.
    pub fn decompose(&self, numbers: &Batch) -> Result<ResidueVectors, Error> {
        let mut residues = ResidueVectors::zeros(self, 1, numbers.len())?;
        let length = numbers.len();
        for (index, number) in numbers.iter().enumerate() {
            for (place, modulus) in self.words().iter().enumerate() {
                residues.as_mut_slice()[place * length + index] = residue_of(*modulus, number);
            }
        }
        Ok(residues)
    }

    /// The integers below M with these residues: one number for each element, vector after vector.
    ///
    /// By the Chinese remainder theorem `x = sum_i y_i (M / m_i) mod M` with
    /// `y_i = x_i (M / m_i)^-1 mod m_i`. The sum is below k M; multiples `2^t M` are subtracted under masks,
    /// so that the instructions are the same for all residues.
    pub fn compose(&self, residues: &ResidueVectors) -> Result<Batch, Error> {
        if residues.moduli() != self {
            return Err(Error::OtherModuli);
        }
        let joint = self.joint();
        let (length, limb_count) = (residues.length(), joint.product.len());
        let mut numbers = Batch::try_zeros(self.bits(), residues.count() * length)?;
        let mut sum = Zeroizing::new(vec![0u64; limb_count + 1]);
        let shifts = usize::BITS - self.len().leading_zeros();
        let multiples: Vec<Vec<u64>> = (0..shifts)
            .rev()
            .map(|shift| {
                let mut multiple = vec![0; limb_count + 1];
                limbs::shift_left(&joint.product, shift as usize, &mut multiple);
                multiple
            })
            .collect();
        for index in 0..residues.count() * length {
            let (vector, element) = (index / length, index % length);
            sum.fill(0);
            for (place, modulus) in self.words().iter().enumerate() {
                let digit = modulus.mul(residues.plane(vector, place)[element], joint.inverses[place]);
                add_multiple(&mut sum, &joint.cofactors[place], digit);
            }
            multiples.iter().for_each(|multiple| {
                limbs::reduce_once(&mut sum, multiple);
            });
            let number = numbers.get_mut(index);
            let count = number.len();
            number.copy_from_slice(&sum[..count]);
        }
        Ok(numbers)
    }
}

/// `sum += factor number`; the sum has a limb more than the number.
fn add_multiple(sum: &mut [u64], number: &[u64], factor: u32) {
    let mut carry = 0;
    for (place, &limb) in number.iter().enumerate() {
        let total = u128::from(limb) * u128::from(factor) + u128::from(sum[place]) + carry;
        sum[place] = total as u64;
        carry = total >> 64;
    }
    sum[number.len()] = sum[number.len()].wrapping_add(carry as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn number(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    #[test]
    fn integers_come_back() {
        for count in [1, 2, 3, 31, 32, 33] {
            let moduli = ResidueModuli::largest(count).unwrap();
            let product = number(moduli.product());
            let one = BigUint::from(1u8);
            let hard = [
                BigUint::ZERO,
                one.clone(),
                &product - &one,
                &product >> 1,
                product.clone(),
                &product + &one,
            ];
            let batch = Batch::from_values(hard.iter().map(BigUint::to_u64_digits));
            let residues = moduli.decompose(&batch).unwrap();
            for (place, modulus) in moduli.words().iter().enumerate() {
                for (element, hard) in hard.iter().enumerate() {
                    assert_eq!(BigUint::from(residues.plane(0, place)[element]), hard % modulus.get());
                }
            }
            let back = moduli.compose(&residues).unwrap();
            for (found, hard) in back.iter().zip(&hard) {
                assert_eq!(number(found), hard % &product, "{count} moduli");
            }
        }
    }

    #[test]
    fn vectors_of_other_moduli_are_refused() {
        let (few, many) = (ResidueModuli::largest(1).unwrap(), ResidueModuli::largest(2).unwrap());
        let vectors = ResidueVectors::zeros(&few, 1, 1).unwrap();
        assert_eq!(many.compose(&vectors), Err(Error::OtherModuli));
    }
}
