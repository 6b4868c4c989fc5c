//! Private operations of RSA of several callers as one.

use super::{CALL_LIMBS, JOINED_LIMBS};
use modmill_core::{Blocks, CrtModulus, CrtPowers, PerItem};
use std::ops::Range;
use zeroize::Zeroizing;

/// The properties that private operations share if they can be computed as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CrtShape {
    bits: usize,
    prime_limbs: usize,
    exponent_bits: usize,
    blinded: bool,
    public_exponent: Vec<u64>,
}

impl CrtShape {
    /// The shape of a job; `None` if the job is not joined with others, because it is long or empty.
    pub(crate) fn of(job: &CrtPowers<'_>) -> Option<Self> {
        let shape = Self {
            bits: job.bits,
            prime_limbs: job.prime_limbs,
            exponent_bits: job.exponent_bits,
            blinded: job.blinded,
            public_exponent: job.public_exponent.to_vec(),
        };
        let limbs = job.bits.div_ceil(64).saturating_mul(job.count);
        (1..=CALL_LIMBS).contains(&limbs).then_some(shape)
    }

    /// Items of one batch, about.
    pub(crate) fn most(&self) -> usize {
        JOINED_LIMBS / self.bits.div_ceil(64).max(1)
    }
}

/// A copy of the blocks and keys of a call. Secrets are cleared when it is dropped.
pub(crate) struct CrtPart {
    count: usize,
    blocks: Zeroizing<Vec<u8>>,
    /// One key for all items, or one for each.
    keys: Vec<KeyCopy>,
}

/// The answers of a caller.
pub(crate) struct CrtAnswer {
    pub(crate) blocks: Zeroizing<Vec<u8>>,
    /// One flag for each item whose answer failed its check.
    pub(crate) wrong: Vec<u32>,
}

/// A copy of the parts of a key.
struct KeyCopy {
    /// The address of the caller's key. Callers wait while the copy lives, so that two keys at one address
    /// are one key.
    place: usize,
    /// The modulus, the primes, the exponents and the coefficient.
    parts: [Zeroizing<Vec<u64>>; 6],
}

impl KeyCopy {
    fn of(key: CrtModulus<'_>) -> Self {
        let CrtModulus { modulus, primes: [p, q], exponents: [first, second], coefficient } = key;
        let parts = [modulus, p, q, first, second, coefficient];
        Self { place: p.as_ptr() as usize, parts: parts.map(|part| Zeroizing::new(part.to_vec())) }
    }

    fn as_key(&self) -> CrtModulus<'_> {
        let [modulus, p, q, first, second, coefficient] = self.parts.each_ref().map(|part| part.as_slice());
        CrtModulus { modulus, primes: [p, q], exponents: [first, second], coefficient }
    }
}

impl CrtPart {
    /// Asks for the blocks of a job, and copies its keys.
    pub(crate) fn copy(job: &CrtPowers<'_>, blocks: &mut (dyn Blocks + Send)) -> Self {
        let mut octets = Zeroizing::new(vec![0; 8 * job.bits.div_ceil(64) * job.count]);
        blocks.fill(0..job.count, &mut octets);
        let keys = match job.moduli {
            PerItem::One(key) => vec![KeyCopy::of(key)],
            PerItem::Each(key) => (0..job.count).map(|item| KeyCopy::of(key(item))).collect(),
        };
        Self { count: job.count, blocks: octets, keys }
    }

    fn key(&self, item: usize) -> &KeyCopy {
        &self.keys[if self.keys.len() == 1 { 0 } else { item }]
    }

    /// Computes all parts as one job by `compute`; returns the answers of each part, or `None` if `compute`
    /// failed.
    pub(crate) fn compute(
        shape: &CrtShape,
        parts: &[Self],
        compute: impl for<'j> FnOnce(&'j CrtPowers<'j>, &mut (dyn Blocks + Send)) -> bool,
    ) -> Option<Vec<CrtAnswer>> {
        let stride = 8 * shape.bits.div_ceil(64);
        let count = parts.iter().map(|part| part.count).sum();
        let keys: Vec<&KeyCopy> =
            parts.iter().flat_map(|part| (0..part.count).map(|item| part.key(item))).collect();
        let first = *keys.first()?;
        // Callers that have the same key in memory may use each other's copy of it; a key that only looks
        // alike is another key.
        let is_one = keys.iter().all(|key| key.place == first.place);
        let get = |item: usize| keys[item].as_key();
        let job = CrtPowers {
            count,
            moduli: if is_one { PerItem::One(first.as_key()) } else { PerItem::Each(&get) },
            bits: shape.bits,
            prime_limbs: shape.prime_limbs,
            exponent_bits: shape.exponent_bits,
            blinded: shape.blinded,
            public_exponent: &shape.public_exponent,
        };
        let mut blocks = Zeroizing::new(Vec::with_capacity(count * stride));
        parts.iter().for_each(|part| blocks.extend_from_slice(&part.blocks));
        let answers = Zeroizing::new(vec![0; count * stride]);
        let mut joined = JoinedBlocks { stride, blocks, answers, wrong: vec![0; count] };
        if !compute(&job, &mut joined) {
            return None;
        }
        let mut start = 0;
        let own = |part: &Self| {
            let items = start..start + part.count;
            start = items.end;
            let octets = joined.answers[items.start * stride..items.end * stride].to_vec();
            CrtAnswer { blocks: Zeroizing::new(octets), wrong: joined.wrong[items].to_vec() }
        };
        Some(parts.iter().map(own).collect())
    }
}

/// The blocks of all parts.
struct JoinedBlocks {
    /// Bytes of a block.
    stride: usize,
    blocks: Zeroizing<Vec<u8>>,
    answers: Zeroizing<Vec<u8>>,
    wrong: Vec<u32>,
}

impl JoinedBlocks {
    fn octets(&self, items: &Range<usize>) -> Range<usize> {
        items.start * self.stride..items.end * self.stride
    }
}

impl Blocks for JoinedBlocks {
    fn fill(&mut self, items: Range<usize>, blocks: &mut [u8]) {
        blocks.copy_from_slice(&self.blocks[self.octets(&items)]);
    }

    fn take(&mut self, items: Range<usize>, blocks: &mut [u8], wrong: &[u32]) {
        let octets = self.octets(&items);
        self.answers[octets].copy_from_slice(blocks);
        self.wrong[items].copy_from_slice(wrong);
    }
}
