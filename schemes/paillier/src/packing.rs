//! Several short numbers in one ciphertext.
//!
//! A plaintext is cut into slots. A slot is as wide as a number and some headroom: with h bits of headroom up
//! to `2^h` numbers can be added in every slot before one runs over into the next. The columns count the
//! terms, and refuse what might run over.
//!
//! Signed numbers are stored with an offset: x as `x + 2^(b - 1)` for numbers of b bits. A sum of t terms has
//! t offsets, which the column takes off when it is decrypted, because it knows t.

use crate::{Ciphertexts, Error, Integers, Paillier, PrivateKey, PublicKey};
use modmill::{Batch, number};
use std::fmt;

/// The width of the widest slot, in bits: sums are returned as integers of 128 bits.
const MAX_SLOT_BITS: usize = 126;

/// How numbers are packed.
///
/// ```
/// use modmill::Engine;
/// use modmill_paillier::{Packing, Paillier, PrivateKey, Randomness};
///
/// let engine = Engine::new()?;
/// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
/// let paillier = Paillier::new(&engine);
/// // Signed numbers of 16 bits, and room for the sum of 1024 of them: 39 slots in a plaintext of 1024 bits.
/// let packing = Packing::signed(16, 1024)?;
/// assert_eq!(packing.slots(key.public_key()), 39);
/// let a = packing.encrypt(&paillier, key.public_key(), &[5, -7, 300])?;
/// let b = packing.encrypt(&paillier, key.public_key(), &[1, -1, -301])?;
/// assert_eq!(a.add(&paillier, &b)?.decrypt(&paillier, &key)?, [6, -8, -1]);
/// # Ok::<(), modmill_paillier::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    value_bits: usize,
    headroom_bits: usize,
    is_signed: bool,
}

impl Packing {
    /// Numbers from 0 to `2^value_bits - 1`, of which at least `terms` can be added.
    pub fn unsigned(value_bits: usize, terms: u64) -> Result<Self, Error> {
        Self::new(value_bits, terms, false)
    }

    /// Numbers from `-2^(value_bits - 1)` to `2^(value_bits - 1) - 1`, of which at least `terms` can be
    /// added.
    pub fn signed(value_bits: usize, terms: u64) -> Result<Self, Error> {
        Self::new(value_bits, terms, true)
    }

    fn new(value_bits: usize, terms: u64, is_signed: bool) -> Result<Self, Error> {
        if !(1..=64).contains(&value_bits) {
            return Err(Error::Packing(format!("a number has {value_bits} bits; it must have 1 to 64")));
        }
        if terms == 0 {
            return Err(Error::Packing("there is no room for any term".to_owned()));
        }
        let headroom_bits = (u64::BITS - (terms - 1).leading_zeros()) as usize;
        let packing = Self { value_bits, headroom_bits, is_signed };
        if packing.slot_bits() > MAX_SLOT_BITS {
            let found = packing.slot_bits();
            return Err(Error::Packing(format!(
                "a slot has {found} bits; at most {MAX_SLOT_BITS} are possible"
            )));
        }
        Ok(packing)
    }

    /// The bits of a number.
    #[must_use]
    pub fn value_bits(&self) -> usize {
        self.value_bits
    }

    /// Whether numbers may be negative.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// The number of terms that a sum may have.
    #[must_use]
    pub fn terms(&self) -> u128 {
        1 << self.headroom_bits
    }

    /// The width of a slot in bits.
    #[must_use]
    pub fn slot_bits(&self) -> usize {
        self.value_bits + self.headroom_bits
    }

    /// The number of slots of a plaintext: all of them together are below `2^(bits - 1)`, and so below n.
    #[must_use]
    pub fn slots(&self, key: &PublicKey) -> usize {
        (key.bits() - 1) / self.slot_bits()
    }

    /// Packs numbers into plaintexts, the first into the lowest slot. A number out of range is refused. Slots
    /// that are left over hold zero.
    pub fn pack(&self, key: &PublicKey, values: &[i128]) -> Result<Batch, Error> {
        let slots = self.slots(key);
        let (offset, range) = (self.offset(), 1i128 << self.value_bits);
        let mut plaintexts = Batch::try_zeros(key.bits(), values.len().div_ceil(slots))?;
        for (index, value) in values.iter().enumerate() {
            let stored = value.checked_add(offset).filter(|stored| (0..range).contains(stored));
            let range = "within the bits of the packing";
            let stored = stored.ok_or(Error::OutOfRange { what: "the numbers", index, range })?;
            let row = plaintexts.get_mut(index / slots);
            let mut shifted = number::Number::new(vec![0; row.len()]);
            number::shift_left(&[stored as u64], index % slots * self.slot_bits(), &mut shifted);
            number::add_assign(row, &shifted);
        }
        Ok(plaintexts)
    }

