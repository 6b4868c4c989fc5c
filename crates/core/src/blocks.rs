//! Calls that go from octets to octets, chunk by chunk: what a device that has a whole operation of RSA is
//! handed.

use std::ops::Range;

/// The blocks of a call: big-endian numbers, each in eight octets for every limb of the moduli. They are made
/// and taken chunk by chunk, while a device computes others.
pub trait Blocks {
    /// Writes the blocks of some items, one after the other; each number is below its modulus.
    fn fill(&mut self, items: Range<usize>, blocks: &mut [u8]);

    /// Takes the answers of some items, and a word for each that is not zero where the answer did not pass its
    /// check. Such a block is zero.
    fn take(&mut self, items: Range<usize>, blocks: &mut [u8], wrong: &[u32]);
}

/// Something that all items share, or that each has for itself.
#[derive(Clone, Copy)]
pub enum PerItem<'a, T> {
    /// One for all.
    One(T),
    /// That of an item.
    Each(&'a (dyn Fn(usize) -> T + Sync)),
}

impl<T: Copy> PerItem<'_, T> {
    /// That of an item.
    #[must_use]
    pub fn get(&self, item: usize) -> T {
        match self {
            Self::One(one) => *one,
            Self::Each(get) => get(item),
        }
    }
}

/// A modulus that is the product of two primes, as little-endian limbs.
#[derive(Clone, Copy)]
pub struct CrtKey<'a> {
    /// The product.
    pub modulus: &'a [u64],
    /// The primes, p and q.
    pub primes: [&'a [u64]; 2],
    /// The exponents modulo p - 1 and q - 1; they need not be below.
    pub exponents: [&'a [u64]; 2],
    /// `q^-1 mod p`.
    pub coefficient: &'a [u64],
}

/// Powers with secret exponents by the Chinese remainder theorem, each checked with the public exponent.
#[derive(Clone, Copy)]
pub struct CrtJob<'a> {
    /// How many items there are.
    pub count: usize,
    /// Their keys.
    pub keys: PerItem<'a, CrtKey<'a>>,
    /// Length of every modulus, in bits.
    pub bits: usize,
    /// Limbs that every prime has.
    pub prime_limbs: usize,
    /// Declared length of the exponents, in bits.
    pub exponent_bits: usize,
    /// The exponents are random multiples of the orders away from those of the key, drawn for this call, so
    /// that what is read from tables may depend on them.
    pub blinded: bool,
    /// What the answers are checked with: odd, at least 3, of at most 256 bits.
    pub public_exponent: &'a [u64],
}

/// Powers with one public exponent.
#[derive(Clone, Copy)]
pub struct PublicJob<'a> {
    /// How many items there are.
    pub count: usize,
    /// Their moduli, odd.
    pub moduli: PerItem<'a, &'a [u64]>,
    /// Length of every modulus, in bits.
    pub bits: usize,
    /// Odd, at least 3, of at most 256 bits.
    pub exponent: &'a [u64],
    /// Whether the blocks are secrets.
    pub secret: bool,
}
