//! Encryption: `(1 + m n) x mod n^2` for a plaintext m and a mask x.
//!
//! The generator is `g = 1 + n`, so that `g^m = 1 + m n mod n^2` is one product in the place of a power.

use crate::chain::{Chain, gpu_for, is_of_device};
use crate::lanes::{Answers, LEAST_OF_LANES, Lanes, copy, in_lanes};
use crate::parts::{Parts, write_octets};
use crate::rows::resized;
use crate::{Ciphertexts, Error, Masks, Paillier, PrivateKey, PublicKey};
use modmill::{Batch, BatchView, OnDevice, Operand};
use std::ops::Range;

/// The fewest items that are encrypted on a GPU as a whole: from here on the masks are made there.
const LEAST_ON_GPU: usize = 1 << 13;

/// Short parts leave little to do before the first masks and after the last ones, when the GPU is idle; measured.
const LANES: Lanes = Lanes { lanes: 3, parts: 12 };

impl Paillier<'_> {
    /// Encrypts plaintexts below n, with fresh masks ([`Paillier::masks`]). The time depends on the number and the declared width of the
    /// plaintexts alone.
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
                false => self.encrypt_on(&gpu, key, all()?.view()),
                true => {
                    let mut values = Batch::zeros(key.square().bits(), plaintexts.len());
                    let answers = Answers::of_batch(&mut values);
                    self.encrypt_in_lanes(&gpu, key, plaintexts, answers, copy).map(|()| values)
                }
            };
            match column.map(|values| Ciphertexts::trusted(key, values)) {
                Err(error) if is_of_device(&error) => {}
                other => return other,
            }
        }
        self.masked(all()?.view(), self.masks(key, plaintexts.len())?)
    }

    /// The same to big-endian octets.
    pub(crate) fn encrypt_parts_to_octets(
        &self,
        key: &PublicKey,
        plaintexts: &impl Parts,
    ) -> Result<Vec<u8>, Error> {
        let width = key.ciphertext_octets();
        let mut octets = vec![0; width * plaintexts.len()];
        if self.has_lanes(plaintexts.len())
            && let Some(gpu) = self.gpu_for_masks(key, plaintexts.len())?
        {
            let answers = Answers { rows: &mut octets, width };
            let write = |_, numbers: BatchView<'_>, rows: &mut [u8]| {
                write_octets(width, numbers, rows);
                Ok(())
            };
            match self.encrypt_in_lanes(&gpu, key, plaintexts, answers, write) {
                Err(error) if is_of_device(&error) => {}
                other => return other.map(|()| octets),
            }
        }
        let ciphertexts = self.encrypt_parts(key, plaintexts)?;
        write_octets(width, ciphertexts.values().view(), &mut octets);
        Ok(octets)
    }

    /// Whether a column is long enough to be computed in parts by a GPU. Steps that somebody listens to come one after the other.
    pub(crate) fn has_lanes(&self, items: usize) -> bool {
        !self.is_heard() && items >= LEAST_OF_LANES
    }

    /// The GPU that encrypts `count` items with short exponents, if the key has such.
    fn gpu_for_masks(&self, key: &PublicKey, count: usize) -> Result<Option<OnDevice<'_>>, Error> {
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
        gpu: &OnDevice<'_>,
        key: &PublicKey,
        plaintexts: BatchView<'_>,
    ) -> Result<Batch, Error> {
        let exponents = self.engine.random_bits(key.short_exponent_bits(), plaintexts.len())?;
        self.tell("random exponents");
        let masks = gpu.pow_fixed_base(key.fixed_base(self.engine)?, &exponents)?;
        self.tell("masks");
        let powers = self.powers_of_generator(gpu, key, plaintexts)?;
        self.tell("1 + m n");
        let values = self.engine.mul_mod(&powers, &masks, key.square())?;
        self.tell("ciphertexts");
        Ok(values)
    }

    /// Encrypts a column on a GPU, three parts at a time: while the GPU computes the masks of one, the others are copied.
    pub(crate) fn encrypt_in_lanes<T: Send>(
        &self,
        gpu: &OnDevice<'_>,
        key: &PublicKey,
        plaintexts: &impl Parts,
        answers: Answers<'_, T>,
        write: impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let engine = self.engine;
        let part = |items: Range<usize>| {
            let plaintexts = engine.install(|| plaintexts.part(items))?;
            Paillier::new(engine).encrypt_on(gpu, key, plaintexts.view()).map(Some)
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
        self.masked(plaintexts.view(), masks)
    }

    /// The ciphertexts of plaintexts below n with as many masks.
    fn masked(&self, plaintexts: BatchView<'_>, masks: Masks) -> Result<Ciphertexts, Error> {
        let key = masks.key();
        let powers = self.powers_of_generator(self.engine, key, plaintexts)?;
        self.tell("1 + m n");
        let values = self.engine.mul_mod(&powers, &masks.values, key.square())?;
        self.tell("ciphertexts");
        Ok(Ciphertexts::trusted(key, values))
    }

    /// The ciphertexts `1 + m n` of plaintexts below n, without masks: anyone can read them. They are for sums with ciphertexts that
    /// are masked, and the sum of an encrypted and a known number is masked like the encrypted one.
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
        let powers = self.powers_of_generator(self.engine, key, plaintexts.view())?;
        Ok(Ciphertexts::trusted(key, resized(&powers, key.square().bits())))
    }

    /// `1 + m n`, which is `(1 + n)^m mod n^2` for m below n.
    pub(crate) fn powers_of_generator<C: Chain>(
        &self,
        chain: &C,
        key: &PublicKey,
        plaintexts: BatchView<'_>,
    ) -> Result<C::Numbers, Error> {
        // m n + 1 <= n^2 - n + 1.
        let products = chain.mul_mod(plaintexts.into(), key.shared_modulus(), key.square())?;
        let powers = chain.add(C::of(&products), Operand::Shared { bits: 1, value: &[1] })?;
        Ok(C::narrowed(powers, key.square().bits()))
    }

    pub(crate) fn check_plaintexts(&self, key: &PublicKey, plaintexts: &Batch) -> Result<(), Error> {
        self.check_below("the plaintexts", plaintexts, key.modulus().value(), "below n")
    }
}
