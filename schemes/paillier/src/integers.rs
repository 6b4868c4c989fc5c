//! Columns of signed integers.

use crate::rows::CHUNK;
use crate::{Error, PublicKey};
use modmill::memory::try_vector;
use modmill::threads::Share;
use modmill::{Batch, number};
use rayon::prelude::*;
use std::ops::Range;

/// Signed integers: magnitudes and signs. Multipliers of ciphertexts are given in this form, and so are
/// numbers to encode.
///
/// ```
/// use modmill_paillier::Integers;
///
/// let integers = Integers::from_i64(&[3, -5]);
/// assert_eq!((integers.len(), integers.magnitudes().get(1)[0], integers.is_negative(1)), (2, 5, true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integers {
    magnitudes: Batch,
    negative: Vec<bool>,
}

impl Integers {
    /// Integers from magnitudes and from whether each is negative. The declared width of the magnitudes is
    /// public.
    pub fn new(magnitudes: Batch, negative: Vec<bool>) -> Result<Self, Error> {
        if negative.len() != magnitudes.len() {
            let (expected, found) = (magnitudes.len(), negative.len());
            return Err(Error::LengthMismatch { what: "the signs", expected, found });
        }
        Ok(Self { magnitudes, negative })
    }

    /// Integers that are not negative.
    #[must_use]
    pub fn from_batch(magnitudes: Batch) -> Self {
        let negative = vec![false; magnitudes.len()];
        Self { magnitudes, negative }
    }

    /// Integers of 64 bits.
    ///
    /// # Panics
    /// If memory runs out.
    #[must_use]
    pub fn from_i64(values: &[i64]) -> Self {
        let mut magnitudes = Batch::zeros(64, values.len());
        for (limb, value) in magnitudes.as_limbs_mut().iter_mut().zip(values) {
            *limb = value.unsigned_abs();
        }
        Self { magnitudes, negative: values.iter().map(|&value| value < 0).collect() }
    }

    /// Integers of 128 bits.
    ///
    /// # Panics
    /// If memory runs out.
    #[must_use]
    pub fn from_i128(values: &[i128]) -> Self {
        let mut magnitudes = Batch::zeros(128, values.len());
        for (index, value) in values.iter().enumerate() {
            let magnitude = value.unsigned_abs();
            magnitudes.get_mut(index).copy_from_slice(&[magnitude as u64, (magnitude >> 64) as u64]);
        }
        Self { magnitudes, negative: values.iter().map(|&value| value < 0).collect() }
    }

