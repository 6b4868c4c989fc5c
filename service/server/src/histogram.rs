//! A histogram of durations whose buckets grow with the value.

use std::time::Duration;

/// Longer times, about 73 minutes, are counted in the last bucket.
const MOST_BITS: u32 = 42;

/// Counts of durations, with `1 << FINE` buckets for each power of two. A quantile is too large by at most
/// one part in `1 << FINE`, and never too small.
#[derive(Debug, Clone, Default)]
pub struct Histogram<const FINE: u32 = 6> {
    /// Counts of buckets up to that of the longest duration.
    counts: Vec<u32>,
    count: u64,
    sum_ns: u128,
    most_ns: u64,
}

impl Histogram {
    /// A histogram without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<const FINE: u32> Histogram<FINE> {
    const BUCKETS: usize = ((MOST_BITS - FINE + 1) as usize) << FINE;

    /// The bucket of a value: exact below `2 << FINE`, then `1 << FINE` buckets for each power of two.
    fn bucket(ns: u64) -> usize {
        let shift = (63 - (ns | 1).leading_zeros()).saturating_sub(FINE);
        // The top `FINE + 1` bits of the value, of which the first is 1 unless `shift` is 0.
        let bucket = ((u64::from(shift) << FINE) + (ns >> shift)) as usize;
        bucket.min(Self::BUCKETS - 1)
    }

    /// The largest value of a bucket.
    fn last_of(bucket: usize) -> u64 {
        let shift = (bucket >> FINE).saturating_sub(1);
        let top = (bucket - (shift << FINE)) as u64;
        ((top + 1) << shift) - 1
    }

    /// Counts a duration.
    pub fn record(&mut self, duration: Duration) {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let bucket = Self::bucket(ns);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] = self.counts[bucket].saturating_add(1);
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.most_ns = self.most_ns.max(ns);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.most_ns = self.most_ns.max(other.most_ns);
    }

    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, which is exact; 0 without entries.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let mean = self.sum_ns.checked_div(u128::from(self.count)).unwrap_or(0);
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The longest duration, which is exact.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.most_ns)
    }

    /// The duration that a part `quantile` of the entries, from 0 to 1, does not exceed; 0 without entries.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        let rank = ((quantile.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return Duration::from_nanos(Self::last_of(bucket).min(self.most_ns));
            }
        }
        self.longest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow<const FINE: u32>() {
        let (bucket, last_of) = (Histogram::<FINE>::bucket, Histogram::<FINE>::last_of);
        let mut before = bucket(0);
        assert_eq!(before, 0);
        for ns in 1..100_000u64 {
            let here = bucket(ns);
            assert!(here == before || here == before + 1, "{ns}");
            assert!(last_of(here) >= ns && (last_of(here) - ns) << FINE <= ns, "{ns}");
            before = here;
        }
        for bits in 10..MOST_BITS {
            assert!(last_of(bucket(1 << bits)) >= 1 << bits);
            assert_eq!(last_of(bucket((1 << bits) - 1)), (1 << bits) - 1);
        }
        assert_eq!(bucket(u64::MAX), Histogram::<FINE>::BUCKETS - 1);
    }

    #[test]
    fn buckets_are_narrow_and_leave_no_gap() {
        narrow::<6>();
        narrow::<4>();
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut halves = [Histogram::new(), Histogram::new()];
        for value in 1..=10_000u64 {
            halves[(value % 2) as usize].record(Duration::from_micros(value));
        }
        let [mut all, other] = halves;
        all.merge(&other);
        assert_eq!(all.count(), 10_000);
        assert_eq!(all.mean(), Duration::from_nanos(5_000_500));
        assert_eq!(all.longest(), Duration::from_millis(10));
        for (quantile, exact) in [(0.0, 1), (0.5, 5_000), (0.99, 9_900), (0.999, 9_990), (1.0, 10_000)] {
            let (found, exact) = (all.quantile(quantile), Duration::from_micros(exact));
            assert!(found >= exact && found <= exact + exact / 64, "{quantile}: {found:?}");
        }
    }

    #[test]
    fn an_empty_histogram_has_zeros() {
        let empty = Histogram::new();
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.longest()), Default::default());
    }
}
