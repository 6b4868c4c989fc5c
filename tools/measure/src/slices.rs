//! Time slices: contenders compute by turns, and their rates are summed up.

use crate::clock::{Spent, Ticks};
use crate::error::Error;
use std::time::Duration;

/// One time slice of a contender.
pub(crate) struct Slice {
    /// Operations done.
    pub(crate) operations: f64,
    /// Time spent in calls.
    pub(crate) spent: Spent,
    /// Milliseconds of each call: a whole batch of ours, or one operation of a peer.
    pub(crate) latencies: Vec<f64>,
}

impl Slice {
    /// Operations per second.
    pub(crate) fn rate(&self) -> f64 {
        self.operations / self.spent.wall.as_secs_f64()
    }
}

/// A path of ours or a peer, measured slice by slice.
pub(crate) trait Contender {
    /// Computes until `length` has passed, and makes at least one call.
    fn slice(&mut self, length: Duration) -> Result<Slice, Error>;
}

/// The rates of one contender, over all of its slices.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    /// Operations per second in the best slice.
    pub(crate) best: f64,
    /// Operations per second in the median slice.
    pub(crate) median: f64,
    /// Median milliseconds of a call.
    pub(crate) latency_ms: f64,
    /// Operations per second of processor time, over all slices.
    pub(crate) cpu_rate: Option<f64>,
    /// The cores that were used, on the average over all slices: processor time divided by wall time.
    pub(crate) cores: Option<f64>,
    /// The part of the processors' time that the hypervisor gave to other machines.
    pub(crate) stolen: Option<f64>,
}

impl Rates {
    /// The rates of slices that are all alike.
    #[cfg(test)]
    pub(crate) fn even(rate: f64, latency_ms: f64) -> Self {
        Self { best: rate, median: rate, latency_ms, cpu_rate: None, cores: None, stolen: None }
    }

    /// These rates with `factor` times as many operations.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            best: factor * self.best,
            median: factor * self.median,
            cpu_rate: self.cpu_rate.map(|rate| factor * rate),
            ..self
        }
    }
}

/// The slices that one contender has had so far.
struct Slices {
    rates: Vec<f64>,
    latencies: Vec<f64>,
    operations: f64,
    spent: Spent,
    /// The machine's ticks during the slices.
    ticks: Option<Ticks>,
}

impl Slices {
    const NONE: Self = Self {
        rates: Vec::new(),
        latencies: Vec::new(),
        operations: 0.0,
        spent: Spent::NOTHING,
        ticks: None,
    };

    fn add(&mut self, slice: Slice, ticks: Option<Ticks>) {
        self.rates.push(slice.rate());
        self.latencies.extend(slice.latencies);
        self.operations += slice.operations;
        self.spent.add(slice.spent);
        self.ticks = match (self.ticks, ticks) {
            (Some(before), Some(ticks)) => Some(before.plus(ticks)),
            (before, ticks) => before.or(ticks),
        };
    }

    fn is_finished(&self, time: Duration) -> bool {
        !self.rates.is_empty() && self.spent.wall >= time
    }

    fn rates(mut self) -> Rates {
        let cpu = self.spent.cpu.map(|cpu| cpu.as_secs_f64()).filter(|&seconds| seconds > 0.0);
        Rates {
            best: self.rates.iter().copied().fold(0.0, f64::max),
            median: median(&mut self.rates),
            latency_ms: median(&mut self.latencies),
            cpu_rate: cpu.map(|seconds| self.operations / seconds),
            cores: cpu.map(|seconds| seconds / self.spent.wall.as_secs_f64()),
            stolen: self.ticks.and_then(Ticks::stolen_part),
        }
    }
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        len if len % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// Measures each contender for `time`, in about ten slices. The contenders take turns, so that other
/// load on the machine slows all of them alike. A contender that fails gets no further turn.
pub(crate) fn take_turns(contenders: &mut [&mut dyn Contender], time: Duration) -> Vec<Result<Rates, Error>> {
    let mut all: Vec<Result<Slices, Error>> = contenders.iter().map(|_| Ok(Slices::NONE)).collect();
    loop {
        let mut is_finished = true;
        for (contender, entry) in contenders.iter_mut().zip(&mut all) {
            let Ok(slices) = entry else { continue };
            if slices.is_finished(time) {
                continue;
            }
            is_finished = false;
            let before = Ticks::now();
            match contender.slice(time / 10) {
                Ok(slice) => {
                    slices.add(slice, before.zip(Ticks::now()).map(|(before, after)| after.since(before)));
                }
                Err(error) => *entry = Err(error),
            }
        }
        if is_finished {
            return all.into_iter().map(|entry| entry.map(Slices::rates)).collect();
        }
    }
}

/// Repeats `call`, which does `operations` operations, until `length` has passed. `look` sees the
/// answers of each call outside of the measured time.
pub(crate) fn repeat<T, E>(
    length: Duration,
    operations: f64,
    mut call: impl FnMut() -> Result<T, E>,
    mut look: impl FnMut(&T),
) -> Result<Slice, Error>
where
    Error: From<E>,
{
    let (mut spent, mut latencies) = (Spent::NOTHING, Vec::new());
    while latencies.is_empty() || spent.wall < length {
        let before = spent.wall;
        let answers = spent.during(&mut call)?;
        latencies.push(1e3 * (spent.wall - before).as_secs_f64());
        look(&answers);
        spent.during(|| drop(answers));
    }
    Ok(Slice { operations: latencies.len() as f64 * operations, spent, latencies })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut []), 0.0);
    }

    /// A contender that takes a millisecond per slice, and fails in a chosen one.
    struct Failing {
        slices: usize,
        fails_in: Option<usize>,
    }

    impl Contender for Failing {
        fn slice(&mut self, length: Duration) -> Result<Slice, Error> {
            self.slices += 1;
            match self.fails_in {
                Some(slice) if slice == self.slices => Err(Error::Unsupported("no more".to_owned())),
                _ => Ok(Slice {
                    operations: self.slices as f64 * length.as_secs_f64(),
                    spent: Spent { wall: length, cpu: Some(length / 4) },
                    latencies: vec![1.0],
                }),
            }
        }
    }

    #[test]
    fn a_contender_that_fails_stops_and_the_others_go_on() {
        let mut all = [None, Some(3)].map(|fails_in| Failing { slices: 0, fails_in });
        let mut contenders: Vec<&mut dyn Contender> = all.iter_mut().map(|one| one as _).collect();
        let rates = take_turns(&mut contenders, Duration::from_millis(10));
        let first = rates[0].as_ref().unwrap();
        let is_near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-9;
        assert!(is_near(first.best, 10.0) && is_near(first.median, 5.5), "{first:?}");
        assert!(is_near(first.cpu_rate.unwrap(), 22.0) && is_near(first.cores.unwrap(), 0.25), "{first:?}");
        assert_eq!(first.latency_ms, 1.0);
        assert_eq!(rates[1].as_ref().unwrap_err().to_string(), "no more");
        assert_eq!((all[0].slices, all[1].slices), (10, 3));
    }
}
