//! Encrypted columns of signed and fixed-point numbers: encryption, decryption and arithmetic.

use crate::fixed_point::BASE_BITS;
use crate::{Ciphertexts, EncodedColumn, Error, Exponents, Integers, Paillier, PrivateKey, PublicKey};
use modmill::{Batch, number};
use std::borrow::Cow;
use std::fmt;

/// Encrypted fixed-point numbers: ciphertexts, exponents, and the bound of the magnitudes. Exponents and
/// bound are not encrypted.
///
/// Operations bring both operands to the lesser exponent, and refuse what might exceed the key
/// ([`Error::Overflow`]).
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedColumn {
    ciphertexts: Ciphertexts,
    exponents: Exponents,
    magnitude_bits: usize,
}

impl EncryptedColumn {
    /// A column from ciphertexts that came from elsewhere. The caller says which bound their magnitudes keep:
    /// nobody without the private key can check it.
    pub fn new(ciphertexts: Ciphertexts, exponents: Exponents, magnitude_bits: usize) -> Result<Self, Error> {
        exponents.check(ciphertexts.len())?;
        Ok(Self { ciphertexts, exponents, magnitude_bits })
    }

    /// The ciphertexts.
    #[must_use]
    pub fn ciphertexts(&self) -> &Ciphertexts {
        &self.ciphertexts
    }

    /// The ciphertexts, without a copy.
    #[must_use]
    pub fn into_ciphertexts(self) -> Ciphertexts {
        self.ciphertexts
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

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        self.ciphertexts.key()
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ciphertexts.len()
    }

