//! Decryption by the Chinese remainder theorem, checked before plaintexts are returned.
//!
//! ```text
//!                  c
//!               /     \
//!  x = c^(p-1) mod p^2    y = c^(q-1) mod q^2        powers of half the length
//!             |            |
//!  a = L(x) s mod p       b = L(y) t mod q           L(x) = (x - 1) / p, s = (-q)^-1 mod p, t = (-p)^-1 mod q
//!               \     /
//!                  m                                 the number below n that is a modulo p and b modulo q
//!                  |
//!  x + m n = 1 mod p^2 ?   y + m n = 1 mod q^2 ?     otherwise nothing is returned
//! ```
//!
//! With `c = (1 + n)^m r^n`: r has an order that divides `p (p - 1)` modulo `p^2`, so that
//! `r^(n (p - 1)) = 1`, and `x = (1 + n)^(m (p - 1)) = 1 + m (p - 1) n = 1 - m n mod p^2`, because `p n` is 0
//! modulo `p^2`. So `L(x) = -m q mod p`.
//!
//! **The division** `(x - 1) / p` is exact, and its quotient is below p. So it is a product by the inverse of
//! p modulo any number that is greater than p and has no factor p: `q^2` is at hand.
//!
//! **Keys with a small subgroup** ([`Randomness::Subgroup`](crate::Randomness::Subgroup)) take the exponents
//! `2 u` and `2 v` instead of `p - 1` and `q - 1`. With an exponent o the power is `x = 1 + o m n mod p^2`, s
//! is `(o q)^-1 mod p`, and the check is `x - o m n = 1 mod p^2`; `p - 1` is the case `o = -1`. A ciphertext
//! whose mask is not of the subgroup fails the check, and its column is decrypted again with the long
//! exponents.
//!
//! **The check** costs two products and two reductions for an item. A wrong power x is not 1 modulo p but
//! with a probability of about `1/p`, and everything after the powers is recomputed backwards. What it does
//! not see is a power of another number than c. [`Paillier::decrypt_checked`] sees that as well:
//! `u = c (1 - m n)` is an n-th power if and only if m is the plaintext of c. So `u^(p-1) = 1 mod p^2`, and
//! the same for q. One power serves a whole column: it takes the product of all `u^t` for random t of 64
//! bits. A wrong item makes that product wrong, but with a probability of `2^-64`, because what is left of a
//! wrong u after the power has the order p or q. Only if the column fails are its items looked at one by one.

use crate::integers::Decoder;
use crate::key::{Factor, Unmasking};
use crate::parts::{Octets, Parts};
use crate::rows::{exponent, is_one, shared};
use crate::{Ciphertexts, Error, Paillier, PrivateKey, PublicKey};
use modmill::{Batch, BatchView, Engine, Formula, Holds, Op, Operand, Request, Rows, number, random};
use modmill_core::sync::Mutex;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// The length of the random exponents that join a column for its check, in bits.
const CHECK_BITS: usize = 64;

/// Parts of a column that a GPU has under way at the same time, and all parts. Powers take most of the time
/// of a decryption, so that two parts at a time keep a GPU busy; measured.
const LANES: usize = 2;
const PARTS: usize = 4;

/// Up to this number of items are checked one by one: they take as long as one in the lanes of a vector.
const ONE_BY_ONE: usize = 8;

/// An intermediate result of decryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `c^(p-1) mod p^2` or `c^(q-1) mod q^2`.
    Powers,
    /// `L(x)`.
    Quotients,
    /// m modulo p or q.
    Halves,
    /// The plaintexts before their check.
    Plaintexts,
}

/// An observer of intermediate results. It may change them: the tests inject faults this way.
pub(crate) trait Witness<P: Holds> {
    /// The ciphertexts that a power takes instead of the right ones.
    fn bases(&mut self, _ciphertexts: BatchView<'_>) -> Option<Batch> {
        None
    }

    fn see(&mut self, _stage: Stage, _at: &Engine<P>, _numbers: &mut P::Numbers) {}
}

