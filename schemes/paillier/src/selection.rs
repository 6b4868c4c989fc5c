//! Parts of encrypted columns, columns one after the other, and sums by group.

use crate::{Ciphertexts, EncryptedColumn, Error, Exponents, Paillier, PublicKey};
use modmill::Batch;

impl EncryptedColumn {
    /// The items at these positions, which may repeat.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{EncodedColumn, EncryptedColumn, Integers, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let numbers = Integers::from_i64(&[5, -6, 7]);
    /// let column = EncodedColumn::from_integers(key.public_key(), &numbers)?.encrypt(&paillier)?;
    /// let joined = EncryptedColumn::joined(key.public_key(), &[&column.gathered(&[2, 0])?, &column])?;
    /// let decrypted = joined.decrypt(&paillier, &key)?.to_f64()?;
    /// assert_eq!(decrypted, [7.0, 5.0, 5.0, -6.0, 7.0]);
    /// // The sums of the groups 0, 1 and 2, to which the five items belong.
    /// let sums = joined.sums(&paillier, &[0, 0, 2, 0, 0], 3)?;
    /// assert_eq!(sums.decrypt(&paillier, &key)?.to_f64()?, [13.0, 0.0, 5.0]);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn gathered(&self, items: &[usize]) -> Result<Self, Error> {
        let ciphertexts = self.ciphertexts().gathered(items)?;
        let exponents = match self.exponents() {
            Exponents::Shared(exponent) => Exponents::Shared(*exponent),
            Exponents::Each(each) => Exponents::Each(items.iter().map(|&item| each[item]).collect()),
        };
        Self::new(ciphertexts, exponents, self.magnitude_bits())
    }

    /// The columns one after the other. They share an exponent if all of them have the same, and have the
    /// greatest of their bounds.
    pub fn joined(key: &PublicKey, columns: &[&Self]) -> Result<Self, Error> {
        let parts: Vec<&Ciphertexts> = columns.iter().map(|column| column.ciphertexts()).collect();
        let ciphertexts = Ciphertexts::joined(key, &parts)?;
        let filled = || columns.iter().filter(|column| !column.is_empty());
        let first = filled().map(|column| column.exponents()).next();
        let exponents = match first {
            None => Exponents::Shared(0),
            Some(Exponents::Shared(exponent))
                if filled().all(|column| *column.exponents() == Exponents::Shared(*exponent)) =>
            {
                Exponents::Shared(*exponent)
            }
            Some(_) => {
                let each = |column: &&&Self| {
                    let exponents = column.exponents();
                    (0..column.len()).map(|index| exponents.get(index)).collect::<Vec<_>>()
                };
                Exponents::Each(filled().flat_map(|column| each(&column)).collect())
            }
        };
        let bits = columns.iter().map(|column| column.magnitude_bits()).max().unwrap_or(0);
        Self::new(ciphertexts, exponents, bits)
    }

    /// The sums of `count` groups, as a column with one item for each. `groups` has the group of each item,
    /// below `count`. The sum of a group without items is the ciphertext 1 of zero.
    pub fn sums(&self, paillier: &Paillier<'_>, groups: &[usize], count: usize) -> Result<Self, Error> {
        self.ciphertexts().expect_len("the groups", groups.len())?;
        let mut members = vec![Vec::new(); count];
        for (index, &group) in groups.iter().enumerate() {
            let range = "below the number of groups";
            let wrong = Error::OutOfRange { what: "the groups", index, range };
            members.get_mut(group).ok_or(wrong)?.push(index);
        }
        let longest = members.iter().map(Vec::len).max().unwrap_or(0);
        let (lowered, exponents, bits) = self.summands(paillier, longest)?;
        let key = self.key();
        let mut column = lowered.ciphertexts().try_clone()?;
        // Neighbours of a group are added, until each group has one item at most. All groups share a batch.
        while members.iter().any(|members| members.len() > 1) {
            let pairs = || members.iter().flat_map(|members| members.as_chunks::<2>().0);
            let [first, second] = [0, 1].map(|half| pairs().map(|pair| pair[half]).collect::<Vec<_>>());
            let sums = paillier.add(&column.gathered(&first)?, &column.gathered(&second)?)?;
            let kept: Vec<usize> =
                members.iter().filter_map(|members| members.as_chunks::<2>().1.first().copied()).collect();
            column = Ciphertexts::joined(key, &[&sums, &column.gathered(&kept)?])?;
            let (mut next_sum, mut next_kept) = (0..sums.len(), sums.len()..);
            for members in &mut members {
                let (pairs, rest) = (members.len() / 2, members.len() % 2);
                *members = next_sum.by_ref().take(pairs).chain(next_kept.by_ref().take(rest)).collect();
            }
        }
        let mut values = Batch::try_zeros(key.square().bits(), count)?;
        for (group, members) in members.iter().enumerate() {
            match members.first() {
                Some(&index) => values.get_mut(group).copy_from_slice(column.values().get(index)),
                None => values.get_mut(group)[0] = 1,
            }
        }
        Self::new(Ciphertexts::trusted(key, values), exponents, bits)
    }
}