    /// Whether the column has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ciphertexts.is_empty()
    }

    /// Decrypts the column ([`Paillier::decrypt`]).
    pub fn decrypt(&self, paillier: &Paillier<'_>, key: &PrivateKey) -> Result<EncodedColumn, Error> {
        let residues = paillier.decrypt(key, &self.ciphertexts)?;
        Ok(EncodedColumn::decrypted(self.key(), residues, self.exponents.clone(), self.magnitude_bits))
    }

    /// The sums of two columns.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{EncodedColumn, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let column = |values: &[f64]| EncodedColumn::from_f64(key.public_key(), values, None)?.encrypt(&paillier);
    /// let sums = column(&[0.5, -1.0])?.add(&paillier, &column(&[100.0, 0.125])?)?;
    /// assert_eq!(sums.decrypt(&paillier, &key)?.to_f64()?, [100.5, -0.875]);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn add(&self, paillier: &Paillier<'_>, other: &Self) -> Result<Self, Error> {
        self.ciphertexts.expect("the second column", &other.ciphertexts)?;
        let (a, b) = (self.lowered(paillier, &other.exponents)?, other.lowered(paillier, &self.exponents)?);
        let bits = self.room("the addition", a.magnitude_bits.max(b.magnitude_bits) + 1)?;
        let sums = paillier.add(&a.ciphertexts, &b.ciphertexts)?;
        Ok(Self { ciphertexts: sums, exponents: a.exponents.clone(), magnitude_bits: bits })
    }

    /// The differences of two columns.
    pub fn sub(&self, paillier: &Paillier<'_>, other: &Self) -> Result<Self, Error> {
        self.add(paillier, &other.neg(paillier)?)
    }

    /// The numbers with the other sign.
    pub fn neg(&self, paillier: &Paillier<'_>) -> Result<Self, Error> {
        Ok(self.with(paillier.neg(&self.ciphertexts)?))
    }

    /// The sums of an encrypted and an encoded column.
    pub fn add_encoded(&self, paillier: &Paillier<'_>, other: &EncodedColumn) -> Result<Self, Error> {
        self.key().expect("the second column", other.key())?;
        let other = Self::new(
            paillier.unmasked(self.key(), &*paillier.engine.install(|| other.try_residues())?)?,
            other.exponents().clone(),
            other.magnitude_bits(),
        )?;
        self.add(paillier, &other)
    }

    /// The differences of an encrypted and an encoded column.
    pub fn sub_encoded(&self, paillier: &Paillier<'_>, other: &EncodedColumn) -> Result<Self, Error> {
        self.add_encoded(paillier, &other.neg()?)
    }

    /// The products by encoded numbers, one for each item, or a single one for all. The time depends on the
    /// bound of the factors and not on their values.
    pub fn mul(&self, paillier: &Paillier<'_>, factors: &EncodedColumn) -> Result<Self, Error> {
        let integers = self.factors("the product", factors)?;
        self.product(factors, paillier.mul(&self.ciphertexts, &integers)?)
    }

    /// Products as [`EncryptedColumn::mul`] computes them, with public factors: the time depends on them.
    pub fn mul_vartime(&self, paillier: &Paillier<'_>, factors: &EncodedColumn) -> Result<Self, Error> {
        let integers = self.factors("the product", factors)?;
        self.product(factors, paillier.mul_vartime(&self.ciphertexts, &integers)?)
    }

    /// The sum of the column, as a column of one item.
    pub fn sum(&self, paillier: &Paillier<'_>) -> Result<Self, Error> {
        let (lowered, exponents, magnitude_bits) = self.summands(paillier, self.len())?;
        let ciphertexts = paillier.sum(&lowered.ciphertexts)?;
        Ok(Self { ciphertexts, exponents, magnitude_bits })
    }

    /// The items with one exponent, that exponent, and the bound of sums of `terms` items.
    pub(crate) fn summands(
        &self,
        paillier: &Paillier<'_>,
        terms: usize,
    ) -> Result<(Cow<'_, Self>, Exponents, usize), Error> {
        let least = Exponents::Shared(self.exponents.least());
        let lowered = self.lowered(paillier, &least)?;
        let bits = self.room("the sum", lowered.magnitude_bits + ceil_log2(terms))?;
        Ok((lowered, least, bits))
    }

    /// The sum of the products by public weights, as a column of one item. The time depends on the weights.
    pub fn dot(&self, paillier: &Paillier<'_>, weights: &EncodedColumn) -> Result<Self, Error> {
        self.ciphertexts.expect_len("the weights", weights.len())?;
        let product_bits = self.magnitude_bits + weights.magnitude_bits();
        let magnitude_bits = self.room("the dot product", product_bits + ceil_log2(self.len()))?;
        let integers = self.factors("the dot product", weights)?;
        let exponents = self.exponents.plus(weights.exponents(), self.len())?;
        match exponents {
            Exponents::Shared(_) => {
                let ciphertexts = paillier.dot(&self.ciphertexts, &integers)?;
                Ok(Self { ciphertexts, exponents, magnitude_bits })
            }
            // The products have to be brought to one exponent before they are added.
            Exponents::Each(_) => {
                let ciphertexts = paillier.mul_vartime(&self.ciphertexts, &integers)?;
                Self { ciphertexts, exponents, magnitude_bits: product_bits }.sum(paillier)
            }
        }
    }

    /// Other ciphertexts of the same numbers ([`Paillier::randomize`]).
    pub fn randomize(&self, paillier: &Paillier<'_>) -> Result<Self, Error> {
        Ok(self.with(paillier.randomize(&self.ciphertexts)?))
    }

    /// Other ciphertexts with the exponents and the bound of this column.
    fn with(&self, ciphertexts: Ciphertexts) -> Self {
        Self { ciphertexts, exponents: self.exponents.clone(), magnitude_bits: self.magnitude_bits }
    }

    /// This column with exponents that are not above `others`.
    fn lowered(&self, paillier: &Paillier<'_>, others: &Exponents) -> Result<Cow<'_, Self>, Error> {
        if let (Exponents::Shared(own), Exponents::Shared(other)) = (&self.exponents, others)
            && own <= other
        {
            return Ok(Cow::Borrowed(self));
        }
        let lowered = |index: usize| self.exponents.get(index).min(others.get(index));
        let (exponents, count) = match (&self.exponents, others) {
            (Exponents::Shared(a), Exponents::Shared(b)) => (Exponents::Shared(*a.min(b)), self.len().min(1)),
            _ => (Exponents::Each((0..self.len()).map(lowered).collect()), self.len()),
        };
        let step = |index: usize| {
            let (from, to) = (i64::from(self.exponents.get(index)), i64::from(exponents.get(index)));
            BASE_BITS * usize::try_from(from - to).unwrap_or(0)
        };
        let steps: Vec<usize> = (0..count).map(step).collect();
        let most = steps.iter().copied().max().unwrap_or(0);
        let magnitude_bits = self.room("bringing numbers to one exponent", self.magnitude_bits + most)?;
        let ciphertexts = match most {
            0 => self.ciphertexts.try_clone()?,
            _ => {
                let mut powers = Batch::try_zeros(most + 1, count)?;
                for (index, &step) in steps.iter().enumerate() {
                    number::shift_left(&[1], step, powers.get_mut(index));
                }
                paillier.mul_vartime(&self.ciphertexts, &Integers::from_batch(powers))?
            }
        };
        let exponents = match exponents {
            // Equal exponents of a column that has one each are one exponent.
            Exponents::Each(each) if each.iter().all(|exponent| *exponent == each[0]) && !each.is_empty() => {
                Exponents::Shared(each[0])
            }
            exponents => exponents,
        };
        Ok(Cow::Owned(Self { ciphertexts, exponents, magnitude_bits }))
    }

    /// The integers of encoded factors, no wider than their bound, after all checks.
    fn factors(&self, operation: &'static str, factors: &EncodedColumn) -> Result<Integers, Error> {
        self.key().expect("the factors", factors.key())?;
        if factors.len() != 1 {
            self.ciphertexts.expect_len("the factors", factors.len())?;
        }
        self.room(operation, self.magnitude_bits + factors.magnitude_bits())?;
        let integers = factors.integers()?;
        let magnitudes = integers.magnitudes().resized(factors.magnitude_bits().max(1))?;
        Integers::new(magnitudes, integers.signs().to_vec())
    }

    fn product(&self, factors: &EncodedColumn, ciphertexts: Ciphertexts) -> Result<Self, Error> {
        let magnitude_bits = self.magnitude_bits + factors.magnitude_bits();
        let of_factors = match (factors.exponents(), factors.len()) {
            (Exponents::Each(exponents), 1) => &Exponents::Shared(exponents[0]),
            (exponents, _) => exponents,
        };
        let exponents = self.exponents.plus(of_factors, self.len())?;
        Ok(Self { ciphertexts, exponents, magnitude_bits })
    }

    /// Refuses an answer of `bits` bits if the key cannot hold it.
    fn room(&self, operation: &'static str, bits: usize) -> Result<usize, Error> {
        let limit = self.key().signed_bits();
        if bits > limit { Err(Error::Overflow { operation, bits, limit }) } else { Ok(bits) }
    }
}

