//! How often a principal may ask.

use crate::credentials::Principal;
use crate::metrics::Metrics;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Principals that are remembered at most. Beyond, those with full buckets are forgotten.
const REMEMBERED: usize = 10_000;

/// A bucket of tokens for each principal: a request takes one, and time fills it again.
#[derive(Default)]
pub struct RateLimits {
    /// Tokens in a second; 0 if there is no limit.
    rate: f64,
    /// Tokens of a full bucket.
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
    metrics: Option<Arc<Metrics>>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl RateLimits {
    /// Lets each principal ask `per_second` times a second, and `burst` times at once. 0 a second is no
    /// limit.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        let rate = f64::from(per_second);
        Self {
            rate,
            burst: f64::from(burst.max(per_second).max(1)),
            buckets: Mutex::default(),
            metrics: None,
        }
    }

    /// These limits with counters: refusals are counted in `metrics`.
    #[must_use]
    pub fn counted_by(self, metrics: Arc<Metrics>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// Takes one token of a principal, or says after which time there is one.
    pub fn check(&self, principal: &Principal) -> Result<(), Duration> {
        self.take(principal, 1)
    }

    /// Takes `count` tokens of a principal, or says after which time to try again. More tokens than a bucket
    /// holds are given by a full one.
    pub fn take(&self, principal: &Principal, count: usize) -> Result<(), Duration> {
        if self.rate == 0.0 {
            return Ok(());
        }
        let taken = self.take_at(&principal.name, count, Instant::now());
        if let (Err(_), Some(metrics)) = (&taken, &self.metrics) {
            metrics.limited();
        }
        taken
    }

    fn take_at(&self, principal: &str, count: usize, now: Instant) -> Result<(), Duration> {
        let (rate, burst) = (self.rate, self.burst);
        let filled = |bucket: &Bucket| {
            let seconds = now.saturating_duration_since(bucket.filled).as_secs_f64();
            (bucket.tokens + rate * seconds).min(burst)
        };
        let mut buckets = self.buckets.lock();
        if buckets.len() >= REMEMBERED && !buckets.contains_key(principal) {
            buckets.retain(|_, bucket| filled(bucket) < burst);
        }
        let bucket = buckets.entry(principal.to_owned()).or_insert(Bucket { tokens: burst, filled: now });
        let tokens = filled(bucket);
        *bucket = Bucket { tokens, filled: now };
        let needed = (count as f64).min(burst);
        if tokens < needed {
            return Err(Duration::from_secs_f64((needed - tokens) / rate));
        }
        bucket.tokens -= count as f64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_and_come_back() {
        let (limits, start) = (RateLimits::new(10, 20), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        for _ in 0..20 {
            limits.take_at("a", 1, start).unwrap();
        }
        assert_eq!(limits.take_at("a", 1, start), Err(Duration::from_millis(100)));
        limits.take_at("b", 1, start).unwrap();
        limits.take_at("a", 1, after(100)).unwrap();
        assert!(limits.take_at("a", 1, after(150)).is_err());
        limits.take_at("a", 5, after(700)).unwrap();
        // A full bucket gives more than it holds, and is in debt after that.
        limits.take_at("c", 40, start).unwrap();
        assert!(limits.take_at("c", 1, after(1900)).is_err());
        limits.take_at("c", 1, after(2200)).unwrap();
    }

    #[test]
    fn no_limit_is_no_limit() {
        let principal = Principal { name: "a".into(), access_key_id: String::new(), rights: [].into() };
        let limits = RateLimits::default();
        assert!((0..1000).all(|_| limits.check(&principal).is_ok()));
        let metrics = Arc::new(Metrics::default());
        let limits = RateLimits::new(1, 0).counted_by(Arc::clone(&metrics));
        assert_eq!(limits.check(&principal), Ok(()));
        assert!(limits.check(&principal).is_err());
        assert!(metrics.text().contains("modmill_rate_limited_total 1"));
    }
}
