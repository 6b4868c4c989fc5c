//! Public keys.

use super::base::{ShortBase, check_exponent_bits, check_short_base, half_bits, random_base};
use crate::rows::shared;
use crate::{Error, KeyError, MAX_BITS, MIN_BITS};
use modmill::number::{self, Number};
use modmill::{Engine, FixedBase, Modulus, Operand};
use modmill_primes::ModulusFlaw;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A public key: the modulus n, and for short exponents the base `hs = h^n mod n^2`. A clone is cheap, and
/// shares the constants that were computed for the moduli.
///
/// Two keys are equal if their n are equal, and their bases with the lengths of their exponents. Ciphertexts
/// of keys with the same n can be added to each other, whatever their bases ([`PublicKey::has_modulus_of`]).
#[derive(Clone)]
pub struct PublicKey(Arc<Parts>);

struct Parts {
    modulus: Modulus,
    square: Modulus,
    fingerprint: [u8; 32],
    /// The fingerprint of the key without its base.
    modulus_fingerprint: [u8; 32],
    short: Option<Short>,
    greatest_signed: Vec<u64>,
}

/// The base of short exponents.
struct Short {
    base: Number,
    /// The length of its exponents.
    exponent_bits: usize,
    /// Its powers, made by the first encryption.
    fixed: OnceLock<FixedBase>,
}

impl Short {
    /// The fingerprint of a key with this base, from that of n.
    fn fingerprint(&self, modulus: &[u8; 32]) -> [u8; 32] {
        let hash = Sha256::new().chain_update(b"modmill paillier n, hs").chain_update(modulus);
        let hash = hash.chain_update((self.exponent_bits as u64).to_le_bytes());
        hash.chain_update(number::to_short_be_bytes(&self.base)).finalize().into()
    }
}

impl PublicKey {
    /// A key from the big-endian bytes of n. An n that anyone can factor is refused: one that is even, has a
    /// prime factor below 2^16, or is a power of another number.
    ///
    /// ```
    /// use modmill_paillier::{KeyError, PublicKey};
    ///
    /// let mut n = [0xff; 128];
    /// n[127] = 0xd9;
    /// assert_eq!(PublicKey::new(&n)?.bits(), 1024);
    /// assert_eq!(PublicKey::new(&[0xff; 64]).unwrap_err(), KeyError::Length { bits: 512 });
    /// let flawed = PublicKey::new(&[0xff; 128]).unwrap_err();
    /// assert_eq!(flawed.to_string(), "n is not well-formed: it is divisible by 3");
    /// # Ok::<(), KeyError>(())
    /// ```
    pub fn new(n: &[u8]) -> Result<Self, KeyError> {
        Self::of_stranger(&number::from_be_bytes(n), None)
    }

    /// A key from the big-endian bytes of n and of `hs`, the base for short exponents. An `hs` that is 1 or
    /// -1 modulo n is refused: ciphertexts that it masks can be read by anyone. Whether `hs` is the n-th
    /// power that it should be cannot be seen without the private key: it has to come from whoever made the
    /// key.
    pub fn with_short_base(n: &[u8], hs: &[u8]) -> Result<Self, KeyError> {
        let base = ShortBase { hs: number::from_be_bytes(hs), exponent_bits: None };
        Self::of_stranger(&number::from_be_bytes(n), Some(base))
    }

    /// A key with exponents of `exponent_bits` bits, for a base `hs` of a small subgroup
    /// ([`Randomness::Subgroup`](crate::Randomness::Subgroup)). Fewer than four times the strength of n are
    /// refused.
    pub fn with_subgroup_base(n: &[u8], hs: &[u8], exponent_bits: usize) -> Result<Self, KeyError> {
        let base = ShortBase { hs: number::from_be_bytes(hs), exponent_bits: Some(exponent_bits) };
        Self::of_stranger(&number::from_be_bytes(n), Some(base))
    }

