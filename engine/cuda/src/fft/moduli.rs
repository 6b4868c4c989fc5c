//! Long moduli with their reciprocals, which the host finds: whole for one modulus of all items, the first
//! bits where every item has its own.

use crate::error::{Error, Result};
use crate::staging::{ByItem, Origin, Source};
use modmill_core::limbs::{add_assign, bit_length, shift_left, shift_right};
use modmill_core::{Job, Moduli, Modulus};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Limbs of a number that may be secret.
type Limbs = Zeroizing<Vec<u64>>;

/// The most steps of Newton's iteration on the device. Each is two products, and halves the bits that the
/// host finds.
const STEPS: usize = 4;

/// Bits that cost the host next to nothing.
const FEW_BITS: usize = 512;

/// Bits of the last precision beyond those of the modulus.
pub(super) const SPARE: usize = 8;

/// Precisions of Newton's iteration for moduli of `bits` bits. The first is the host's, in whole limbs.
pub(super) fn precisions(bits: usize) -> Vec<usize> {
    let mut from_last = vec![bits + SPARE];
    loop {
        let last = from_last[from_last.len() - 1];
        if from_last.len() > 1 && (from_last.len() > STEPS || last <= FEW_BITS) {
            break;
        }
        from_last.push((last + 6).div_ceil(2));
    }
    from_last.reverse();
    from_last[0] = from_last[0].next_multiple_of(64);
    from_last
}

/// A way to find reciprocals of long numbers on the host.
pub trait Reciprocals: Send + Sync {
    /// `floor((B^2j - 1) / d)` for a divisor d of j limbs whose highest bit is set, where `B = 2^64`; it has
    /// j + 1 limbs.
    fn reciprocal(&self, divisor: &[u64]) -> Limbs;
}

/// A modulus d of n bits and its reciprocal `m = floor((2^2n - 1) / d) - 2^n`.
pub(crate) struct LongModulus {
    pub(super) divisor: Limbs,
    pub(super) reciprocal: Limbs,
    bits: usize,
}

impl LongModulus {
    /// The modulus of n bits with a reciprocal `floor((2^2n - 1) / d)`; an error if the latter has not n + 1
    /// bits.
    fn new(divisor: &[u64], reciprocal: &[u64]) -> Result<Self> {
        let bits = bit_length(divisor);
        if bits == 0 || bit_length(reciprocal) != bits + 1 {
            return Err(wrong_reciprocal(bits));
        }
        let limbs = bits.div_ceil(64);
        let mut low = Zeroizing::new(reciprocal[..limbs].to_vec());
        if !bits.is_multiple_of(64) {
            low[limbs - 1] ^= 1 << (bits % 64);
        }
        Ok(Self { divisor: Zeroizing::new(divisor[..limbs].to_vec()), reciprocal: low, bits })
    }

    /// The modulus with the reciprocal that the host finds.
    fn of(modulus: &[u64], reciprocals: &dyn Reciprocals) -> Result<Self> {
        let (normalised, shift) = normalised(modulus);
        // floor((2^(2n + 2 shift) - 1) / (2^shift d)), over 2^shift.
        let above = reciprocals.reciprocal(&normalised);
        let mut exact = Zeroizing::new(vec![0; above.len()]);
        shift_right(&above, shift, &mut exact);
        Self::new(modulus, &exact)
    }

    /// The modulus and its reciprocal with zeros on top, so that both numbers have `limbs` limbs.
    pub(super) fn padded(modulus: &[u64], limbs: usize, reciprocals: &dyn Reciprocals) -> Result<Self> {
        let mut padded = Self::of(modulus, reciprocals)?;
        for number in [&mut padded.divisor, &mut padded.reciprocal] {
            let mut longer = Zeroizing::new(vec![0; limbs.max(number.len())]);
            longer[..number.len()].copy_from_slice(number);
            *number = longer;
        }
        Ok(padded)
    }
}

/// A modulus with the first bits of its reciprocal, from which the device finds the others.
pub(crate) struct SeededModulus {
    divisor: Limbs,
    seed: Limbs,
    bits: usize,
}

impl SeededModulus {
    /// The modulus d with the seed that the host finds: `floor((B^2j - 1) / D)`, or `B^j` if D is, where j is
    /// [`SeededModulus::seed_limbs`] and D the highest j limbs of `2^k d` for the k that sets the highest
    /// bit, plus one.
    fn of(modulus: &[u64], reciprocals: &dyn Reciprocals) -> Result<Self> {
        let bits = bit_length(modulus);
        let limbs = Self::seed_limbs(bits);
        let (mut normalised, _) = normalised(modulus);
        let start = normalised.len() - limbs;
        let leading = &mut normalised[start..];
        // One more than all ones is B^j, and so is the seed.
        let seed = match add_assign(leading, &[1]) {
            0 => reciprocals.reciprocal(leading),
            _ => {
                let mut power = vec![0; limbs + 1];
                power[limbs] = 1;
                Zeroizing::new(power)
            }
        };
        if bit_length(&seed) != 64 * limbs + 1 {
            return Err(wrong_reciprocal(64 * limbs));
        }
        Ok(Self { divisor: Zeroizing::new(modulus[..bits.div_ceil(64)].to_vec()), seed, bits })
    }

    /// Limbs of the divisor that the seed is found from, for moduli of `bits` bits.
    pub(crate) fn seed_limbs(bits: usize) -> usize {
        precisions(bits)[0] / 64
    }
}

fn wrong_reciprocal(bits: usize) -> Error {
    let reason = format!("the reciprocal of a modulus of {bits} bits has not one bit more");
    Error::Call { call: "Reciprocals::reciprocal", reason }
}

