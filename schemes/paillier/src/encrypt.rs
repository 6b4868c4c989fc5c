//! Encryption: `(1 + m n) x mod n^2` for a plaintext m and a mask x.
//!
//! The generator is `g = 1 + n`, so that `g^m = 1 + m n mod n^2` is one product instead of a power.
//!
//! **Signed integers** s of at most w bits are shifted: `u = 2^w + s` is positive and has w + 1 bits, where
//! the encoding of a negative number is as long as n. The power is `1 + s n = u n + (1 - 2^w n)`, and the
//! second summand is one number for a column.

use crate::parts::{Parts, write_octets};
use crate::rows::shared;
use crate::{Ciphertexts, Error, Masks, Paillier, PrivateKey, PublicKey};
use modmill::memory::try_vector;
use modmill::{Batch, BatchView, Engine, Formula, Holds, Op, Operand, Request, Rows};
use std::ops::Range;

/// Parts of a column that a GPU has under way at the same time, and all parts. Short ones leave little to do
/// before the first masks and after the last ones, when the GPU is idle; measured.
const LANES: usize = 3;
const PARTS: usize = 12;

/// The encryption of a column of plaintexts below n, with fresh masks. On a GPU the masks do not leave it.
struct Encryption<'a, C> {
    paillier: &'a Paillier<'a>,
    key: &'a PublicKey,
    plaintexts: &'a C,
    /// The summand of [`Paillier::powers_of_generator`].
    summand: Vec<u64>,
}

impl<C: Parts> Formula for Encryption<'_, C> {
    type Error = Error;

    fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Error> {
        let Self { paillier, key, plaintexts, summand } = self;
        let count = items.len();
        let plaintexts = paillier.engine.install(|| plaintexts.part(items))?;
        let masks = paillier.mask_numbers(at, key, count)?;
        let masks = P::operand(&masks);
        paillier.masked(at, key, plaintexts.view(), summand, masks).map(Some)
    }
}

