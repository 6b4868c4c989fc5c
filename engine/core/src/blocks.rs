//! Powers from bytes to bytes: their operands, and the way of the numbers in and out.

use std::ops::Range;

/// The blocks of a call: big-endian numbers of eight bytes for each limb of the moduli. The caller makes them
/// and takes the answers chunk by chunk, while a device computes other chunks.
pub trait Blocks {
    /// Writes the blocks of `items`, one after the other. Each number is below its modulus. Chunks may come
    /// in any order, and a chunk may be asked for again before it was taken.
    fn fill(&mut self, items: Range<usize>, blocks: &mut [u8]);

    /// Takes the answers of `items`. `wrong` has one flag per item: non-zero if the item's answer failed its
    /// check. The block of such an item is zero.
    fn take(&mut self, items: Range<usize>, blocks: &mut [u8], wrong: &[u32]);
}

/// A value that all items share, or one value per item.
#[derive(Clone, Copy)]
pub enum PerItem<'a, T> {
    /// One value for all items.
    One(T),
    /// The value of each item, by its index.
    Each(&'a (dyn Fn(usize) -> T + Sync)),
}

impl<T: Copy> PerItem<'_, T> {
    /// The value of an item.
    #[must_use]
    pub fn get(&self, item: usize) -> T {
        match self {
            Self::One(one) => *one,
            Self::Each(get) => get(item),
        }
    }
}

/// A modulus that is the product of two primes, with an exponent, for powers by the Chinese remainder
/// theorem. Numbers are little-endian limbs.
#[derive(Clone, Copy)]
pub struct CrtModulus<'a> {
    /// The product n.
    pub modulus: &'a [u64],
    /// The primes p and q.
    pub primes: [&'a [u64]; 2],
    /// The exponents modulo p - 1 and q - 1; they need not be reduced.
    pub exponents: [&'a [u64]; 2],
    /// `q^-1 mod p`.
    pub coefficient: &'a [u64],
}

/// Powers with secret exponents by the Chinese remainder theorem, each checked with a short public exponent.
#[derive(Clone, Copy)]
pub struct CrtPowers<'a> {
    /// Number of items.
    pub count: usize,
    /// The moduli and exponents of the items.
    pub moduli: PerItem<'a, CrtModulus<'a>>,
    /// Length of every modulus, in bits.
    pub bits: usize,
    /// Number of limbs of every prime.
    pub prime_limbs: usize,
    /// Declared length of the exponents, in bits.
    pub exponent_bits: usize,
    /// Whether the exponents are blinded: random multiples of the orders p - 1 and q - 1, drawn for this
    /// call, were added to them. Addresses of table reads may then depend on them.
    pub blinded: bool,
    /// The exponent of the check: odd, at least 3, of at most 256 bits.
    pub public_exponent: &'a [u64],
}

/// Powers with one public exponent.
#[derive(Clone, Copy)]
pub struct PublicPowers<'a> {
    /// Number of items.
    pub count: usize,
    /// The moduli of the items, odd.
    pub moduli: PerItem<'a, &'a [u64]>,
    /// Length of every modulus, in bits.
    pub bits: usize,
    /// The exponent: odd, at least 3, of at most 256 bits.
    pub exponent: &'a [u64],
    /// Whether the blocks are secrets.
    pub secret: bool,
}
