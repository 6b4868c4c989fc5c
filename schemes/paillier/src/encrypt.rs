//! Encryption: `(1 + m n) x mod n^2` for a plaintext m and a mask x.
//!
//! The generator is `g = 1 + n`, so that `g^m = 1 + m n mod n^2` is one product instead of a power.
//!
//! **Signed integers** s of at most w bits are shifted: `u = 2^w + s` is positive and has w + 1 bits, where
//! the encoding of a negative number is as long as n. The power is `1 + s n = u n + (1 - 2^w n)`, and the
//! second summand is one number for a column.

use crate::gpu::{gpu_for, is_of_device};
use crate::lanes::{Answers, LEAST_OF_LANES, Lanes, copy, in_lanes, write_rows};
use crate::parts::{Parts, write_octets};
use crate::rows::shared;
use crate::{Ciphertexts, Error, Masks, Paillier, PrivateKey, PublicKey};
use modmill::{Batch, BatchView, Device, Engine, Holds, random, try_vector};
use std::ops::Range;

/// The fewest items that are encrypted on a GPU as a whole: from here on the masks are made there.
const LEAST_ON_GPU: usize = 1 << 13;

/// Short parts leave little to do before the first masks and after the last ones, when the GPU is idle;
/// measured.
const LANES: Lanes = Lanes { lanes: 3, parts: 12 };

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
        let all = || self.engine.install(|| plaintexts.part(0..plaintexts.len()));
        if let Some(gpu) = self.gpu_for_masks(key, plaintexts.len())? {
            let column = match self.has_lanes(plaintexts.len()) {
                false => self.encrypt_on(&gpu, key, all()?.view(), &key.summand(plaintexts.shift())),
                true => {
                    let mut values = Batch::try_zeros(key.square().bits(), plaintexts.len())?;
                    let answers = Answers::of_batch(&mut values);
                    self.encrypt_in_lanes(&gpu, key, plaintexts, answers, copy).map(|()| values)
                }
            };
            match column.map(|values| Ciphertexts::trusted(key, values)) {
                Err(error) if is_of_device(&error) => {}
                other => return other,
            }
        }
        let summand = key.summand(plaintexts.shift());
        self.masked(all()?.view(), &summand, self.masks(key, plaintexts.len())?)
    }

    /// Encrypts a column part by part, to big-endian bytes.
    pub(crate) fn encrypt_parts_to_octets(
        &self,
        key: &PublicKey,
        plaintexts: &impl Parts,
    ) -> Result<Vec<u8>, Error> {
        let width = key.ciphertext_octets();
        let mut octets = try_vector(width * plaintexts.len())?;
        let write = |_, numbers: BatchView<'_>, rows: &mut [u8]| {
            write_octets(width, numbers, rows);
            Ok(())
        };
        if self.has_lanes(plaintexts.len())
            && let Some(gpu) = self.gpu_for_masks(key, plaintexts.len())?
        {
            let answers = Answers { rows: &mut octets[..], width };
            match self.encrypt_in_lanes(&gpu, key, plaintexts, answers, write) {
                Err(error) if is_of_device(&error) => {}
                other => return other.map(|()| octets),
            }
        }
        let ciphertexts = self.encrypt_parts(key, plaintexts)?;
        let answers = Answers { rows: &mut octets[..], width };
        write_rows(self.engine, (0, ciphertexts.values()), answers, write)?;
        Ok(octets)
    }

    /// Whether a column is long enough to be computed in parts by a GPU. Steps that somebody listens to come
    /// one after the other.
    pub(crate) fn has_lanes(&self, items: usize) -> bool {
        !self.is_heard() && items >= LEAST_OF_LANES
    }

    /// The GPU that encrypts `count` items with short exponents, if the key has such.
    fn gpu_for_masks(&self, key: &PublicKey, count: usize) -> Result<Option<Engine<Device<'_>>>, Error> {
        match key.short_base() {
            Some(_) if count >= LEAST_ON_GPU => {
                gpu_for(self.engine, key.square(), key.short_exponent_bits(), count)
            }
            _ => Ok(None),
        }
    }

    /// Encrypts with short exponents on a GPU: the masks do not leave it.
    fn encrypt_on(
        &self,
        gpu: &Engine<Device<'_>>,
        key: &PublicKey,
        plaintexts: BatchView<'_>,
        summand: &[u64],
    ) -> Result<Batch, Error> {
        let exponents = random::bits(self.engine, key.short_exponent_bits(), plaintexts.len())?;
        self.tell("random exponents");
        let masks = gpu.pow_fixed_base(key.fixed_base(self.engine)?, &exponents)?;
        self.tell("masks");
        let powers = self.powers_of_generator(gpu, key, plaintexts, summand)?;
        self.tell("1 + m n");
        let values = self.engine.mul_mod(&powers, &masks, key.square())?;
        self.tell("ciphertexts");
        Ok(values)
    }

    /// Encrypts a column on a GPU, three parts at a time: while the GPU computes the masks of one, the others
    /// are copied.
    pub(crate) fn encrypt_in_lanes<T: Send>(
        &self,
        gpu: &Engine<Device<'_>>,
        key: &PublicKey,
        plaintexts: &impl Parts,
        answers: Answers<'_, T>,
        write: impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let (engine, summand) = (self.engine, key.summand(plaintexts.shift()));
        let part = |items: Range<usize>| {
            let plaintexts = engine.install(|| plaintexts.part(items))?;
            Paillier::new(engine).encrypt_on(gpu, key, plaintexts.view(), &summand).map(Some)
        };
        in_lanes(engine, LANES, answers, part, write)
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
        self.masked(plaintexts.view(), &[1], masks)
    }

    /// The ciphertexts of plaintexts below n with as many masks.
    fn masked(&self, plaintexts: BatchView<'_>, summand: &[u64], masks: Masks) -> Result<Ciphertexts, Error> {
        let key = masks.key();
        let powers = self.powers_of_generator(self.engine, key, plaintexts, summand)?;
        self.tell("1 + m n");
        let values = self.engine.mul_mod(&powers, &masks.values, key.square())?;
        self.tell("ciphertexts");
        Ok(Ciphertexts::trusted(key, values))
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
