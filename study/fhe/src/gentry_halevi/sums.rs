//! Sums of products modulo d: all of recryption's arithmetic on ciphertexts.

use super::Error;
use super::column_sums::Output;
use modmill::sums::{ModularSums, SumFactors, Sums};
use modmill::{Batch, Engine, Modulus, Operand, Resident};

/// The modulus d for sums of products, and of numbers alone.
pub(super) struct SumsModulo<'e> {
    modular: ModularSums<'e>,
    /// The number 1, by which numbers alone are multiplied.
    one: SumFactors,
}

impl<'e> SumsModulo<'e> {
    /// For sums of at most `most` products and numbers.
    pub(super) fn new(engine: &'e Engine, modulus: &Modulus, most: usize) -> Result<Self, Error> {
        let modular = ModularSums::new(engine, modulus, most)?;
        let one = modular.factors(&Batch::from_values([[1].as_slice()]))?;
        Ok(Self { modular, one })
    }

    /// Transforms numbers below d, which may then stand in many products.
    pub(super) fn factors<'a>(&self, numbers: impl Into<Operand<'a>>) -> Result<SumFactors, Error> {
        Ok(self.modular.factors(numbers)?)
    }

    /// `sum_t left_t (sum of rights_t) mod d` for each output. Indices run through all groups of factors, one
    /// after the other.
    pub(super) fn sums<'a>(
        &self,
        groups: &[&SumFactors],
        outputs: impl IntoIterator<Item = &'a Output>,
    ) -> Result<Resident, Error> {
        let one = groups.iter().map(|group| group.len()).sum();
        let mut sums = Sums::default();
        for output in outputs {
            sums.push(output.iter().map(|term| (term.left.unwrap_or(one), &term.rights[..])));
        }
        let groups: Vec<&SumFactors> = groups.iter().copied().chain([&self.one]).collect();
        Ok(self.modular.sums_of_products(&groups, &sums)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::column_sums::Term;
    use super::*;
    use crate::gentry_halevi::random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn sums_are_those_of_other_arithmetic() {
        let engine = Engine::builder().threads(2).build().unwrap();
        for bits in [65, 128, 700, 40_000] {
            let mut d = random::below(&vec![u64::MAX; bits / 64 + 1], bits, 1).unwrap();
            d.get_mut(0)[0] |= 1;
            d.get_mut(0)[(bits - 1) / 64] |= 1 << ((bits - 1) % 64);
            let modulus = Modulus::new(d.get(0)).unwrap();
            let modulo = SumsModulo::new(&engine, &modulus, 1000).unwrap();
            let [first, second] = [5, 12].map(|count| random::below(modulus.value(), bits, count).unwrap());
            let numbers: Vec<BigUint> = first.iter().chain(second.iter()).map(big).collect();
            let groups = [&first, &second].map(|batch| modulo.factors(batch).unwrap());
            let term = |left, rights: &[usize]| Term { left, rights: rights.to_vec() };
            let all: Vec<usize> = (0..17).collect();
            // No terms, sums alone, products alone, both, and many products.
            let outputs: [Output; 5] = [
                vec![],
                vec![term(None, &all), term(None, &[3, 3, 3])],
                vec![term(Some(0), &[16])],
                vec![term(Some(4), &all), term(None, &[5]), term(Some(5), &[4, 4])],
                (0..67).map(|index| term(Some(index % 17), &all[..1 + index % 16])).collect(),
            ];
            let found = modulo.sums(&groups.each_ref(), &outputs).unwrap().download().unwrap();
            assert_eq!(found.len(), outputs.len());
            for (found, output) in found.iter().zip(&outputs) {
                let value = |term: &Term| {
                    let rights: BigUint = term.rights.iter().map(|&right| &numbers[right]).sum();
                    term.left.map_or(rights.clone(), |left| &numbers[left] * &rights)
                };
                let sum: BigUint = output.iter().map(value).sum();
                assert_eq!(big(found), sum % big(modulus.value()), "{bits} bits");
            }
        }
    }
}
