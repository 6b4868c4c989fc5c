//! Columns of signed and fixed-point numbers, encoded as numbers below n.
//!
//! The encoding is that of python-paillier. An item is `s 16^e` for a signed integer s and an exponent e. The
//! integer is encoded as s if it is not negative, and as `n - |s|` if it is; `|s|` is at most `n / 3 - 1`, so
//! that an overflow falls between.

use crate::fixed_point::{BASE_BITS, exact_exponent, integers, nearest_f64};
use crate::parts::{Part, Parts};
use crate::rows::CHUNK;
use crate::{Error, Exponents, Integers, PublicKey};
use modmill::threads::Share;
use modmill::{Batch, number};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Numbers that are encoded for a key and not encrypted.
///
/// A column has a public bound: every magnitude is below `2^magnitude_bits`. Operations on the encrypted
/// column add to the bound, and refuse what might exceed the key.
#[derive(Clone)]
pub struct EncodedColumn {
    key: PublicKey,
    numbers: Numbers,
    exponents: Exponents,
    magnitude_bits: usize,
}

/// The numbers of an [`EncodedColumn`], in one of two forms.
#[derive(Clone)]
enum Numbers {
    /// Integers that are encoded when their encodings are needed: they take less memory.
    Integers(Integers),
    /// Encodings below n, such as a decryption returns.
    Residues(Batch),
}

impl EncodedColumn {
    /// Encodes integers with the exponent 0. The bound is their declared width.
    ///
    /// ```
    /// use modmill_paillier::{EncodedColumn, Integers, PublicKey};
    ///
    /// let mut n = [0xff; 128];
    /// n[127] = 0xd9;
    /// let key = PublicKey::new(&n)?;
    /// let column = EncodedColumn::from_integers(&key, &Integers::from_i64(&[5, -5]))?;
    /// assert_eq!((column.magnitude_bits(), column.to_i128(1)?), (64, Some(-5)));
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn from_integers(key: &PublicKey, values: &Integers) -> Result<Self, Error> {
        let limit = key.greatest_signed();
        let fits = |magnitude: &[u64]| {
            let mut difference = number::Number::new(limit.to_vec());
            let (low, high) = magnitude.split_at(magnitude.len().min(limit.len()));
            number::sub_assign(&mut difference, low) == 0 && high.iter().all(|&limb| limb == 0)
        };
        let magnitudes = values.magnitudes();
        if magnitudes.bits() > key.signed_bits()
            && let Some(index) = magnitudes.iter().position(|magnitude| !fits(magnitude))
        {
            return Err(Error::TooLarge { index, limit: number::bit_length(limit) });
        }
        let magnitude_bits = magnitudes.bits().min(number::bit_length(limit));
        Ok(Self::of_integers(key, values.try_clone()?, Exponents::Shared(0), magnitude_bits))
    }