impl Paillier<'_> {
    /// Encrypts plaintexts below n, with fresh masks ([`Paillier::masks`]). The time depends on the number
    /// and the declared width of the plaintexts alone.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    /// use modmill_paillier::{Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Full)?;
    /// let paillier = Paillier::new(&engine);
    /// let plaintexts = Batch::from_values([[7u64], [0]]);
    /// let ciphertexts = paillier.encrypt(key.public_key(), &plaintexts)?;
    /// assert_eq!(paillier.decrypt(&key, &ciphertexts)?.get(0)[0], 7);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn encrypt(&self, key: &PublicKey, plaintexts: &Batch) -> Result<Ciphertexts, Error> {
        self.check_plaintexts(key, plaintexts)?;
        self.encrypt_parts(key, plaintexts)
    }

    /// Encrypts plaintexts that are known to be below n.
    pub(crate) fn encrypt_parts(
        &self,
        key: &PublicKey,
        plaintexts: &impl Parts,
    ) -> Result<Ciphertexts, Error> {
        let mut values = Batch::try_zeros(key.square().bits(), plaintexts.len())?;
        let (request, formula) = self.encryption(key, plaintexts);
        self.stream(&request, LANES, PARTS).into_batch(&formula, &mut values)?;
        Ok(Ciphertexts::trusted(key, values))
    }

    /// Encrypts a column part by part, to big-endian bytes.
    pub(crate) fn encrypt_parts_to_octets(
        &self,
        key: &PublicKey,
        plaintexts: &impl Parts,
    ) -> Result<Vec<u8>, Error> {
        let width = key.ciphertext_octets();
        let mut octets = try_vector(width * plaintexts.len())?;
        let (request, formula) = self.encryption(key, plaintexts);
        let rows = Rows { elements: &mut octets[..], width };
        self.stream(&request, LANES, PARTS).into_rows(&formula, rows, |_, numbers, rows| {
            write_octets(width, numbers, rows);
            Ok(())
        })?;
        Ok(octets)
    }

    /// The encryption of a column, and its powers.
    fn encryption<'a, C: Parts>(
        &'a self,
        key: &'a PublicKey,
        plaintexts: &'a C,
    ) -> (Request, Encryption<'a, C>) {
        let (bits, count) = (key.square().bits(), plaintexts.len());
        let request = match key.short_base() {
            Some(_) => {
                let exponent_bits = key.short_exponent_bits();
                let request = Request::new(Op::FixedPow, bits, count).exponents_of(exponent_bits);
                Request { prepared_bits: exponent_bits, ..request }
            }
            None => Request::new(Op::Pow, bits, count).exponents_of(key.bits()),
        };
        let summand = key.summand(plaintexts.shift());
        (request.one_modulus(), Encryption { paillier: self, key, plaintexts, summand })
    }

    /// Encrypts with the private key, which is several times as fast as `r^n` ([`Paillier::owner_masks`]).
    pub fn encrypt_as_owner(&self, key: &PrivateKey, plaintexts: &Batch) -> Result<Ciphertexts, Error> {
        self.check_plaintexts(key.public_key(), plaintexts)?;
        self.encrypt_with(plaintexts, self.owner_masks(key, plaintexts.len())?)
    }

    /// Encrypts with masks that were made before, one for each plaintext. They are used up.
    pub fn encrypt_with(&self, plaintexts: &Batch, masks: Masks) -> Result<Ciphertexts, Error> {
        let key = masks.key();
        self.check_plaintexts(key, plaintexts)?;
        if masks.len() != plaintexts.len() {
            let (expected, found) = (plaintexts.len(), masks.len());
            return Err(Error::LengthMismatch { what: "the masks", expected, found });
        }
        let values = self.masked(self.engine, key, plaintexts.view(), &[1], (&masks.values).into())?;
        Ok(Ciphertexts::trusted(key, values))
    }

    /// The ciphertexts of plaintexts below n with as many masks.
    fn masked<P: Holds>(
        &self,
        at: &Engine<P>,
        key: &PublicKey,
        plaintexts: BatchView<'_>,
        summand: &[u64],
        masks: Operand<'_>,
    ) -> Result<Batch, Error> {
        let powers = self.powers_of_generator(at, key, plaintexts, summand)?;
        self.tell("1 + m n");
        let values = self.engine.mul_mod(P::operand(&powers), masks, key.square())?;
        self.tell("ciphertexts");
        Ok(values)
    }

    /// The ciphertexts `1 + m n` of plaintexts below n, without masks: anyone can read them. They are for
    /// sums with ciphertexts that are masked, and the sum of an encrypted and a known number is masked like
    /// the encrypted one.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    /// use modmill_paillier::{Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let secret = paillier.encrypt(key.public_key(), &Batch::from_values([[30u64]]))?;
    /// let known = paillier.unmasked(key.public_key(), &Batch::from_values([[12u64]]))?;
    /// assert_eq!(paillier.decrypt(&key, &paillier.add(&secret, &known)?)?.get(0)[0], 42);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn unmasked(&self, key: &PublicKey, plaintexts: &Batch) -> Result<Ciphertexts, Error> {
        self.check_plaintexts(key, plaintexts)?;
        let powers = self.powers_of_generator(self.engine, key, plaintexts.view(), &[1])?;
        Ok(Ciphertexts::trusted(key, powers.resized(key.square().bits())?))
    }

    /// `m n + summand` for m below n: with 1 this is `(1 + n)^m mod n^2`. The sums are no longer than `n^2`.
    pub(crate) fn powers_of_generator<P: Holds>(
        &self,
        at: &Engine<P>,
        key: &PublicKey,
        plaintexts: BatchView<'_>,
        summand: &[u64],
    ) -> Result<P::Numbers, Error> {
        // m n <= n^2 - n. With a shift, `PublicKey::has_room_for_shift` says that the sum is no longer than
        // n^2.
        let products = at.mul_mod(plaintexts, key.shared_modulus(), key.square())?;
        let powers = at.add(P::operand(&products), shared(summand))?;
        Ok(P::narrowed(powers, key.square().bits()))
    }

    pub(crate) fn check_plaintexts(&self, key: &PublicKey, plaintexts: &Batch) -> Result<(), Error> {
        self.check_below("the plaintexts", plaintexts, key.modulus().value(), "below n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EncodedColumn, Integers};
    use modmill::{Engine, number};

    /// Shifted integers and encodings give the same powers of the generator, and a key whose square is too
    /// close to a power of two takes encodings.
    #[test]
    fn shifted_integers_have_the_powers_of_their_encodings() {
        let engine = Engine::new().unwrap();
        let paillier = Paillier::new(&engine);
        let mut greater = [0xff; 128];
        greater[0] = 0xb0;
        // The least key of its length. Its square has an odd number of bits.
        let mut least = [0; 128];
        (least[0], least[127]) = (0x80, 1);
        for (n, has_room) in [([0xff; 128], false), (greater, true), (least, true)] {
            let key = PublicKey::of_number(&number::from_be_bytes(&n), None).unwrap();
            let integers = Integers::from_i64(&[0, 1, -1, i64::MAX, i64::MIN, 1 << 40]);
            let column = EncodedColumn::from_integers(&key, &integers).unwrap();
            assert_eq!(column.shift(), has_room.then_some(64));
            let powers = |plaintexts: BatchView<'_>, summand: &[u64]| {
                let powers = paillier.powers_of_generator(&engine, &key, plaintexts, summand).unwrap();
                assert!(powers.iter().all(|power| number::bit_length(power) <= key.square().bits()));
                engine.reduce(&powers, key.square()).unwrap()
            };
            let parts = column.part(0..6).unwrap();
            let found = powers(parts.view(), &key.summand(column.shift()));
            assert_eq!(found, powers(column.residues().view(), &[1]));
            // Integers in rows that are longer than n are not shifted.
            let widest = Integers::from_batch(Batch::zeros(key.bits(), 1));
            assert_eq!(EncodedColumn::from_integers(&key, &widest).unwrap().shift(), None);
        }
    }
}