    /// A copy of the integers, or an error if memory runs out.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let mut negative = try_vector(self.len())?;
        negative.copy_from_slice(&self.negative);
        Ok(Self { magnitudes: self.magnitudes.try_clone()?, negative })
    }

    /// The number of integers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.negative.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.negative.is_empty()
    }

    /// The magnitudes.
    #[must_use]
    pub fn magnitudes(&self) -> &Batch {
        &self.magnitudes
    }

    /// The magnitudes, without a copy.
    #[must_use]
    pub fn into_magnitudes(self) -> Batch {
        self.magnitudes
    }

    /// Whether integer `index` is negative.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn is_negative(&self, index: usize) -> bool {
        self.negative[index]
    }

    /// Whether each integer is negative.
    #[must_use]
    pub fn signs(&self) -> &[bool] {
        &self.negative
    }

    /// Integer `index` as 128 bits, if it fits them.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn to_i128(&self, index: usize) -> Option<i128> {
        let magnitude = self.magnitudes.get(index);
        if number::bit_length(magnitude) > 128 {
            return None;
        }
        let limb = |index: usize| u128::from(magnitude.get(index).copied().unwrap_or(0));
        let magnitude = limb(1) << 64 | limb(0);
        match self.negative[index] {
            true => 0i128.checked_sub_unsigned(magnitude),
            false => i128::try_from(magnitude).ok(),
        }
    }

    /// The integers with the other sign.
    pub(crate) fn negated(mut self) -> Self {
        self.negative.iter_mut().for_each(|sign| *sign = !*sign);
        self
    }

    /// These integers with every zero marked as not negative. The time depends on widths alone.
    pub(crate) fn without_negative_zero(mut self) -> Self {
        for (sign, magnitude) in self.negative.iter_mut().zip(self.magnitudes.iter()) {
            *sign &= magnitude.iter().fold(0, |all, limb| all | limb) != 0;
        }
        self
    }

    /// Numbers below n that stand for some of the integers modulo n: x for x >= 0, and `n - |x|` for x < 0.
    /// The time depends on widths alone. Every magnitude has to be below n. Long columns are converted by the
    /// threads of rayon's current pool.
    pub(crate) fn modulo(&self, key: &PublicKey, items: Range<usize>) -> Result<Batch, Error> {
        let n = key.modulus().value();
        self.signed_sums(key.bits(), items, (&vec![0; n.len()], n), |row| {
            // The complement of zero is n.
            number::reduce_once(row, n);
        })
    }

    /// `2^w + x` for some of the integers x, where w is the declared width of their magnitudes. As
    /// [`Integers::modulo`] otherwise.
    pub(crate) fn shifted(&self, items: Range<usize>) -> Result<Batch, Error> {
        let width = self.magnitudes.bits();
        let mut power = vec![0; width / 64 + 1];
        power[width / 64] = 1 << (width % 64);
        self.signed_sums(width + 1, items, (&power, &power), |_| {})
    }

    /// `above + x` for some of the integers x that are not negative, and `below - |x|` for the others, each
    /// in `bits` bits and after `finish`.
    fn signed_sums(
        &self,
        bits: usize,
        items: Range<usize>,
        (above, below): (&[u64], &[u64]),
        finish: impl Fn(&mut [u64]) + Sync,
    ) -> Result<Batch, Error> {
        let mut sums = Batch::try_zeros(bits, items.len())?;
        let stride = sums.stride();
        let used = self.magnitudes.stride().min(stride);
        let convert = |(chunk, rows): (usize, &mut [u64])| {
            let mut difference = number::Number::new(vec![0; stride]);
            for (index, row) in (items.start + chunk * CHUNK..).zip(rows.chunks_exact_mut(stride)) {
                let magnitude = &self.magnitudes.get(index)[..used];
                row.copy_from_slice(above);
                number::add_assign(row, magnitude);
                difference.copy_from_slice(below);
                number::sub_assign(&mut difference, magnitude);
                let mask = number::mask::from_bit(u64::from(self.negative[index]));
                for (limb, other) in row.iter_mut().zip(difference.iter()) {
                    *limb ^= (*limb ^ other) & mask;
                }
                finish(row);
            }
        };
        let rows = sums.as_limbs_mut();
        match items.len() > CHUNK {
            true => rows.par_chunks_mut(CHUNK * stride).enumerate().each(convert),
            false => convert((0, rows)),
        }
        Ok(sums)
    }

    /// The integers that numbers below n stand for: those up to `n / 3 - 1` are not negative, those from
    /// `n - (n / 3 - 1)` upwards are negative, and any other is refused. The time depends on widths, and on
    /// the first items that are refused. Long columns are converted by the threads of rayon's current pool.
    pub(crate) fn of_residues(key: &PublicKey, residues: &Batch) -> Result<Self, Error> {
        let mut magnitudes = Batch::try_zeros(key.bits(), residues.len())?;
        let mut negative = try_vector(residues.len())?;
        let stride = magnitudes.stride();
        // The first item of a chunk that is refused.
        let convert = |(chunk, (rows, signs)): (usize, (&mut [u64], &mut [bool]))| {
            let mut decoder = Decoder::new(key);
            for (index, (row, sign)) in (chunk * CHUNK..).zip(rows.chunks_exact_mut(stride).zip(signs)) {
                match decoder.decode(residues.get(index), row) {
                    Some(is_negative) => *sign = is_negative,
                    None => return Some(index),
                }
            }
            None
        };
        let rows = magnitudes.as_limbs_mut();
        let refused = match residues.len() > CHUNK {
            true => {
                let chunks = rows.par_chunks_mut(CHUNK * stride).zip(negative.par_chunks_mut(CHUNK));
                let refused: Vec<Option<usize>> = chunks.enumerate().map(convert).list();
                refused.into_iter().flatten().next()
            }
            false => convert((0, (rows, &mut negative))),
        };
        match refused {
            Some(index) => Err(Error::NotEncoded { index }),
            None => Ok(Self { magnitudes, negative }),
        }
    }
}