/// A witness that looks at nothing.
impl<P: Holds> Witness<P> for () {}

/// The decryption of a column with one exponent for each prime.
struct Decryption<'a, C> {
    paillier: &'a Paillier<'a>,
    key: &'a PrivateKey,
    unmaskings: [&'a Unmasking; 2],
    ciphertexts: &'a C,
    /// Whether the plaintext of each item is right.
    verdicts: Mutex<Vec<bool>>,
}

impl<C: Parts> Formula for Decryption<'_, C> {
    type Error = Error;

    fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Error> {
        let Self { paillier, key, unmaskings, ciphertexts, verdicts } = self;
        let values = paillier.engine.install(|| ciphertexts.part(items.clone()))?;
        let (plaintexts, some) = paillier.decrypt_part(at, key, *unmaskings, values.view(), &mut ())?;
        verdicts.lock()[items].copy_from_slice(&some);
        // Wrong plaintexts are not looked at: the whole column is refused.
        Ok(some.iter().all(|&is_right| is_right).then_some(plaintexts))
    }
}

impl Paillier<'_> {
    /// Decrypts a column to plaintexts below n. The time depends on the number of items, and for a key with a
    /// small subgroup on whether all masks are of it.
    ///
    /// Every plaintext is checked against the powers that it came from. If one is wrong, the call fails with
    /// [`Error::Decryption`] and no plaintext is returned.
    pub fn decrypt(&self, key: &PrivateKey, ciphertexts: &Ciphertexts) -> Result<Batch, Error> {
        key.public_key().expect("the column", ciphertexts.key())?;
        let mut plaintexts = Batch::try_zeros(key.bits(), ciphertexts.len())?;
        self.decrypt_parts(key, ciphertexts.values(), |formula, request| {
            self.stream(request, LANES, PARTS).into_batch(formula, &mut plaintexts)
        })?;
        Ok(plaintexts)
    }

    /// Decrypts a column and checks every plaintext against its ciphertext, so that no single fault of the
    /// machine gives a wrong plaintext or shows something of the key. It costs about a fifth more than
    /// [`Paillier::decrypt`] for a column of some hundred items, and twice as much for up to eight.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    /// use modmill_paillier::{Ciphertexts, Error, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Full)?;
    /// // A multiple of p is no ciphertext.
    /// let wrong = Ciphertexts::new(key.public_key(), &Batch::from_values([key.primes()[0]]))?;
    /// let refused = Paillier::new(&engine).decrypt_checked(&key, &wrong).unwrap_err();
    /// assert!(matches!(refused, Error::Decryption { items } if items == [0]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn decrypt_checked(&self, key: &PrivateKey, ciphertexts: &Ciphertexts) -> Result<Batch, Error> {
        let plaintexts = self.decrypt(key, ciphertexts)?;
        self.check_decrypted(key, ciphertexts, plaintexts)
    }

    /// Decrypts ciphertexts that are big-endian bytes, [`PublicKey::ciphertext_octets`] for each item, one
    /// after the other. The answers are what `read` makes of the index, the magnitude and the sign of each
    /// integer.
    ///
    /// Every plaintext is checked as [`Paillier::decrypt`] does. An item that is no ciphertext or no encoding
    /// of an integer is refused. On a GPU bytes are read and integers are written while others are computed
    /// ([`EncodedColumn::encrypt_to_octets`] has an example).
    ///
    /// [`EncodedColumn::encrypt_to_octets`]: crate::EncodedColumn::encrypt_to_octets
    pub fn decrypt_octets<T: Clone + Default + Send>(
        &self,
        key: &PrivateKey,
        octets: &[u8],
        read: impl Fn(usize, &[u64], bool) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let public = key.public_key();
        let ciphertexts = Octets::new(public, octets)?;
        let write = integers_by(public, read);
        let mut answers = Vec::new();
        let no_memory = |_| modmill::Error::no_memory(ciphertexts.len().saturating_mul(size_of::<T>()));
        answers.try_reserve_exact(ciphertexts.len()).map_err(no_memory)?;
        answers.resize(ciphertexts.len(), T::default());
        self.decrypt_parts(key, &ciphertexts, |formula, request| {
            let rows = Rows { elements: &mut answers[..], width: 1 };
            self.stream(request, LANES, PARTS).into_rows(formula, rows, &write)
        })?;
        Ok(answers)
    }

    /// Decrypts a column by `run`, which takes the formula and its powers: first with the short exponents of
    /// a key that has such, and with the full ones if an item needs them.
    fn decrypt_parts<C: Parts>(
        &self,
        key: &PrivateKey,
        ciphertexts: &C,
        mut run: impl FnMut(&Decryption<'_, C>, &Request) -> Result<(), Error>,
    ) -> Result<(), Error> {
        with_unmaskings(key, |unmaskings| {
            let exponent_bits = unmaskings.map(|unmasking| unmasking.bits).into_iter().max().unwrap_or(0);
            let request = Request::new(Op::Pow, key.p().square.bits(), ciphertexts.len());
            let verdicts = Mutex::new(vec![false; ciphertexts.len()]);
            let formula = Decryption { paillier: self, key, unmaskings, ciphertexts, verdicts };
            run(&formula, &request.one_modulus().exponents_of(exponent_bits))?;
            refuse(&formula.verdicts.into_inner())
        })
    }

    /// Returns plaintexts that belong to their ciphertexts, and refuses others.
    fn check_decrypted(
        &self,
        key: &PrivateKey,
        ciphertexts: &Ciphertexts,
        plaintexts: Batch,
    ) -> Result<Batch, Error> {
        let rests = self.without_plaintexts(ciphertexts, &plaintexts)?;
        if rests.len() > ONE_BY_ONE && self.are_powers(key, &self.joined(key, &rests)?)? == [true] {
            return Ok(plaintexts);
        }
        refuse(&self.are_powers(key, &rests)?)?;
        Ok(plaintexts)
    }

    /// The plaintexts of some ciphertexts, and whether each is right.
    fn decrypt_part<P: Holds>(
        &self,
        at: &Engine<P>,
        key: &PrivateKey,
        [modulo_p, modulo_q]: [&Unmasking; 2],
        values: BatchView<'_>,
        witness: &mut impl Witness<P>,
    ) -> Result<(Batch, Vec<bool>), Error> {
        let (x, a) = self.half(at, [key.p(), key.q()], modulo_p, values, witness)?;
        let (y, b) = self.half(at, [key.q(), key.p()], modulo_q, values, witness)?;
        let mut plaintexts = key.plain().join(at, &a, &b)?;
        witness.see(Stage::Plaintexts, at, &mut plaintexts);
        self.tell("plaintexts from their halves");
        let [p, q] = [(key.p(), modulo_p, &x), (key.q(), modulo_q, &y)].map(|(factor, unmasking, powers)| {
            let products = at.mul_mod(P::operand(&plaintexts), shared(&unmasking.check), &factor.square)?;
            let sums = at.add(P::operand(&products), P::operand(powers))?;
            let rests = at.reduce(P::operand(&sums), &factor.square)?;
            P::to_host(at.equal(P::operand(&rests), shared(&[1]))?, 1)
        });
        let (p, q) = (p?, q?);
        let verdicts = p.as_limbs().iter().zip(q.as_limbs()).map(|(p, q)| p & q == 1).collect();
        self.tell("check");
        let plaintexts = P::to_host(plaintexts, key.bits())?;
        self.tell("plaintexts to the host");
        Ok((plaintexts, verdicts))
    }

    /// The powers of one prime, the first of two, and the plaintexts modulo that prime. A power that is zero
    /// after a fault becomes a number of all ones, which the check refuses like any other.
    fn half<P: Holds>(
        &self,
        at: &Engine<P>,
        [factor, other]: [&Factor; 2],
        unmasking: &Unmasking,
        values: BatchView<'_>,
        witness: &mut impl Witness<P>,
    ) -> Result<(P::Numbers, P::Numbers), Error> {
        let changed = witness.bases(values);
        let bases = changed.as_ref().map_or(Operand::from(values), Operand::from);
        let mut powers = at.pow(bases, exponent(&unmasking.exponent, unmasking.bits), &factor.square)?;
        witness.see(Stage::Powers, at, &mut powers);
        self.tell("powers modulo a square");
        let multiples = at.sub(P::operand(&powers), shared(&[1]))?;
        let mut quotients = at.mul_mod(P::operand(&multiples), shared(&factor.inverse), &other.square)?;
        witness.see(Stage::Quotients, at, &mut quotients);
        let mut halves = at.mul_mod(P::operand(&quotients), shared(&unmasking.scale), &factor.prime)?;
        witness.see(Stage::Halves, at, &mut halves);
        self.tell("plaintexts modulo a prime");
        Ok((powers, halves))
    }

    /// `c (1 - m n) mod n^2`: n-th powers, if m are the plaintexts of c.
    fn without_plaintexts(&self, ciphertexts: &Ciphertexts, plaintexts: &Batch) -> Result<Batch, Error> {
        let key = ciphertexts.key();
        let square = key.square();
        let products = self.engine.mul(plaintexts, key.shared_modulus())?;
        // m n < n^2, so that n^2 + 1 - m n is positive.
        let mut above = square.value().to_vec();
        above.push(0);
        number::add_assign(&mut above, &[1]);
        let negated = self.engine.sub(shared(&above), &products)?;
        Ok(self.engine.mul_mod(ciphertexts.values(), &negated, square)?)
    }

    /// The product of all numbers, each to a random power.
    fn joined(&self, key: &PrivateKey, rests: &Batch) -> Result<Batch, Error> {
        let square = key.public_key().square();
        let exponents = random::bits(self.engine, CHECK_BITS, rests.len())?;
        Ok(self.engine.product_of_powers(rests, &exponents, square)?)
    }

    /// Whether each number is an n-th power modulo n^2.
    fn are_powers(&self, key: &PrivateKey, numbers: &Batch) -> Result<Vec<bool>, Error> {
        let [p, q] = [key.p(), key.q()].map(|factor| {
            self.engine.pow(numbers, exponent(&factor.full.exponent, factor.full.bits), &factor.square)
        });
        let (p, q) = (p?, q?);
        Ok(p.iter().zip(q.iter()).map(|(p, q)| is_one(p) & is_one(q)).collect())
    }
}

