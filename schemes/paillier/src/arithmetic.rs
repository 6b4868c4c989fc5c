//! Arithmetic on columns of ciphertexts. All of it needs the public key alone.
//!
//! | operation | on ciphertexts |
//! |---|---|
//! | a + b | `c d mod n^2` |
//! | -a | `c^-1 mod n^2` |
//! | a + m for a known m | `c (1 + m n) mod n^2` |
//! | a k for a known integer k | `c^k mod n^2`; for k < 0 the inverse to the power `-k`, which is much shorter than `n + k` |
//!
//! The answers are not masked again: who knows the operands can tell which answer belongs to them, and guess
//! m or k. [`Paillier::randomize`] hides that.

use crate::{Ciphertexts, Error, Integers, Masks, Paillier};
use modmill::{Batch, Operand, Public};

impl Paillier<'_> {
    /// Encryptions of the sums `a + b` modulo n.
    pub fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        a.expect("the second column", b)?;
        self.multiplied(a, b.values())
    }

    /// Encryptions of the differences `a - b` modulo n.
    pub fn sub(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        a.expect("the second column", b)?;
        self.multiplied(a, self.neg(b)?.values())
    }

    /// Encryptions of `-a` modulo n.
    pub fn neg(&self, a: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let inverses = self.engine.inv(a.values(), a.key().square())?;
        Ok(Ciphertexts::trusted(a.key(), inverses))
    }

    /// Encryptions of `a + m` modulo n, for plaintexts m below n. The time does not depend on m.
    pub fn add_plain(&self, a: &Ciphertexts, plaintexts: &Batch) -> Result<Ciphertexts, Error> {
        a.expect_len("the plaintexts", plaintexts.len())?;
        self.check_plaintexts(a.key(), plaintexts)?;
        self.multiplied(a, &self.powers_of_generator(self.engine, a.key(), plaintexts.view(), &[1])?)
    }

    /// Encryptions of `a k` modulo n, for one integer k for each item, or a single one for all. Magnitudes
    /// are below n. The time depends on the declared width of the integers and not on their values or signs;
    /// [`Paillier::mul_vartime`] is faster.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    /// use modmill_paillier::{Integers, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let column = paillier.encrypt(key.public_key(), &Batch::from_values([[30u64], [5]]))?;
    /// // 30 * -2 + 5 * 13
    /// let products = paillier.mul(&column, &Integers::from_i64(&[-2, 13]))?;
    /// let total = paillier.decrypt(&key, &paillier.sum(&products)?)?;
    /// assert_eq!(total.get(0)[0], 5);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn mul(&self, a: &Ciphertexts, integers: &Integers) -> Result<Ciphertexts, Error> {
        self.check_integers(a, integers)?;
        let inverses = self.neg(a)?;
        let flags = flags(integers)?;
        let (flags, exponents) = match integers.len() == a.len() {
            true => (Operand::from(&flags), Operand::from(integers.magnitudes())),
            false => (flags.shared(0), integers.magnitudes().shared(0)),
        };
        let bases = self.engine.select(flags, inverses.values(), a.values())?;
        let powers = self.engine.pow(&bases, exponents, a.key().square())?;
        Ok(Ciphertexts::trusted(a.key(), powers))
    }

    /// Products as [`Paillier::mul`] computes them, with public integers: the time depends on them.
    pub fn mul_vartime(&self, a: &Ciphertexts, integers: &Integers) -> Result<Ciphertexts, Error> {
        self.check_integers(a, integers)?;
        let bases = self.turned(a, integers)?;
        let exponents = match integers.len() == a.len() {
            true => Operand::from(integers.magnitudes()),
            false => integers.magnitudes().shared(0),
        };
        let powers = self.engine.pow(&bases, Public(exponents), a.key().square())?;
        Ok(Ciphertexts::trusted(a.key(), powers))
    }

    /// An encryption of the sum of a column, as a column of one item. The sum of an empty column is the
    /// ciphertext 1 of zero.
    pub fn sum(&self, a: &Ciphertexts) -> Result<Ciphertexts, Error> {
        Ok(Ciphertexts::trusted(a.key(), self.engine.product_mod(a.values(), a.key().square())?))
    }

    /// An encryption of the sum of all `a k` for public integers k, as a column of one item. The time depends
    /// on the integers.
    pub fn dot(&self, a: &Ciphertexts, weights: &Integers) -> Result<Ciphertexts, Error> {
        a.expect_len("the weights", weights.len())?;
        self.check_integers(a, weights)?;
        let (bases, square) = (self.turned(a, weights)?, a.key().square());
        let product = self.engine.product_of_powers(&bases, Public(weights.magnitudes()), square)?;
        Ok(Ciphertexts::trusted(a.key(), product))
    }

    /// Other ciphertexts of the same plaintexts, with fresh masks ([`Paillier::masks`]). Nobody without the
    /// private key can tell which column they came from.
    pub fn randomize(&self, a: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.randomize_with(a, self.masks(a.key(), a.len())?)
    }

    /// Other ciphertexts of the same plaintexts, with masks that were made before, one for each item. They
    /// are used up.
    pub fn randomize_with(&self, a: &Ciphertexts, masks: Masks) -> Result<Ciphertexts, Error> {
        a.key().expect("the masks", masks.key())?;
        a.expect_len("the masks", masks.len())?;
        self.multiplied(a, &masks.values)
    }

    /// The items of `a`, inverted where the integer is negative. One integer may serve all items.
    fn turned(&self, a: &Ciphertexts, integers: &Integers) -> Result<Batch, Error> {
        let is_shared = integers.len() != a.len();
        let negative = |index: usize| integers.is_negative(if is_shared { 0 } else { index });
        let turned: Vec<usize> = (0..a.len()).filter(|&index| negative(index)).collect();
        let mut bases = a.values().try_clone()?;
        if !turned.is_empty() {
            let inverses = self.engine.inv(&self.engine.gather(a.values(), &turned)?, a.key().square())?;
            for (&index, inverse) in turned.iter().zip(inverses.iter()) {
                bases.get_mut(index).copy_from_slice(inverse);
            }
        }
        Ok(bases)
    }

    fn multiplied(&self, a: &Ciphertexts, factors: &Batch) -> Result<Ciphertexts, Error> {
        let values = self.engine.mul_mod(a.values(), factors, a.key().square())?;
        Ok(Ciphertexts::trusted(a.key(), values))
    }

    /// Refuses integers that are as long as n, or too many or too few.
    fn check_integers(&self, a: &Ciphertexts, integers: &Integers) -> Result<(), Error> {
        if integers.len() != 1 {
            a.expect_len("the integers", integers.len())?;
        }
        let n = a.key().modulus().value();
        self.check_below("the integers", integers.magnitudes(), n, "below n in magnitude")
    }
}

/// One bit for each integer: whether it is negative.
fn flags(integers: &Integers) -> Result<Batch, Error> {
    let mut flags = Batch::try_zeros(1, integers.len())?;
    for (limb, &negative) in flags.as_limbs_mut().iter_mut().zip(integers.signs()) {
        *limb = u64::from(negative);
    }
    Ok(flags)
}
