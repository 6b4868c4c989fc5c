//! A pair of bases with the constants that depend on the bases alone.

use super::primes::{LARGEST_FACTOR, downwards};
use super::{Bounds, Channel, Matrix, MixedRadix, Quotient, words};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The number of channels is a multiple of this: one channel for each thread that shares a row of a matrix
/// product.
pub const GROUP: usize = 4;

/// The largest factors h to try, in order. More channels make longer sums in the base extensions, and
/// smaller primes leave more room for them.
const FACTORS: [u32; 6] = [LARGEST_FACTOR, 20_000, 18_500, 17_000, 15_500, 14_000];

/// The length in bits of the longest moduli that have bases. Above it other families are faster on every
/// device.
pub const MAX_BITS: usize = 8_448;

/// Two bases A and B of n primes each.
///
/// B has the n largest primes and A the next n. Sums of two products are reduced in A, where ranges are
/// tighter, and values must stay further below the product of B than below that of A.
#[derive(Debug)]
pub struct Bases {
    a: Vec<Channel>,
    b: Vec<Channel>,
    product_a: Vec<u32>,
    product_b: Vec<u32>,
    a_to_b: Matrix,
    b_to_a: Matrix,
    bounds: Bounds,
    capacity: usize,
    combine: Vec<u32>,
    quotient_factors: Vec<u32>,
    modulus_factors: Vec<u32>,
    cofactor_inverses: Vec<u32>,
    cofactors_a: Vec<u32>,
    cofactors_b: Vec<u32>,
    mixed_radix_a: MixedRadix,
    mixed_radix_b: MixedRadix,
}

impl Bases {
    /// The smallest bases for odd moduli of at most `bits` bits. Bases are computed once and kept. `None`
    /// above [`MAX_BITS`].
    #[must_use]
    pub fn for_bits(bits: usize) -> Option<Arc<Self>> {
        if bits > MAX_BITS {
            return None;
        }
        // Every prime is below 2^31, so fewer channels than this cannot hold `bits` bits.
        let fewest = bits.div_ceil(31).next_multiple_of(GROUP).max(GROUP);
        (fewest..).step_by(GROUP).find_map(|channels| match Self::with_channels(channels) {
            Some(bases) if bases.capacity >= bits => Some(Some(bases)),
            Some(_) => None,
            None => Some(None),
        })?
    }

    /// The bases of `channels` channels each. Bases are computed once and kept. `None` if `channels` is no
    /// multiple of [`GROUP`] or an inequality of [`Bounds`] fails.
    #[must_use]
    pub fn with_channels(channels: usize) -> Option<Arc<Self>> {
        static KNOWN: OnceLock<Mutex<BTreeMap<usize, Option<Arc<Bases>>>>> = OnceLock::new();
        if channels == 0 || !channels.is_multiple_of(GROUP) || channels > MAX_BITS / 29 {
            return None;
        }
        let known = KNOWN.get_or_init(Mutex::default);
        if let Some(bases) = known.lock().get(&channels) {
            return bases.clone();
        }
        // The lock is free meanwhile, so no thread waits for constants of another size.
        let bases = FACTORS.iter().find_map(|&largest| Self::new(channels, largest)).map(Arc::new);
        let mut known = known.lock();
        known.entry(channels).or_insert(bases).clone()
    }

    fn new(channels: usize, largest_factor: u32) -> Option<Self> {
        let mut primes = downwards(largest_factor).map(Channel::new);
        let b: Vec<Channel> = primes.by_ref().take(channels).collect();
        let a: Vec<Channel> = primes.take(channels).collect();
        let (a_to_b, b_to_a) = (Matrix::new(&a, &b, true), Matrix::new(&b, &a, false));
        let bounds = Bounds::new(&a, &b, &a_to_b, &b_to_a);
        if a.len() < channels || !bounds.holds() {
            return None;
        }
        let product_a = words::product(a.iter().map(|channel| channel.p));
        let product_b = words::product(b.iter().map(|channel| channel.p));
        let capacity = capacity(&bounds, &product_a, &product_b)?;
        let cofactors_a = own_cofactors(&a);
        let cofactors_b = own_cofactors(&b);
        let (mut combine, mut modulus_factors, mut cofactor_inverses) = (Vec::new(), Vec::new(), Vec::new());
        for (channel, &cofactor) in a.iter().zip(&cofactors_a) {
            let cofactor_inverse = channel.invert(cofactor);
            let product_b = b.iter().fold(1, |product, other| channel.multiply(product, other.p));
            let inverse_of_b = channel.multiply(channel.invert(product_b), channel.radix);
            combine.push(channel.multiply(channel.multiply(cofactor, inverse_of_b), channel.radix));
            modulus_factors.push(channel.multiply(cofactor_inverse, inverse_of_b));
            cofactor_inverses.push(cofactor_inverse);
        }
        let quotient_factor = |(channel, &cofactor): (&Channel, &u32)| {
            channel.multiply(channel.invert(cofactor), channel.radix_squared)
        };
        let quotient_factors = b.iter().zip(&cofactors_b).map(quotient_factor).collect();
        Some(Self {
            mixed_radix_a: MixedRadix::new(&a),
            mixed_radix_b: MixedRadix::new(&b),
            a,
            b,
            product_a,
            product_b,
            a_to_b,
            b_to_a,
            bounds,
            capacity,
            combine,
            quotient_factors,
            modulus_factors,
            cofactor_inverses,
            cofactors_a,
            cofactors_b,
        })
    }

