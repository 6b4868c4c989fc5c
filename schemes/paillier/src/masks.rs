//! Masks: the random n-th powers that hide plaintexts, made in four ways.
//!
//! | who | formula | powers for an item |
//! |---|---|---|
//! | anyone | `r^n mod n^2`, r random below n | one, exponent and modulus of full length |
//! | anyone, with a key for short exponents | `hs^a mod n^2`, a random of half the length of n | one with a fixed base |
//! | the owner of the key | x with `x = y^p mod p^2` and `x = z^q mod q^2`, y and z random | two of half the length |
//! | the owner, with a key for short exponents | x with `x = hs^a` modulo `p^2` and modulo `q^2` | two of half the length with a fixed base |
//!
//! If the key has a small subgroup, hs has an order that divides `2 u` modulo `p^2` and `2 v` modulo `q^2`,
//! and the owner takes a modulo these.
//!
//! The owner's masks of the third kind have the distribution of `r^n`. The group of units modulo `p^2` is
//! cyclic of order `p (p - 1)`, and n-th powers are its subgroup of order `p - 1`, because q is coprime to
//! `p - 1`. Here `y^p` takes every value of the subgroup once, as y takes the values 1 to `p - 1`. The same
//! holds modulo `q^2`.

use crate::key::{Factor, Unmasking, fixed_base};
use crate::rows::{exponent, halved};
use crate::{Error, Paillier, PrivateKey, PublicKey};
use modmill::number::{self, Number};
use modmill::{Batch, Engine, Holds, Host, Modulus, Operand, Public, random};
use std::borrow::Cow;
use std::fmt;

/// Random n-th powers modulo `n^2`. They do not depend on plaintexts and can be made ahead of them. Each may
/// hide one plaintext only: who knows a mask reads what it hides, and two ciphertexts with the same mask show
/// the difference of their plaintexts.
pub struct Masks {
    key: PublicKey,
    pub(crate) values: Batch,
}

impl Masks {
    /// The number of masks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The key that they belong to.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

impl fmt::Debug for Masks {
    /// Shows the number of masks, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masks({} of {:?})", self.len(), self.key)
    }
}

