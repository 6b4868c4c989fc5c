//! Random numbers from the operating system.

use super::Error;
use modmill_core::{Batch, limbs};
use zeroize::{Zeroize, Zeroizing};

/// Random bytes that are asked for at a time.
const AT_ONCE: usize = 1 << 16;

/// Overwrites `limbs` with random bits.
pub(super) fn fill(limbs: &mut [u64]) -> Result<(), Error> {
    let mut bytes = Zeroizing::new(vec![0; AT_ONCE.min(8 * limbs.len())]);
    for part in limbs.chunks_mut(AT_ONCE / 8) {
        let bytes = &mut bytes[..8 * part.len()];
        getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))?;
        for (limb, bytes) in part.iter_mut().zip(bytes.as_chunks().0) {
            *limb = u64::from_le_bytes(*bytes);
        }
    }
    Ok(())
}

/// `count` random limbs.
pub(super) fn words(count: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
    let mut words = Zeroizing::new(vec![0; count]);
    fill(&mut words)?;
    Ok(words)
}

/// `count` uniform numbers below `bound`, which has `bits` bits: numbers of as many bits that are not below
/// are drawn again.
pub(super) fn below(bound: &[u64], bits: usize, count: usize) -> Result<Batch, Error> {
    let mut batch = Batch::try_zeros(bits, count)?;
    let excess = 64 * batch.stride() - bits;
    for index in 0..count {
        let number = batch.get_mut(index);
        loop {
            fill(number)?;
            if let Some(top) = number.last_mut() {
                *top >>= excess;
            }
            if number.iter().rev().lt(bound.iter().rev()) {
                break;
            }
        }
    }
    Ok(batch)
}

/// A uniform index below `bound`.
pub(super) fn index_below(bound: usize) -> Result<usize, Error> {
    let mask = bound.next_power_of_two() as u64 - 1;
    let mut word = [0];
    loop {
        fill(&mut word)?;
        let index = (word[0] & mask) as usize;
        word.zeroize();
        if index < bound {
            return Ok(index);
        }
    }
}

/// `count` distinct indices below n, a power of two up to `2^16`, each with a random sign.
pub(super) fn signed_places(n: usize, count: usize) -> Result<Zeroizing<Vec<(u32, bool)>>, Error> {
    let mut places: Zeroizing<Vec<(u32, bool)>> = Zeroizing::new(Vec::with_capacity(count));
    while places.len() < count {
        for word in words(count)?.iter() {
            let place = (*word % n as u64) as u32;
            if places.len() < count && places.iter().all(|(taken, _)| *taken != place) {
                places.push((place, word >> 63 == 1));
            }
        }
    }
    Ok(places)
}

/// `count` random numbers of `bits` bits with their sign, in two's complement of `stride` limbs each, which
/// hold one bit more.
pub(super) fn signed(bits: usize, stride: usize, count: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
    debug_assert!(bits < 64 * stride);
    let mut numbers = words(stride * count)?;
    for number in numbers.chunks_mut(stride) {
        let negative = limbs::bit(number, bits - 1).wrapping_neg();
        for (index, limb) in number.iter_mut().enumerate() {
            let own = match bits.saturating_sub(64 * index) {
                0 => 0,
                used @ 1..64 => (1 << used) - 1,
                _ => u64::MAX,
            };
            *limb = *limb & own | negative & !own;
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_are_below_it_and_reach_everything() {
        let numbers = below(&[5, 1], 65, 200).unwrap();
        assert!(numbers.iter().all(|number| number[1] == 0 || number[0] < 5));
        let seen: std::collections::BTreeSet<u64> =
            below(&[5], 3, 500).unwrap().iter().map(|number| number[0]).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let seen: std::collections::BTreeSet<usize> = (0..500).map(|_| index_below(5).unwrap()).collect();
        assert_eq!(seen.len(), 5);
        assert_eq!(index_below(1).unwrap(), 0);
    }

    #[test]
    fn signed_numbers_fill_their_range() {
        for bits in [32, 63, 64, 70, 128] {
            let stride = bits / 64 + 1;
            let numbers = signed(bits, stride, 2000).unwrap();
            let tops: std::collections::BTreeSet<u64> = numbers
                .chunks(stride)
                .map(|number| {
                    let sign = limbs::bit(number, bits - 1).wrapping_neg();
                    let above: Vec<u64> = (bits..64 * stride).map(|bit| limbs::bit(number, bit)).collect();
                    assert!(above.iter().all(|&bit| bit == sign & 1));
                    limbs::bits_at(number, bits - 3, 3)
                })
                .collect();
            assert_eq!(tops.len(), 8, "{bits}");
        }
    }

    #[test]
    fn places_are_distinct_and_of_both_signs() {
        let places = signed_places(64, 64).unwrap();
        let distinct: std::collections::BTreeSet<u32> = places.iter().map(|place| place.0).collect();
        assert_eq!(distinct.len(), 64);
        let minus = (0..20)
            .map(|_| signed_places(64, 64).unwrap().iter().filter(|place| place.1).count())
            .sum::<usize>();
        assert!((500..780).contains(&minus), "{minus}");
    }
}