    /// This key with a new base for short exponents of half the length of n, as
    /// [`Randomness::Short`](crate::Randomness::Short) makes it. Anyone can make one; it serves if the primes
    /// of n are 3 modulo 4 and `gcd(p - 1, q - 1) = 2`, as in keys that were generated for short exponents.
    pub fn with_new_base(&self, engine: &Engine) -> Result<Self, Error> {
        let hs = random_base(engine, self.modulus().value())?;
        Ok(Self::of_number(self.modulus().value(), Some(ShortBase { hs, exponent_bits: None }))?)
    }

    /// A key from numbers of which n may be flawed.
    pub(crate) fn of_stranger(n: &[u64], short_base: Option<ShortBase>) -> Result<Self, KeyError> {
        // The length is checked first, because the search takes long for a long number.
        let key = Self::of_number(n, short_base)?;
        ModulusFlaw::find(key.modulus().value()).map_or(Ok(key), |flaw| Err(KeyError::Modulus(flaw)))
    }

    /// A key from numbers of which n is the product of two primes.
    pub(crate) fn of_number(n: &[u64], short_base: Option<ShortBase>) -> Result<Self, KeyError> {
        let bits = number::bit_length(n);
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(KeyError::Length { bits });
        }
        if n[0] & 1 == 0 {
            return Err(KeyError::Even);
        }
        let zero = |_| KeyError::Length { bits };
        let modulus = Modulus::new(n).map_err(zero)?;
        let square = Modulus::new(&number::mul(n, n)).map_err(zero)?;
        let short = match short_base {
            Some(ShortBase { hs, exponent_bits }) => {
                let exponent_bits = exponent_bits.unwrap_or(half_bits(bits));
                check_short_base(&hs, &modulus, &square)?;
                check_exponent_bits(exponent_bits, bits)?;
                Some(Short { base: hs, exponent_bits, fixed: OnceLock::new() })
            }
            None => None,
        };
        let octets = number::to_short_be_bytes(modulus.value());
        let hash = Sha256::new().chain_update(b"modmill paillier n").chain_update(octets);
        let modulus_fingerprint = hash.finalize().into();
        let fingerprint =
            short.as_ref().map_or(modulus_fingerprint, |short| short.fingerprint(&modulus_fingerprint));
        let mut greatest_signed = third(modulus.value());
        number::sub_assign(&mut greatest_signed, &[1]);
        Ok(Self(Arc::new(Parts {
            modulus,
            square,
            fingerprint,
            modulus_fingerprint,
            short,
            greatest_signed,
        })))
    }

    /// The length of n in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.modulus.bits()
    }

    /// The modulus n. Plaintexts are below n.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.0.modulus
    }

    /// The square of n. Ciphertexts are below it.
    #[must_use]
    pub fn square(&self) -> &Modulus {
        &self.0.square
    }

    /// The bytes of a ciphertext: those of the square of n.
    #[must_use]
    pub fn ciphertext_octets(&self) -> usize {
        self.square().bits().div_ceil(8)
    }

    /// `1 - 2^shift n mod n^2`: what makes of `(2^shift + s) n` the power `1 + s n` of the generator. Without
    /// a shift it is 1.
    pub(crate) fn summand(&self, shift: Option<usize>) -> Vec<u64> {
        let square = self.square().value();
        let mut summand = vec![0; square.len()];
        if let Some(shift) = shift {
            let mut multiple = vec![0; square.len()];
            number::shift_left(self.modulus().value(), shift, &mut multiple);
            summand.copy_from_slice(square);
            number::sub_assign(&mut summand, &multiple);
        }
        number::add_assign(&mut summand, &[1]);
        summand
    }

    /// Whether `2^bits + s` is below n and `1 + s n + n^2` is no longer than `n^2` for all integers s of
    /// `bits` bits. For short integers that is the rule: few squares are so close to the next power of two.
    pub(crate) fn has_room_for_shift(&self, bits: usize) -> bool {
        if bits + 2 >= self.bits() {
            return false;
        }
        let square = self.square();
        let mut greatest = vec![0; square.value().len() + 1];
        number::shift_left(self.modulus().value(), bits, &mut greatest);
        number::add_assign(&mut greatest, square.value());
        number::bit_length(&greatest) == square.bits()
    }

    /// The base `hs = h^n mod n^2` of short exponents, least significant limb first, if the key has one.
    #[must_use]
    pub fn short_base(&self) -> Option<&[u64]> {
        self.0.short.as_ref().map(|short| &short.base[..])
    }

    /// The powers of the base of short exponents. They are made at first use and kept.
    pub(crate) fn fixed_base(&self, engine: &Engine) -> Result<&FixedBase, Error> {
        let short = self.0.short.as_ref().ok_or(Error::NoShortExponents)?;
        fixed_base(engine, &short.fixed, &short.base, &self.0.square, short.exponent_bits)
    }

    /// The length of short exponents: half the length of n, or less for a base of a small subgroup.
    #[must_use]
    pub fn short_exponent_bits(&self) -> usize {
        self.0.short.as_ref().map_or(half_bits(self.bits()), |short| short.exponent_bits)
    }

    /// SHA-256 of n, and of the base with the length of its exponents if the key has one: what tells keys
    /// apart.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.0.fingerprint
    }

    /// Whether another key has the same n. The private key of either decrypts ciphertexts of both, and they
    /// can be added to each other.
    #[must_use]
    pub fn has_modulus_of(&self, other: &Self) -> bool {
        self.0.modulus_fingerprint == other.0.modulus_fingerprint
    }

    /// Refuses the fingerprint of another key. The fingerprint of n alone is taken for any base: keys without
    /// a base have it, and files of earlier versions have it for all keys.
    pub(crate) fn expect_fingerprint(&self, what: &'static str, found: &[u8; 32]) -> Result<(), Error> {
        if [&self.0.fingerprint, &self.0.modulus_fingerprint].contains(&found) {
            return Ok(());
        }
        Err(Error::WrongKey { what, expected: self.short_name(), found: short_name(found) })
    }

    /// The length of the longest signed numbers that can be encoded, in bits: magnitudes below
    /// `2^signed_bits` are at most `n / 3 - 1`.
    #[must_use]
    pub fn signed_bits(&self) -> usize {
        // n >= 2^(bits - 1), so that n / 3 - 1 > 2^(bits - 3).
        self.bits() - 3
    }

    /// The greatest number that is encoded as itself: `n / 3 - 1`, rounded down, in as many limbs as n.
    pub(crate) fn greatest_signed(&self) -> &[u64] {
        &self.0.greatest_signed
    }

    /// n as an operand that all items of a call share.
    pub(crate) fn shared_modulus(&self) -> Operand<'_> {
        Operand::Shared { bits: self.bits(), value: self.modulus().value() }
    }

    /// Refuses an operand of another n.
    pub(crate) fn expect(&self, what: &'static str, found: &Self) -> Result<(), Error> {
        if self.has_modulus_of(found) {
            return Ok(());
        }
        Err(Error::WrongKey { what, expected: self.short_name(), found: found.short_name() })
    }

    /// The start of the fingerprint, for errors.
    pub(crate) fn short_name(&self) -> String {
        short_name(self.fingerprint())
    }
}