impl EncodedColumn {
    /// Encrypts the column with fresh masks.
    pub fn encrypt(&self, paillier: &Paillier<'_>) -> Result<EncryptedColumn, Error> {
        let ciphertexts = paillier.encrypt_parts(self.key(), self)?;
        EncryptedColumn::new(ciphertexts, self.exponents().clone(), self.magnitude_bits())
    }

    /// Encrypts the column with fresh masks, to big-endian bytes: [`PublicKey::ciphertext_octets`] for each
    /// item, one after the other. Exponents and bound are not among them.
    ///
    /// That is how Arrow holds them. On a GPU the bytes are written while others are computed, which takes
    /// less time and memory than an encrypted column that is converted.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{EncodedColumn, Integers, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let column = EncodedColumn::from_integers(key.public_key(), &Integers::from_i64(&[5, -7]))?;
    /// let octets = column.encrypt_to_octets(&paillier)?;
    /// assert_eq!(octets.len(), 2 * key.public_key().ciphertext_octets());
    /// let signed = |_, magnitude: &[u64], is_negative| Ok(magnitude[0] as i64 * if is_negative { -1 } else { 1 });
    /// assert_eq!(paillier.decrypt_octets(&key, &octets, signed)?, [5, -7]);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn encrypt_to_octets(&self, paillier: &Paillier<'_>) -> Result<Vec<u8>, Error> {
        paillier.encrypt_parts_to_octets(self.key(), self)
    }

    /// Encrypts the column with the private key, which is faster.
    pub fn encrypt_as_owner(
        &self,
        paillier: &Paillier<'_>,
        key: &PrivateKey,
    ) -> Result<EncryptedColumn, Error> {
        key.public_key().expect("the column", self.key())?;
        let residues = paillier.engine.install(|| self.try_residues())?;
        let ciphertexts = paillier.encrypt_as_owner(key, &residues)?;
        EncryptedColumn::new(ciphertexts, self.exponents().clone(), self.magnitude_bits())
    }
}

/// The least k with `2^k >= count`.
fn ceil_log2(count: usize) -> usize {
    count.max(1).next_power_of_two().trailing_zeros() as usize
}

impl fmt::Debug for EncryptedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncryptedColumn({} of {:?})", self.len(), self.key())
    }
}