    /// Unpacks `len` sums of `terms` numbers each from plaintexts.
    fn unpack(&self, key: &PublicKey, plaintexts: &Batch, len: usize, terms: u128) -> Vec<i128> {
        let slots = self.slots(key);
        let mask = (1u128 << self.slot_bits()) - 1;
        // At most 2^headroom terms of 2^(value - 1) each.
        let offset = self.offset() * terms as i128;
        let value = |index: usize| {
            let mut limbs = [0; 2];
            number::shift_right(plaintexts.get(index / slots), index % slots * self.slot_bits(), &mut limbs);
            let stored = (u128::from(limbs[1]) << 64 | u128::from(limbs[0])) & mask;
            stored as i128 - offset
        };
        (0..len).map(value).collect()
    }

    /// Packs and encrypts numbers.
    pub fn encrypt(
        &self,
        paillier: &Paillier<'_>,
        key: &PublicKey,
        values: &[i128],
    ) -> Result<PackedColumn, Error> {
        let ciphertexts = paillier.encrypt(key, &self.pack(key, values)?)?;
        PackedColumn::new(*self, ciphertexts, values.len(), 1)
    }

    fn offset(&self) -> i128 {
        if self.is_signed { 1 << (self.value_bits - 1) } else { 0 }
    }
}

/// Encrypted numbers, several in a ciphertext. The column counts of how many terms its numbers are sums.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedColumn {
    packing: Packing,
    ciphertexts: Ciphertexts,
    len: usize,
    terms: u128,
}

impl PackedColumn {
    /// A column of `len` numbers from its ciphertexts. Every number is a sum of `terms` terms, as whoever
    /// computed it says.
    pub fn new(packing: Packing, ciphertexts: Ciphertexts, len: usize, terms: u128) -> Result<Self, Error> {
        let expected = len.div_ceil(packing.slots(ciphertexts.key()));
        if ciphertexts.len() != expected {
            let found = ciphertexts.len();
            return Err(Error::LengthMismatch { what: "the ciphertexts", expected, found });
        }
        let column = Self { packing, ciphertexts, len, terms };
        column.room("the column", terms)?;
        Ok(column)
    }

    /// How the numbers are packed.
    #[must_use]
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// The ciphertexts.
    #[must_use]
    pub fn ciphertexts(&self) -> &Ciphertexts {
        &self.ciphertexts
    }

    /// The number of numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of terms that each number is a sum of.
    #[must_use]
    pub fn terms(&self) -> u128 {
        self.terms
    }

    /// The sums of two columns, number by number. A sum of more terms than the packing has room for is
    /// refused.
    pub fn add(&self, paillier: &Paillier<'_>, other: &Self) -> Result<Self, Error> {
        if self.packing != other.packing {
            return Err(Error::Layout);
        }
        if self.len != other.len {
            let (expected, found) = (self.len, other.len);
            return Err(Error::LengthMismatch { what: "the second column", expected, found });
        }
        let terms = self.room("the addition", self.terms.saturating_add(other.terms))?;
        let ciphertexts = paillier.add(&self.ciphertexts, &other.ciphertexts)?;
        Ok(self.with(ciphertexts, terms))
    }

    /// The sums of many columns, number by number.
    pub fn sum(paillier: &Paillier<'_>, columns: &[Self]) -> Result<Option<Self>, Error> {
        let Some((first, others)) = columns.split_first() else { return Ok(None) };
        let terms = columns.iter().fold(0u128, |terms, column| terms.saturating_add(column.terms));
        first.room("the sum", terms)?;
        let sum = first.with(first.ciphertexts.try_clone()?, first.terms);
        others.iter().try_fold(sum, |sum, column| sum.add(paillier, column)).map(Some)
    }

    /// Other ciphertexts of `terms` terms in the layout of this column.
    fn with(&self, ciphertexts: Ciphertexts, terms: u128) -> Self {
        Self { ciphertexts, terms, packing: self.packing, len: self.len }
    }

    /// All numbers times one positive integer, which counts as that many terms.
    pub fn mul(&self, paillier: &Paillier<'_>, factor: u64) -> Result<Self, Error> {
        let terms = self.room("the product", self.terms.saturating_mul(u128::from(factor)))?;
        let factor = Integers::from_batch(Batch::from_values([[factor]]));
        let ciphertexts = paillier.mul_vartime(&self.ciphertexts, &factor)?;
        Ok(self.with(ciphertexts, terms))
    }

    /// Decrypts and unpacks the numbers.
    pub fn decrypt(&self, paillier: &Paillier<'_>, key: &PrivateKey) -> Result<Vec<i128>, Error> {
        let plaintexts = paillier.decrypt(key, &self.ciphertexts)?;
        Ok(self.packing.unpack(key.public_key(), &plaintexts, self.len, self.terms))
    }

    fn room(&self, operation: &'static str, terms: u128) -> Result<u128, Error> {
        let limit = self.packing.terms();
        if terms > limit { Err(Error::Headroom { operation, terms, limit }) } else { Ok(terms) }
    }
}

impl fmt::Debug for PackedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedColumn({} in {:?})", self.len, self.ciphertexts)
    }
}
