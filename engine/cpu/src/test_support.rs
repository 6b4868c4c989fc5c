//! Reproducible random numbers and the oracle's integers, for the tests of this crate.

use num_bigint::BigUint;

/// Limbs as an integer of the oracle.
pub(crate) fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// Random numbers that are the same in every run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    /// `count` random limbs.
    pub(crate) fn limbs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.word()).collect()
    }

    /// A number of exactly `bits` bits.
    pub(crate) fn bits(&mut self, bits: usize) -> Vec<u64> {
        let mut limbs = self.limbs(bits.div_ceil(64));
        let top = limbs.last_mut().expect("a number has bits");
        *top = (*top | 1 << 63) >> ((64 - bits % 64) % 64);
        limbs
    }
}

/// Checks reads from a table that all lanes share against plain indices, for one group of lanes and for
/// three: every entry in every lane, then random ones.
pub(crate) fn check_shared_reads<const LANES: usize>(read: impl Fn(&[u64], &[u64], &mut [u64])) {
    let mut random = Random::new(11);
    for window in 4..=8 {
        let entries = 1usize << window;
        for digits in [1, 2, 3, 5, 8, 15, 19] {
            let table = random.limbs(entries * digits);
            for round in 0..entries + 8 {
                let count = if round % 2 == 0 { LANES } else { 3 * LANES };
                let mut choose = |lane: usize| match round < entries {
                    true => (round + 5 * lane) % entries,
                    false => random.below(entries),
                };
                let indices: Vec<u64> = (0..count).map(|lane| choose(lane) as u64).collect();
                let mut out = vec![u64::MAX; digits * count];
                read(&table, &indices, &mut out);
                for (place, &word) in out.iter().enumerate() {
                    let (group, place) = (place / (digits * LANES), place % (digits * LANES));
                    let entry = indices[group * LANES + place % LANES] as usize;
                    assert_eq!(word, table[place / LANES * entries + entry], "entry {entry} of {entries}");
                }
            }
        }
    }
}
