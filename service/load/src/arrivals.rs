//! The times at which requests are meant to start.

use fastrand::Rng;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How arrivals are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// Independent arrivals, as those of many clients that do not know of each other.
    #[default]
    Poisson,
    /// Arrivals at equal distances.
    Uniform,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poisson => "poisson",
            Self::Uniform => "uniform",
        })
    }
}

impl FromStr for Spread {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Poisson, Self::Uniform].into_iter();
        let mut found = all.filter(|spread| spread.to_string().eq_ignore_ascii_case(text));
        found.next().ok_or_else(|| format!("unknown arrivals {text:?}; they are poisson or uniform"))
    }
}

/// The times at which requests are meant to start, from the start of the run on, in order and without end.
/// Runs with the same seed have the same arrivals.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    spread: Spread,
    gap_s: f64,
    at_s: f64,
    random: Rng,
}

impl Arrivals {
    /// Arrivals at `rate` a second, which is above 0.
    pub(super) fn new(spread: Spread, rate: f64, seed: u64) -> Self {
        Self { spread, gap_s: 1.0 / rate, at_s: 0.0, random: Rng::with_seed(seed) }
    }
}

impl Iterator for Arrivals {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let gaps = match self.spread {
            Spread::Uniform => 1.0,
            // 1 - f64() is above 0, so the logarithm is finite.
            Spread::Poisson => -(1.0 - self.random.f64()).ln(),
        };
        self.at_s += gaps * self.gap_s;
        Duration::try_from_secs_f64(self.at_s).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(spread: Spread, rate: f64, end: Duration) -> Vec<Duration> {
        Arrivals::new(spread, rate, 7).take_while(|&at| at < end).collect()
    }

    #[test]
    fn both_spreads_keep_the_rate() {
        let end = Duration::from_secs(100);
        let uniform = until(Spread::Uniform, 250.0, end).len();
        let poisson = until(Spread::Poisson, 250.0, end).len();
        assert!((24_999..=25_000).contains(&uniform), "{uniform}");
        // The standard deviation of the number is 158.
        assert!((24_200..=25_800).contains(&poisson), "{poisson}");
    }

    #[test]
    fn gaps_are_equal_or_exponential() {
        let share_below_mean = |spread| {
            let times = until(spread, 1000.0, Duration::from_secs(20));
            let below =
                times.windows(2).filter(|pair| pair[1] - pair[0] < Duration::from_micros(999)).count();
            below as f64 / times.len() as f64
        };
        assert!(share_below_mean(Spread::Uniform) < 0.01);
        // 1 - 1/e of exponential gaps are below their mean.
        assert!((share_below_mean(Spread::Poisson) - 0.632).abs() < 0.02);
    }

    #[test]
    fn names_are_read_back() {
        for spread in [Spread::Poisson, Spread::Uniform] {
            assert_eq!(spread.to_string().parse(), Ok(spread));
        }
        assert!("bursts".parse::<Spread>().is_err());
    }
}