/// A function that writes what `read` makes of the integers that some residues stand for, the first of which
/// has a given index.
fn integers_by<T>(
    key: &PublicKey,
    read: impl Fn(usize, &[u64], bool) -> Result<T, Error> + Sync,
) -> impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), Error> + Sync {
    move |first, residues, answers| {
        let mut decoder = Decoder::new(key);
        let mut magnitude = number::Number::new(vec![0; key.modulus().value().len()]);
        for ((index, residue), answer) in (first..).zip(residues.iter()).zip(answers) {
            let is_negative = decoder.decode(residue, &mut magnitude).ok_or(Error::NotEncoded { index })?;
            *answer = read(index, &magnitude, is_negative)?;
        }
        Ok(())
    }
}

/// Decrypts with the short exponents of a key with a small subgroup, and if an item is not of it, with the
/// full ones.
fn with_unmaskings<T>(
    key: &PrivateKey,
    mut decrypt: impl FnMut([&Unmasking; 2]) -> Result<T, Error>,
) -> Result<T, Error> {
    if let (Some(p), Some(q)) = (&key.p().short, &key.q().short) {
        match decrypt([p, q]) {
            Err(Error::Decryption { .. }) => {}
            other => return other,
        }
    }
    decrypt([&key.p().full, &key.q().full])
}

/// The error that names the items whose verdict is `false`, if there are any.
fn refuse(verdicts: &[bool]) -> Result<(), Error> {
    let items: Vec<usize> = (0..verdicts.len()).filter(|&index| !verdicts[index]).collect();
    if items.is_empty() { Ok(()) } else { Err(Error::Decryption { items }) }
}