/// The powers of `base` modulo `modulus` by exponents of `bits` bits, which `kept` keeps.
pub(crate) fn fixed_base<'k>(
    engine: &Engine,
    kept: &'k OnceLock<FixedBase>,
    base: &[u64],
    modulus: &Modulus,
    bits: usize,
) -> Result<&'k FixedBase, Error> {
    if let Some(fixed) = kept.get() {
        return Ok(fixed);
    }
    // If two threads come first at the same time, both make it, and one is kept.
    let made = engine.fixed_base(shared(base), modulus, bits)?;
    Ok(kept.get_or_init(|| made))
}

/// `floor(n / 3)`.
fn third(n: &[u64]) -> Vec<u64> {
    let mut quotient = vec![0; n.len()];
    let mut rest = 0;
    for (limb, &digit) in quotient.iter_mut().zip(n).rev() {
        let dividend = u128::from(rest) << 64 | u128::from(digit);
        // The rest is below 3, so that the quotient fits one limb.
        (*limb, rest) = ((dividend / 3) as u64, (dividend % 3) as u64);
    }
    quotient
}

/// The first eight bytes of a fingerprint in hexadecimal.
fn short_name(fingerprint: &[u8; 32]) -> String {
    fingerprint[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} bits, {})", self.bits(), self.short_name())
    }
}
