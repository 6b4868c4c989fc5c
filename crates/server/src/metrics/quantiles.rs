//! Latencies as a small histogram: 16 buckets for each doubling, so that a quantile is right to 5 %.

/// Buckets for each doubling.
const STEPS: f64 = 16.0;
/// The shortest latency that is told apart, in seconds.
const LEAST: f64 = 1e-5;
/// Buckets: from 10 microseconds to 10 minutes.
const BUCKETS: usize = 416;

/// A histogram of latencies.
#[derive(Debug, Clone, Default)]
pub struct Quantiles {
    /// Counts of buckets up to the longest latency that was seen.
    counts: Vec<u32>,
    total: u64,
}

impl Quantiles {
    /// Notes a latency.
    pub fn add(&mut self, seconds: f64) {
        let bucket = (STEPS * (seconds / LEAST).max(1.0).log2()) as usize;
        let bucket = bucket.min(BUCKETS - 1);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] = self.counts[bucket].saturating_add(1);
        self.total += 1;
    }

    /// Adds the latencies of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total += other.total;
    }

    /// The latency in seconds below which the part `q` of all are; 0 if there is none.
    #[must_use]
    pub fn get(&self, q: f64) -> f64 {
        let rank = (q * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return LEAST * ((bucket as f64 + 0.5) / STEPS).exp2();
            }
        }
        0.0
    }

    /// The number of latencies.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_five_percent() {
        let mut all = Quantiles::default();
        let mut other = Quantiles::default();
        for item in 1..=1000 {
            if item % 2 == 0 { &mut all } else { &mut other }.add(f64::from(item) * 1e-4);
        }
        assert_eq!(Quantiles::default().get(0.5), 0.0);
        all.merge(&other);
        assert_eq!(all.total(), 1000);
        for (q, seconds) in [(0.5, 0.05), (0.99, 0.099), (0.999, 0.0999), (0.0, 1e-4)] {
            let found = all.get(q);
            assert!((found / seconds - 1.0).abs() < 0.05, "{q}: {found} instead of {seconds}");
        }
        all.add(1e9);
        all.add(-1.0);
        assert!(all.get(1.0) > 100.0, "latencies beyond the last bucket are in it");
    }
}
