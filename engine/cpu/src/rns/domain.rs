//! Montgomery products in a residue number system, modulo one odd number.

use crate::remainder::{self, Scratch};
use modmill_core::limbs::{bit_length, reduce_once};
use modmill_core::rns::matrix::to_bytes;
use modmill_core::rns::{Bases, Channel, Matrix, ModulusConstants};
use std::sync::Arc;
use zeroize::Zeroizing;

/// One word per channel.
type Words = Zeroizing<Vec<u32>>;

/// A running value x: the lazy residues `x / A_j` modulo the primes of A.
#[derive(Clone)]
pub(crate) struct RnsValue(pub(super) Words);

/// A prepared second factor y: `y C_j / A_j` in A and `y c_i` in B. All residues are below their primes.
#[derive(Clone)]
pub(crate) struct RnsFactor {
    pub(super) a: Words,
    pub(super) b: Words,
}

/// Arithmetic modulo an odd number of at least 3 that shares no prime with base B.
///
/// A product is `x y / B`, so a number x is represented by `x B`. Values are below c N
/// ([`modmill_core::rns::Bounds`]), except for those that [`RnsDomain::load`] returns.
pub(crate) struct RnsDomain {
    bases: Arc<Bases>,
    modulus: Zeroizing<Vec<u64>>,
    constants: ModulusConstants,
    /// `B^2 mod N`: a product with it brings a number into Montgomery form.
    entry: RnsFactor,
    /// `B mod N`, which represents the number one.
    one: RnsValue,
}

impl RnsDomain {
    /// The domain of a modulus within the capacity of `bases`, or `None` if the modulus shares a factor with
    /// base B.
    #[must_use]
    pub(crate) fn new(bases: &Arc<Bases>, modulus: &[u64]) -> Option<Self> {
        let modulus = &modulus[..bit_length(modulus).div_ceil(64)];
        let constants = ModulusConstants::new(bases, modulus)?;
        let one = remainder_of_product(&to_limbs(bases.product_b()), &[1], modulus);
        let square = remainder_of_product(&one, &one, modulus);
        let nothing = RnsFactor { a: Words::default(), b: Words::default() };
        let mut domain = Self {
            bases: Arc::clone(bases),
            modulus: Zeroizing::new(modulus.to_vec()),
            constants,
            entry: nothing,
            one: RnsValue(Words::default()),
        };
        domain.one = domain.load(&one);
        domain.entry = domain.factor(&domain.load(&square));
        Some(domain)
    }

    /// The number one in Montgomery form.
    #[must_use]
    pub(crate) fn one(&self) -> &RnsValue {
        &self.one
    }

    /// Loads a number of any length without converting it to Montgomery form. A number whose limbs exceed the
    /// capacity of the bases is first reduced. The value is below A/2, and its product with a factor below N
    /// is below c N, as for any other product.
    #[must_use]
    pub(crate) fn load(&self, number: &[u64]) -> RnsValue {
        let reduced;
        let number = if 64 * number.len() <= self.bases.capacity_bits() {
            number
        } else {
            reduced = remainder_of_product(number, &[1], &self.modulus);
            &reduced
        };
        let words = || number.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        let channels = self.bases.a().iter().zip(self.bases.cofactor_inverses());
        let xi = channels.map(|(channel, &inverse)| channel.multiply(channel.remainder(words()), inverse));
        RnsValue(Words::new(xi.collect()))
    }

    /// Loads a number of any length and converts it to Montgomery form.
    #[must_use]
    pub(crate) fn enter(&self, number: &[u64]) -> RnsValue {
        let mut x = self.load(number);
        self.multiply(&mut x, &self.entry);
        x
    }

    /// Prepares a value as a second factor.
    #[must_use]
    pub(crate) fn factor(&self, y: &RnsValue) -> RnsFactor {
        // Both products multiply a word by a residue below p, so they are below 2p after reduction.
        let prepare = |channel: &Channel, y: u32, constant: u32| {
            channel.reduce_once(channel.redc(u64::from(y) * u64::from(constant)))
        };
        let a = self.bases.a().iter().zip(y.0.iter()).zip(self.bases.combine());
        let a = a.map(|((channel, &y), &combine)| prepare(channel, y, combine)).collect();
        let y_b = self.extend_to_b(y);
        let b = self.bases.b().iter().zip(y_b.iter()).zip(self.constants.quotient.iter());
        let b = b.map(|((channel, &y), &quotient)| prepare(channel, y, quotient)).collect();
        RnsFactor { a: Words::new(a), b: Words::new(b) }
    }

    /// `x <- x^2 / B`.
    pub(crate) fn square(&self, x: &mut RnsValue) {
        let x_b = self.extend_to_b(x);
        let xi = self.bases.b().iter().zip(x_b.iter()).zip(self.constants.quotient.iter());
        let xi = xi.map(|((channel, &x), &quotient)| {
            let square = channel.redc(u64::from(x) * u64::from(x));
            channel.redc(u64::from(square) * u64::from(quotient))
        });
        let q = self.extend_to_a(&Words::new(xi.collect()));
        self.combine(x, &q, |j, channel, xi| {
            let square = channel.redc(u64::from(xi) * u64::from(xi));
            u64::from(square) * u64::from(self.bases.combine()[j])
        });
    }