    /// Encodes integers times `16^exponent`.
    ///
    /// ```
    /// use modmill_paillier::{EncodedColumn, Integers, PublicKey};
    ///
    /// let mut n = [0xff; 128];
    /// n[127] = 0xd9;
    /// let halves = EncodedColumn::from_scaled(&PublicKey::new(&n)?, &Integers::from_i64(&[8, -4]), -1)?;
    /// assert_eq!(halves.to_f64()?, [0.5, -0.25]);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn from_scaled(key: &PublicKey, values: &Integers, exponent: i32) -> Result<Self, Error> {
        Ok(Self { exponents: Exponents::Shared(exponent), ..Self::from_integers(key, values)? })
    }

    /// Encodes floating-point numbers with one exponent: a given one, or the greatest that keeps all bits of
    /// every item. A given exponent rounds items to multiples of `16^exponent`.
    ///
    /// The bound is the length of the longest integer, rounded up to a multiple of 64 bits, so that it shows
    /// little of the numbers.
    pub fn from_f64(key: &PublicKey, values: &[f64], exponent: Option<i32>) -> Result<Self, Error> {
        let needed = values.iter().filter(|&&value| value != 0.0).map(|&value| exact_exponent(value)).min();
        let exponent = exponent.or(needed).unwrap_or_else(|| exact_exponent(0.0));
        Self::of_floats(key, values, Exponents::Shared(exponent))
    }

    /// Encodes floating-point numbers with the exponents that python-paillier chooses: each keeps all bits of
    /// its item. The exponents are not encrypted, and show how large the items are, about.
    pub fn from_f64_each(key: &PublicKey, values: &[f64]) -> Result<Self, Error> {
        let exponents = values.iter().map(|&value| exact_exponent(value)).collect();
        Self::of_floats(key, values, Exponents::Each(exponents))
    }

    fn of_floats(key: &PublicKey, values: &[f64], exponents: Exponents) -> Result<Self, Error> {
        let integers = integers(values, |index| exponents.get(index), key.signed_bits())?;
        let magnitude_bits = integers.magnitudes().bits();
        Ok(Self::of_integers(key, integers, exponents, magnitude_bits))
    }

    /// A column of integers whose magnitudes the key allows.
    fn of_integers(key: &PublicKey, integers: Integers, exponents: Exponents, magnitude_bits: usize) -> Self {
        let numbers = Numbers::Integers(integers.without_negative_zero());
        Self { key: key.clone(), numbers, exponents, magnitude_bits }
    }

    /// A column from its parts: encodings below n, exponents, and the bound that the caller knows of the
    /// magnitudes.
    pub fn from_parts(
        key: &PublicKey,
        residues: &Batch,
        exponents: Exponents,
        magnitude_bits: usize,
    ) -> Result<Self, Error> {
        exponents.check(residues.len())?;
        let integers = Integers::of_residues(key, &below_n(key, residues)?)?;
        let too_long = |magnitude: &[u64]| number::bit_length(magnitude) > magnitude_bits;
        if let Some(index) = integers.magnitudes().iter().position(too_long) {
            return Err(Error::TooLarge { index, limit: magnitude_bits });
        }
        Ok(Self::of_integers(key, integers, exponents, magnitude_bits))
    }

    /// A column from what was decrypted: it may hold anything below n.
    pub(crate) fn decrypted(
        key: &PublicKey,
        residues: Batch,
        exponents: Exponents,
        magnitude_bits: usize,
    ) -> Self {
        Self { key: key.clone(), numbers: Numbers::Residues(residues), exponents, magnitude_bits }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The encodings, numbers below n. Long columns of integers are encoded by the threads of rayon's current
    /// pool: those of an engine inside of [`Engine::install`](modmill::Engine::install).
    ///
    /// # Panics
    /// If memory runs out. [`EncodedColumn::try_residues`] returns an error.
    #[must_use]
    pub fn residues(&self) -> Cow<'_, Batch> {
        self.try_residues().unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`EncodedColumn::residues`], or an error if memory runs out.
    pub fn try_residues(&self) -> Result<Cow<'_, Batch>, Error> {
        match &self.numbers {
            Numbers::Integers(integers) => integers.modulo(&self.key, 0..integers.len()).map(Cow::Owned),
            Numbers::Residues(residues) => Ok(Cow::Borrowed(residues)),
        }
    }

    /// The encodings of some items.
    fn encodings(&self, items: Range<usize>) -> Result<Part<'_>, Error> {
        match &self.numbers {
            Numbers::Integers(integers) => integers.modulo(&self.key, items).map(Part::Made),
            Numbers::Residues(residues) => Ok(Part::Held(residues.slice(items))),
        }
    }

    /// The exponents.
    #[must_use]
    pub fn exponents(&self) -> &Exponents {
        &self.exponents
    }

    /// The bound: every magnitude is below 2 to this power.
    #[must_use]
    pub fn magnitude_bits(&self) -> usize {
        self.magnitude_bits
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Integers(integers) => integers.len(),
            Numbers::Residues(residues) => residues.len(),
        }
    }

    /// Whether the column has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers with the other sign.
    pub fn neg(&self) -> Result<Self, Error> {
        let numbers = Numbers::Integers(self.integers()?.negated().without_negative_zero());
        Ok(Self { key: self.key.clone(), numbers, exponents: self.exponents.clone(), ..*self })
    }

    /// The signed integers, without their exponents. An item that is no encoding is refused. Long columns are
    /// converted by the threads of rayon's current pool: those of an engine inside of
    /// [`Engine::install`](modmill::Engine::install).
    pub fn integers(&self) -> Result<Integers, Error> {
        match &self.numbers {
            Numbers::Integers(integers) => integers.try_clone(),
            Numbers::Residues(residues) => Integers::of_residues(&self.key, residues),
        }
    }

    /// Item `index` as an integer of 128 bits, if it is an integer and fits.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    pub fn to_i128(&self, index: usize) -> Result<Option<i128>, Error> {
        let one = self.encodings(index..index + 1)?.view().try_to_batch()?;
        let integers = Integers::of_residues(&self.key, &one).map_err(|_| Error::NotEncoded { index })?;
        let Some(value) = integers.to_i128(0) else { return Ok(None) };
        let exponent = self.exponents.get(index);
        let shift = BASE_BITS as u32 * exponent.unsigned_abs().min(32);
        let power = 1i128.checked_shl(shift).filter(|power| *power > 0);
        Ok(match (value, power) {
            (0, _) => Some(0),
            (_, None) => None,
            (value, Some(power)) if exponent < 0 => (value % power == 0).then_some(value / power),
            (value, Some(power)) => value.checked_mul(power),
        })
    }

    /// The items as floating-point numbers, each the nearest to its exact value. An item that is no encoding,
    /// or too large for a floating-point number, is refused. The time depends on the numbers. Long columns
    /// are converted by the threads of rayon's current pool.
    pub fn to_f64(&self) -> Result<Vec<f64>, Error> {
        let integers = self.integers()?;
        let value = |index: usize| {
            let value = nearest_f64(integers.magnitudes().get(index), self.exponents.get(index));
            let value = value.ok_or(Error::TooLarge { index, limit: 1024 })?;
            Ok(if integers.is_negative(index) { -value } else { value })
        };
        let all: Vec<_> = (0..self.len()).into_par_iter().with_min_len(CHUNK).map(value).list();
        // The first item that is refused is named.
        all.into_iter().collect()
    }
}