impl Paillier<'_> {
    /// Makes `count` masks: with short exponents if the key has a base for them, otherwise as `r^n`.
    pub fn masks(&self, key: &PublicKey, count: usize) -> Result<Masks, Error> {
        Ok(Masks { key: key.clone(), values: self.mask_numbers(self.engine, key, count)? })
    }

    /// The numbers of `count` masks, at a place.
    pub(crate) fn mask_numbers<P: Holds>(
        &self,
        at: &Engine<P>,
        key: &PublicKey,
        count: usize,
    ) -> Result<P::Numbers, Error> {
        let masks = match key.short_base() {
            Some(_) => {
                let exponents = random::bits(self.engine, key.short_exponent_bits(), count)?;
                self.tell("random exponents");
                at.pow_fixed_base(key.fixed_base(self.engine)?, &exponents)?
            }
            None => {
                let r = random::nonzero_below(self.engine, key.modulus(), count)?;
                at.pow(&r, Public(key.shared_modulus()), key.square())?
            }
        };
        self.tell("masks");
        Ok(masks)
    }

    /// Makes `count` masks `r^n mod n^2`, whatever the key.
    pub fn full_masks(&self, key: &PublicKey, count: usize) -> Result<Masks, Error> {
        self.full_masks_with(key, &random::nonzero_below(self.engine, key.modulus(), count)?)
    }

    /// The masks `r^n mod n^2` of given numbers r, which are from 1 to `n - 1`. Whoever encrypts has to draw
    /// them at random and to keep them secret; this form is for tests and for randomness from elsewhere.
    pub fn full_masks_with(&self, key: &PublicKey, r: &Batch) -> Result<Masks, Error> {
        self.check_units("r", r, key.modulus().value(), "from 1 to n - 1")?;
        // The exponent is public. The time does not depend on r.
        let values = self.engine.pow(r, Public(key.shared_modulus()), key.square())?;
        Ok(Masks { key: key.clone(), values })
    }

    /// The masks `hs^a mod n^2` of given exponents, which are below `2^k` for the k of
    /// [`PublicKey::short_exponent_bits`]. The same caution holds as for [`Paillier::full_masks_with`].
    pub fn short_masks_with(&self, key: &PublicKey, exponents: &Batch) -> Result<Masks, Error> {
        let exponents = short_exponents(key, exponents)?;
        let values = self.engine.pow_fixed_base(key.fixed_base(self.engine)?, &exponents)?;
        Ok(Masks { key: key.clone(), values })
    }

    /// Makes `count` masks with the private key, which is several times as fast: with short exponents if the
    /// key has a base for them, otherwise as [`Paillier::owner_full_masks`] does.
    pub fn owner_masks(&self, key: &PrivateKey, count: usize) -> Result<Masks, Error> {
        let public = key.public_key();
        match public.short_base() {
            Some(_) => {
                let exponents = random::bits(self.engine, public.short_exponent_bits(), count)?;
                self.owner_short_masks_with(key, &exponents)
            }
            None => self.owner_full_masks(key, count),
        }
    }

    /// The masks of [`Paillier::short_masks_with`], computed modulo `p^2` and `q^2`.
    pub fn owner_short_masks_with(&self, key: &PrivateKey, exponents: &Batch) -> Result<Masks, Error> {
        let public = key.public_key();
        let base = public.short_base().ok_or(Error::NoShortExponents)?;
        let exponents = short_exponents(public, exponents)?;
        let half = |factor: &Factor| -> Result<Batch, Error> {
            let (bits, exponents) = match &factor.short {
                Some(short) => (short.bits, Cow::Owned(self.reduced_exponents(&exponents, short)?)),
                None => (public.short_exponent_bits(), Cow::Borrowed(&exponents)),
            };
            let fixed = fixed_base(self.engine, &factor.fixed, base, &factor.square, bits)?;
            Ok(self.engine.pow_fixed_base(fixed, &*exponents)?)
        };
        self.owner_masks_of(key, &half(key.p())?, &half(key.q())?)
    }

    /// Exponents modulo the order `2 u` of a small subgroup. An exponent a is r or r + u for its rest r
    /// modulo u, which is odd: the one that is even where a is. The time depends on lengths alone.
    fn reduced_exponents(&self, exponents: &Batch, short: &Unmasking) -> Result<Batch, Error> {
        let order = halved(&short.exponent);
        // A watch counts the powers, which take the time.
        let rests = self.engine.watched_by(None).reduce(exponents, &Modulus::new(&order)?)?;
        let mut reduced = rests.resized(short.bits)?;
        let mut summand = Number::new(vec![0; order.len()]);
        for (index, exponent) in exponents.iter().enumerate() {
            let row = reduced.get_mut(index);
            let mask = ((row[0] ^ exponent[0]) & 1).wrapping_neg();
            summand.iter_mut().zip(order.iter()).for_each(|(limb, &u)| *limb = u & mask);
            number::add_assign(row, &summand);
        }
        Ok(reduced)
    }

    /// Makes `count` masks with the distribution of `r^n` with the private key, whatever the key.
    pub fn owner_full_masks(&self, key: &PrivateKey, count: usize) -> Result<Masks, Error> {
        let [y, z] =
            [key.p(), key.q()].map(|factor| random::nonzero_below(self.engine, &factor.prime, count));
        self.owner_full_masks_with(key, &y?, &z?)
    }

    /// The owner's masks of given numbers `y` from 1 to `p - 1` and `z` from 1 to `q - 1`. The same caution
    /// holds as for [`Paillier::full_masks_with`].
    pub fn owner_full_masks_with(&self, key: &PrivateKey, y: &Batch, z: &Batch) -> Result<Masks, Error> {
        let [p, q] = key.primes();
        self.check_units("y", y, p, "from 1 to p - 1")?;
        self.check_units("z", z, q, "from 1 to q - 1")?;
        if y.len() != z.len() {
            return Err(Error::LengthMismatch { what: "z", expected: y.len(), found: z.len() });
        }
        let half = |base: &Batch, factor: &Factor| {
            self.engine.pow(base, exponent(factor.prime.value(), factor.prime.bits()), &factor.square)
        };
        self.owner_masks_of(key, &half(y, key.p())?, &half(z, key.q())?)
    }

    /// The masks with given rests modulo `p^2` and `q^2`.
    fn owner_masks_of(&self, key: &PrivateKey, modulo_p: &Batch, modulo_q: &Batch) -> Result<Masks, Error> {
        let values = key.squares().join(self.engine, modulo_p, modulo_q)?;
        let values = Host::to_host(values, key.public_key().square().bits())?;
        Ok(Masks { key: key.public_key().clone(), values })
    }

    /// Refuses numbers that are 0 or not below `limit`. The time depends on lengths and on the first number
    /// that is refused.
    fn check_units(
        &self,
        what: &'static str,
        numbers: &Batch,
        limit: &[u64],
        range: &'static str,
    ) -> Result<(), Error> {
        self.check_below(what, numbers, limit, range)?;
        let is_zero = |number: &[u64]| number.iter().fold(0, |bits, limb| bits | limb) == 0;
        match numbers.iter().position(is_zero) {
            Some(index) => Err(Error::OutOfRange { what, index, range }),
            None => Ok(()),
        }
    }

    /// Refuses numbers that are not below `limit`.
    pub(crate) fn check_below(
        &self,
        what: &'static str,
        numbers: &Batch,
        limit: &[u64],
        range: &'static str,
    ) -> Result<(), Error> {
        if numbers.bits() < number::bit_length(limit) || numbers.is_empty() {
            return Ok(());
        }
        let limit = Operand::Shared { bits: 64 * limit.len(), value: limit };
        let flags = self.engine.less(numbers, limit)?;
        match flags.iter().position(|flag| flag[0] == 0) {
            Some(index) => Err(Error::OutOfRange { what, index, range }),
            None => Ok(()),
        }
    }
}

/// Exponents as wide as short exponents are. A longer one is refused.
fn short_exponents(key: &PublicKey, exponents: &Batch) -> Result<Batch, Error> {
    let bits = key.short_exponent_bits();
    match exponents.iter().position(|exponent| number::bit_length(exponent) > bits) {
        Some(index) => {
            Err(Error::OutOfRange { what: "the exponents", index, range: "as short as the key's exponents" })
        }
        None => Ok(exponents.resized(bits)?),
    }
}