/// Finds the integers that numbers below n stand for.
pub(crate) struct Decoder<'a> {
    n: &'a [u64],
    limit: &'a [u64],
    complement: number::Number,
    difference: number::Number,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(key: &'a PublicKey) -> Self {
        let (n, limit) = (key.modulus().value(), key.greatest_signed());
        let (complement, difference) = (number::Number::new(n.to_vec()), number::Number::new(limit.to_vec()));
        Self { n, limit, complement, difference }
    }

    /// Writes the magnitude of the integer that `residue` stands for, and says whether the integer is
    /// negative. `None` if the residue is no encoding. The time depends on widths, and on that.
    pub(crate) fn decode(&mut self, residue: &[u64], magnitude: &mut [u64]) -> Option<bool> {
        self.complement.copy_from_slice(self.n);
        number::sub_assign(&mut self.complement, residue);
        let mut is_above = |number: &[u64]| {
            self.difference.copy_from_slice(self.limit);
            number::sub_assign(&mut self.difference, number)
        };
        let negative = is_above(residue);
        if negative & is_above(&self.complement) == 1 {
            return None;
        }
        let mask = number::mask::from_bit(negative);
        for (limb, (residue, other)) in magnitude.iter_mut().zip(residue.iter().zip(self.complement.iter())) {
            *limb = residue ^ (residue ^ other) & mask;
        }
        Some(negative == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_columns_are_converted_as_their_items_are() {
        let key = PublicKey::of_number(&[u64::MAX; 16], None).unwrap();
        let values: Vec<i64> =
            (0..3 * CHUNK as i64 + 7).map(|item| item * item * 977 - 4_000_000_000).collect();
        let integers = Integers::from_i64(&values);
        let residues = integers.modulo(&key, 0..values.len()).unwrap();
        for (index, &value) in values.iter().enumerate() {
            let alone = Integers::from_i64(&[value]).modulo(&key, 0..1).unwrap();
            assert_eq!(residues.get(index), alone.get(0), "item {index}");
        }
        let (first, last) = (CHUNK - 3, 2 * CHUNK + 9);
        assert_eq!(integers.modulo(&key, first..last).unwrap(), residues.slice(first..last).to_batch());
        let shifted = integers.shifted(first..last).unwrap();
        for (row, value) in shifted.iter().zip(&values[first..last]) {
            assert_eq!(i128::from(row[0]) + (i128::from(row[1]) << 64), (1 << 64) + i128::from(*value));
        }
        let back = Integers::of_residues(&key, &residues).unwrap();
        for (index, &value) in values.iter().enumerate() {
            assert_eq!(back.to_i128(index), Some(i128::from(value)), "item {index}");
        }
        // A half of n is no encoding. The first of them is named, in whatever chunk it is.
        let mut wrong = residues;
        for index in [3 * CHUNK, CHUNK + 5, CHUNK + 4] {
            wrong.get_mut(index).fill(u64::MAX / 2);
            let refused = Integers::of_residues(&key, &wrong).unwrap_err();
            assert!(matches!(refused, Error::NotEncoded { index: named } if named == index), "{refused}");
        }
    }
}