    /// `x <- x y / B`.
    pub(crate) fn multiply(&self, x: &mut RnsValue, y: &RnsFactor) {
        let q = self.extend_to_a(&self.quotient(x, y));
        self.combine(x, &q, |j, _, xi| u64::from(xi) * u64::from(y.a[j]));
    }

    /// `out <- x y / B mod N`, canonical, for a value x and a factor y below `2^capacity`. This is the last
    /// product of a computation. `out` has as many limbs as N.
    ///
    /// The quotient q is extended exactly and is below B, so `(x y + q N) / B < N + N`.
    pub(crate) fn finish(&self, mut x: RnsValue, y: &RnsFactor, out: &mut [u64]) {
        let q = self.extend_exactly_to_a(&self.quotient(&x, y));
        self.combine(&mut x, &q, |j, _, xi| u64::from(xi) * u64::from(y.a[j]));
        let mut digits = residues(self.bases.a(), &x.0, self.bases.cofactors_a());
        let mixed_radix = self.bases.mixed_radix_a();
        mixed_radix.digits(&mut digits);
        let mut words = Words::new(vec![0; self.bases.channels()]);
        mixed_radix.value(&digits, &mut words);
        let mut value = to_limbs(&words);
        reduce_once(&mut value, &self.modulus);
        let (low, above) = out.split_at_mut(value.len().min(out.len()));
        low.copy_from_slice(&value[..low.len()]);
        above.fill(0);
    }

    /// The number one as a factor, not in Montgomery form. A power ends with a product by it.
    #[must_use]
    pub(crate) fn unit(&self) -> RnsFactor {
        self.factor(&self.load(&[1]))
    }

    /// The words of Montgomery's quotient `-x y / N mod B`: `xi_i = q_i / B_i mod b_i`.
    fn quotient(&self, x: &RnsValue, y: &RnsFactor) -> Words {
        let x_b = self.extend_to_b(x);
        let words = self.bases.b().iter().zip(x_b.iter()).zip(y.b.iter());
        Words::new(words.map(|((channel, &x), &y)| channel.redc(u64::from(x) * u64::from(y))).collect())
    }

    /// `x <- (product + q N) / B` in base A. `product` returns x times the second factor.
    fn combine(&self, x: &mut RnsValue, q: &[u32], product: impl Fn(usize, Channel, u32) -> u64) {
        let channels = self.bases.a().iter().zip(q).zip(self.constants.modulus.iter());
        for ((j, xi), ((channel, &q), &modulus)) in x.0.iter_mut().enumerate().zip(channels) {
            *xi = channel.redc(u64::from(q) * u64::from(modulus) + product(j, *channel, *xi));
        }
    }

    /// x modulo the primes of B, by Kawamura's approximation of the quotient by A.
    fn extend_to_b(&self, x: &RnsValue) -> Words {
        let k = self.bases.quotient().of(&x.0);
        extend(self.bases.a_to_b(), self.bases.b(), &x.0, k)
    }

    /// q plus a multiple of B, modulo the primes of A. The multiple is not computed.
    fn extend_to_a(&self, xi: &[u32]) -> Words {
        extend(self.bases.b_to_a(), self.bases.a(), xi, 0)
    }

    /// q modulo the primes of A, exactly, by mixed-radix conversion.
    fn extend_exactly_to_a(&self, xi: &[u32]) -> Words {
        let mut digits = residues(self.bases.b(), xi, self.bases.cofactors_b());
        let mixed_radix = self.bases.mixed_radix_b();
        mixed_radix.digits(&mut digits);
        Words::new(self.bases.a().iter().map(|&channel| mixed_radix.residue(&digits, channel)).collect())
    }
}

fn extend(matrix: &Matrix, to: &[Channel], words: &[u32], quotient: u32) -> Words {
    let bytes = to_bytes(words, quotient);
    let fold = |(index, channel): (usize, &Channel)| channel.fold(matrix.total(index, &bytes));
    Words::new(to.iter().enumerate().map(fold).collect())
}

/// The canonical residues of a number with the words xi.
fn residues(base: &[Channel], xi: &[u32], cofactors: &[u32]) -> Words {
    let channels = base.iter().zip(xi).zip(cofactors);
    Words::new(channels.map(|((channel, &xi), &cofactor)| channel.multiply(xi, cofactor)).collect())
}

fn to_limbs(words: &[u32]) -> Zeroizing<Vec<u64>> {
    let limb = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
    Zeroizing::new(words.chunks(2).map(limb).collect())
}

fn remainder_of_product(a: &[u64], b: &[u64], modulus: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut out = Zeroizing::new(vec![0; modulus.len()]);
    let mut scratch = Scratch::new(a.len() + b.len(), modulus.len());
    remainder::mul_mod(a, b, modulus, &mut out, &mut scratch);
    out
}