/// The modulus without zeros above, and the number of bits that it was shifted by.
fn normalised(modulus: &[u64]) -> (Limbs, usize) {
    let bits = bit_length(modulus);
    let limbs = bits.div_ceil(64);
    let shift = 64 * limbs - bits;
    let mut normalised = Zeroizing::new(vec![0; limbs]);
    shift_left(&modulus[..limbs], shift, &mut normalised);
    (normalised, shift)
}

/// The moduli of a job with their reciprocals, all of one length in bits: one for all items, or one for each
/// item by its index.
pub(crate) enum LongModuli {
    One(Arc<LongModulus>),
    Each(HashMap<usize, Arc<SeededModulus>>),
}

impl ByItem for HashMap<usize, Arc<SeededModulus>> {
    fn number(&self, item: usize, kind: usize) -> &[u64] {
        let modulus = &self[&item];
        if kind == DIVISOR { &modulus.divisor } else { &modulus.seed }
    }
}

/// The kinds of numbers that an item with a modulus of its own has.
const DIVISOR: usize = 0;
const SEED: usize = 1;

impl LongModuli {
    /// Bits of every modulus; 0 if there is none.
    pub(crate) fn bits(&self) -> usize {
        match self {
            Self::One(modulus) => modulus.bits,
            Self::Each(moduli) => moduli.values().next().map_or(0, |modulus| modulus.bits),
        }
    }

    pub(super) fn limbs(&self) -> usize {
        match self {
            Self::One(modulus) => modulus.divisor.len(),
            Self::Each(_) => self.bits().div_ceil(64),
        }
    }

    /// The moduli and the first bits of their reciprocals as they are copied in for every chunk, where every
    /// item has its own.
    pub(super) fn sources(&self) -> Result<[Source<'_>; 2]> {
        let Self::Each(moduli) = self else { return Ok([Source::NONE; 2]) };
        let seed_limbs = SeededModulus::seed_limbs(self.bits()) + 1;
        Ok([
            Source::new(Origin::ByItem(moduli, DIVISOR), self.limbs())?,
            Source::new(Origin::ByItem(moduli, SEED), seed_limbs)?,
        ])
    }

    /// Finds the reciprocals of the moduli of a job, all of one length in bits. Moduli that keep constants
    /// keep these.
    pub(crate) fn of(job: &Job<'_>, reciprocals: &dyn Reciprocals) -> Result<Self> {
        let seeded = |item: usize| -> Result<Arc<SeededModulus>> {
            match job.moduli {
                Moduli::Prepared(moduli) => kept(moduli[item], |value| SeededModulus::of(value, reciprocals)),
                Moduli::Each(_) | Moduli::Shared(_) | Moduli::Resident(_) => {
                    Ok(Arc::new(SeededModulus::of(job.moduli.get(item), reciprocals)?))
                }
            }
        };
        Ok(match job.moduli {
            Moduli::Shared(modulus) => Self::One(kept(modulus, |value| LongModulus::of(value, reciprocals))?),
            Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => {
                let each = |place: usize| {
                    let item = job.items.get(place);
                    Ok((item, seeded(item)?))
                };
                Self::Each((0..job.items.len()).into_par_iter().map(each).collect::<Result<_>>()?)
            }
        })
    }
}

/// Constants that a modulus keeps; an error is not kept.
fn kept<T: Send + Sync + 'static>(
    modulus: &Modulus,
    make: impl FnOnce(&[u64]) -> Result<T>,
) -> Result<Arc<T>> {
    match modulus.known_constants() {
        Some(known) => Ok(known),
        None => {
            let made = make(modulus.value())?;
            Ok(modulus.constants(|_| made))
        }
    }
}

/// The places of a job's items by the length of their moduli, in bits.
pub(crate) fn places_by_bits(job: &Job<'_>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups = BTreeMap::<usize, Vec<usize>>::new();
    match job.moduli {
        _ if job.bits == job.shortest_bits => {
            groups.insert(job.bits, (0..job.items.len()).collect());
        }
        moduli => {
            for (place, item) in job.items.iter().enumerate() {
                groups.entry(bit_length(moduli.get(item))).or_default().push(place);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    struct Oracle;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    impl Reciprocals for Oracle {
        fn reciprocal(&self, divisor: &[u64]) -> Limbs {
            let all = (BigUint::from(1u8) << (128 * divisor.len())) - 1u8;
            Zeroizing::new((all / big(divisor)).to_u64_digits())
        }
    }

    #[test]
    fn reciprocals_are_exact() {
        for text in ["3", "8000000000000000", "ffffffffffffffff", "10000000000000001", "5432123456789abcdef"]
        {
            let modulus = Modulus::from_hex(text).unwrap();
            let power = BigUint::from(1u8) << (2 * modulus.bits());
            let expected = (power - 1u8) / big(modulus.value()) - (BigUint::from(1u8) << modulus.bits());
            let long = LongModulus::of(modulus.value(), &Oracle).unwrap();
            assert_eq!((long.bits, big(&long.reciprocal)), (modulus.bits(), expected));
        }
    }

    /// A wrong reciprocal is an error, not a panic.
    #[test]
    fn wrong_reciprocals_are_refused() {
        struct Wrong;
        impl Reciprocals for Wrong {
            fn reciprocal(&self, divisor: &[u64]) -> Limbs {
                Zeroizing::new(vec![0; divisor.len() + 1])
            }
        }
        let modulus = vec![u64::MAX / 3; 64];
        assert!(matches!(LongModulus::of(&modulus, &Wrong), Err(Error::Call { .. })));
        assert!(matches!(SeededModulus::of(&modulus, &Wrong), Err(Error::Call { .. })));
        assert!(matches!(LongModulus::new(&[], &[1]), Err(Error::Call { .. })));
    }
}
