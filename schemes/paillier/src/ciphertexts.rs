//! Columns of ciphertexts.

use crate::rows::CHUNK;
use crate::{Error, PublicKey};
use modmill::threads::Share;
use modmill::{Batch, number};
use rayon::prelude::*;
use std::fmt;

/// A column of ciphertexts of one key: numbers from 1 to `n^2 - 1`.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertexts {
    key: PublicKey,
    values: Batch,
}

impl Ciphertexts {
    /// A column from numbers that came from elsewhere. An item that is 0 or not below `n^2` is refused.
    ///
    /// A number that shares a factor with n passes. It does not decrypt, and neither does what is computed
    /// with it.
    pub fn new(key: &PublicKey, values: &Batch) -> Result<Self, Error> {
        check(key, values, 0)?;
        Ok(Self::trusted(key, values.resized(key.square().bits())?))
    }

    /// [`Ciphertexts::new`] of numbers that are given away: they are not copied if they take as many limbs as
    /// `n^2`.
    pub fn from_batch(key: &PublicKey, values: Batch) -> Result<Self, Error> {
        check(key, &values, 0)?;
        Ok(Self::trusted(key, values.into_bits(key.square().bits())?))
    }

    /// The columns one after the other.
    pub fn joined(key: &PublicKey, columns: &[&Self]) -> Result<Self, Error> {
        let mut values =
            Batch::try_zeros(key.square().bits(), columns.iter().map(|column| column.len()).sum())?;
        let mut place = 0;
        for column in columns {
            key.expect("a column", &column.key)?;
            for value in column.values.iter() {
                values.get_mut(place).copy_from_slice(value);
                place += 1;
            }
        }
        Ok(Self::trusted(key, values))
    }

    /// The items at these positions, which may repeat.
    ///
    /// ```
    /// use modmill::Batch;
    /// use modmill_paillier::{Ciphertexts, PublicKey};
    ///
    /// let mut n = [0xff; 128];
    /// n[127] = 0xd9;
    /// let key = PublicKey::new(&n)?;
    /// let column = Ciphertexts::new(&key, &Batch::from_values([[5u64], [6]]))?;
    /// let picked = column.gathered(&[1, 1, 0])?;
    /// assert_eq!(Ciphertexts::joined(&key, &[&picked, &column])?.len(), 5);
    /// assert_eq!(picked.values().get(1)[0], 6);
    /// assert!(column.gathered(&[2]).is_err());
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn gathered(&self, items: &[usize]) -> Result<Self, Error> {
        if let Some(index) = items.iter().position(|&item| item >= self.len()) {
            return Err(Error::OutOfRange {
                what: "the positions",
                index,
                range: "a position of the column",
            });
        }
        let mut values = Batch::try_zeros(self.values.bits(), items.len())?;
        for (place, &item) in items.iter().enumerate() {
            values.get_mut(place).copy_from_slice(self.values.get(item));
        }
        Ok(Self::trusted(&self.key, values))
    }

    /// A copy of the column, or an error if memory runs out.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Self::trusted(&self.key, self.values.try_clone()?))
    }

    /// A column of numbers from 1 to `n^2 - 1`, as wide as `n^2`.
    pub(crate) fn trusted(key: &PublicKey, values: Batch) -> Self {
        Self { key: key.clone(), values }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The numbers, as wide as `n^2`.
    #[must_use]
    pub fn values(&self) -> &Batch {
        &self.values
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the column has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Refuses another column that has another key or another length.
    pub(crate) fn expect(&self, what: &'static str, other: &Self) -> Result<(), Error> {
        self.key.expect(what, &other.key)?;
        self.expect_len(what, other.len())
    }

    /// Refuses an operand of another length.
    pub(crate) fn expect_len(&self, what: &'static str, found: usize) -> Result<(), Error> {
        match found == self.len() {
            true => Ok(()),
            false => Err(Error::LengthMismatch { what, expected: self.len(), found }),
        }
    }
}

/// Refuses numbers that are 0 or not below `n^2`. `first` is the index of the first one in its column.
/// Ciphertexts are public: the time depends on them.
pub(crate) fn check(key: &PublicKey, values: &Batch, first: usize) -> Result<(), Error> {
    let square = key.square().value();
    let in_range = |value: &[u64]| {
        let used = number::bit_length(value).div_ceil(64);
        used > 0 && used <= square.len() && {
            let (low, high) = square.split_at(used);
            high.iter().any(|&limb| limb != 0) || value[..used].iter().rev().lt(low.iter().rev())
        }
    };
    let wrong = |chunk: usize| {
        let mut items = CHUNK * chunk..values.len().min(CHUNK * (chunk + 1));
        items.find(|&index| !in_range(values.get(index)))
    };
    let chunks = 0..values.len().div_ceil(CHUNK);
    // A thread is worth waking for some thousand items.
    let wrong = match values.len() > 4096 {
        true => chunks.into_par_iter().map(wrong).list::<Vec<_>>().into_iter().flatten().next(),
        false => chunks.into_iter().find_map(wrong),
    };
    match wrong {
        Some(index) => {
            let (index, range) = (first + index, "from 1 to n^2 - 1");
            Err(Error::OutOfRange { what: "the ciphertexts", index, range })
        }
        None => Ok(()),
    }
}

impl fmt::Debug for Ciphertexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertexts({} of {:?})", self.len(), self.key)
    }
}