    /// The number n of channels of each base.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.a.len()
    }

    /// Base A, which holds the running value.
    #[must_use]
    pub fn a(&self) -> &[Channel] {
        &self.a
    }

    /// Base B. Its product is Montgomery's radix R.
    #[must_use]
    pub fn b(&self) -> &[Channel] {
        &self.b
    }

    /// The product of base A in little-endian words.
    #[must_use]
    pub fn product_a(&self) -> &[u32] {
        &self.product_a
    }

    /// The product of base B in little-endian words.
    #[must_use]
    pub fn product_b(&self) -> &[u32] {
        &self.product_b
    }

    /// The cofactor `A_j = A / a_j` of channel j in little-endian words.
    #[must_use]
    pub fn cofactor_a(&self, channel: usize) -> Vec<u32> {
        words::quotient(&self.product_a, self.a[channel].p)
    }

    /// The length in bits of the longest moduli: all bounds hold for every N below `2^capacity`. Input
    /// numbers may be anything below `2^capacity`, whatever N is.
    #[must_use]
    pub fn capacity_bits(&self) -> usize {
        self.capacity
    }

    /// The length in bits of the longest moduli under other bounds of the same bases.
    pub(super) fn capacity_within(&self, bounds: &Bounds) -> Option<usize> {
        capacity(bounds, &self.product_a, &self.product_b)
    }

    /// The matrix of the first extension: from words of A and the quotient k to residues of B.
    #[must_use]
    pub fn a_to_b(&self) -> &Matrix {
        &self.a_to_b
    }

    /// The matrix of the second extension: from words of B to residues of A, without a quotient.
    #[must_use]
    pub fn b_to_a(&self) -> &Matrix {
        &self.b_to_a
    }

    /// The bounds of the bases and their matrices.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The approximation of the first extension's quotient.
    #[must_use]
    pub fn quotient(&self) -> &Quotient {
        &self.bounds.quotient
    }

    /// Whether `c0 + 2^8 c1` fits a word in every column, so that the shorter fold of a sum applies.
    #[must_use]
    pub fn narrow_fold(&self) -> bool {
        u32::try_from(self.bounds.low_sum).is_ok()
    }

    /// `C_j = A_j B^-1 2^64 mod a_j`.
    #[must_use]
    pub fn combine(&self) -> &[u32] {
        &self.combine
    }

    /// `B_i^-1 2^64 mod b_i`. Its product with `-N^-1` is a constant of the modulus.
    #[must_use]
    pub fn quotient_factors(&self) -> &[u32] {
        &self.quotient_factors
    }

    /// `B^-1 A_j^-1 2^32 mod a_j`. Its product with N is a constant of the modulus.
    #[must_use]
    pub fn modulus_factors(&self) -> &[u32] {
        &self.modulus_factors
    }

    /// `A_j^-1 mod a_j`, which turns a residue x mod a_j into its xi.
    #[must_use]
    pub fn cofactor_inverses(&self) -> &[u32] {
        &self.cofactor_inverses
    }

    /// `A_j mod a_j`, which turns an xi into its residue x mod a_j.
    #[must_use]
    pub fn cofactors_a(&self) -> &[u32] {
        &self.cofactors_a
    }

    /// `B_i mod b_i`.
    #[must_use]
    pub fn cofactors_b(&self) -> &[u32] {
        &self.cofactors_b
    }

    /// The mixed radix of base A.
    #[must_use]
    pub fn mixed_radix_a(&self) -> &MixedRadix {
        &self.mixed_radix_a
    }

    /// The mixed radix of base B.
    #[must_use]
    pub fn mixed_radix_b(&self) -> &MixedRadix {
        &self.mixed_radix_b
    }
}

/// The greatest `bits` with `2^bits room <= product` in both bases.
fn capacity(bounds: &Bounds, product_a: &[u32], product_b: &[u32]) -> Option<usize> {
    let within = |product: &[u32], room: u128| {
        let room = u32::try_from(room).ok()?;
        words::bit_length(&words::quotient(product, room)).checked_sub(1)
    };
    Some(within(product_a, bounds.room_a)?.min(within(product_b, bounds.room_b)?))
}

/// An estimate of the number of channels for moduli of `bits` bits, without computing the bases.
#[must_use]
pub fn channels_for(bits: usize) -> usize {
    // A channel holds 30.2 bits; 4 bits are room.
    ((bits + 4) * 5).div_ceil(151).next_multiple_of(GROUP)
}

/// For each prime of a base, the product of all others modulo that prime.
fn own_cofactors(base: &[Channel]) -> Vec<u32> {
    let cofactor = |(index, channel): (usize, &Channel)| {
        let (before, behind) = (&base[..index], &base[index + 1..]);
        before.iter().chain(behind).fold(1, |product, other| channel.multiply(product, other.p))
    };
    base.iter().enumerate().map(cofactor).collect()
}

/// `2^(32 i) mod p` for i from 0 to `count - 1`: the weights of the words of a number.
#[must_use]
pub fn powers_of_words(channel: Channel, count: usize) -> Vec<u32> {
    std::iter::successors(Some(1), |&power| Some(channel.multiply(power, channel.radix)))
        .take(count)
        .collect()
}