/// Plaintexts. Integers are shifted: they are then positive, and short where their encodings are as long as
/// n.
impl Parts for EncodedColumn {
    fn len(&self) -> usize {
        self.len()
    }

    fn part(&self, items: Range<usize>) -> Result<Part<'_>, Error> {
        match &self.numbers {
            Numbers::Integers(integers) if self.shift().is_some() => integers.shifted(items).map(Part::Made),
            _ => self.encodings(items),
        }
    }

    fn shift(&self) -> Option<usize> {
        match &self.numbers {
            Numbers::Integers(integers) => Some(integers.magnitudes().bits()),
            Numbers::Residues(_) => None,
        }
        .filter(|&bits| self.key.has_room_for_shift(bits))
    }
}

/// Columns are equal if they encode the same numbers in the same way.
impl PartialEq for EncodedColumn {
    fn eq(&self, other: &Self) -> bool {
        let is_alike = self.key == other.key && self.exponents == other.exponents;
        is_alike && self.magnitude_bits == other.magnitude_bits && self.residues() == other.residues()
    }
}

impl Eq for EncodedColumn {}

/// These numbers as wide as n, if all are below it.
fn below_n(key: &PublicKey, numbers: &Batch) -> Result<Batch, Error> {
    let n = key.modulus().value();
    let is_below = |number: &[u64]| {
        let mut difference = number::Number::new(number.to_vec());
        difference.resize(number.len().max(n.len()), 0);
        number::sub_assign(&mut difference, n) == 1
    };
    match numbers.iter().position(|number| !is_below(number)) {
        Some(index) => Err(Error::OutOfRange { what: "the encodings", index, range: "below n" }),
        None => Ok(numbers.resized(key.bits())?),
    }
}

impl fmt::Debug for EncodedColumn {
    /// Shows the shape, and never the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodedColumn({} of {:?})", self.len(), self.key)
    }
}
