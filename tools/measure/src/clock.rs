//! The clocks of a measurement: wall time, processor time, and the time that the hypervisor took.

use std::time::{Duration, Instant};

/// The times that some work took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    /// Processor time of all threads of this process; `None` if the system does not tell.
    pub(crate) cpu: Option<Duration>,
}

impl Spent {
    pub(crate) const NOTHING: Self = Self { wall: Duration::ZERO, cpu: Some(Duration::ZERO) };

    /// Does `work` and adds its times.
    pub(crate) fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (cpu_time(), Instant::now());
        let done = work();
        self.add(Self { wall: wall.elapsed(), cpu: difference(cpu, cpu_time()) });
        done
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu = self.cpu.zip(other.cpu).map(|(one, other)| one + other);
    }
}

fn difference(before: Option<Duration>, after: Option<Duration>) -> Option<Duration> {
    Some(after?.saturating_sub(before?))
}

#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

/// Ticks of all processors of the machine since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    all: u64,
    /// The ticks in which the hypervisor ran other machines.
    stolen: u64,
}

impl Ticks {
    /// The ticks so far; `None` if the system does not count them.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq and steal. The fields
    /// after them are parts of the first two.
    fn parse(text: &str) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
        let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self { all: fields.iter().sum(), stolen: *fields.get(7)? })
    }

    /// The ticks from `before` to these.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { all: self.all.saturating_sub(before.all), stolen: self.stolen.saturating_sub(before.stolen) }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { all: self.all + other.all, stolen: self.stolen + other.stolen }
    }

    /// The part of the processors' time that the hypervisor gave to other machines.
    pub(crate) fn stolen_part(self) -> Option<f64> {
        (self.all > 0).then(|| self.stolen as f64 / self.all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn sleep_takes_wall_time_and_work_takes_processor_time() {
        let mut asleep = Spent::NOTHING;
        asleep.during(|| std::thread::sleep(Duration::from_millis(30)));
        let mut awake = Spent::NOTHING;
        let start = cpu_time();
        awake.during(|| while difference(start, cpu_time()) < Some(Duration::from_millis(30)) {});
        let least = Duration::from_millis(29);
        assert!(asleep.wall >= least, "{asleep:?}");
        // Other tests of this process may have worked at the same time, so that the wall time is shorter.
        assert!(awake.cpu.unwrap() >= least && awake.wall > Duration::ZERO, "{awake:?}");
        let mut both = asleep;
        both.add(awake);
        assert_eq!(
            (both.wall, both.cpu),
            (asleep.wall + awake.wall, asleep.cpu.zip(awake.cpu).map(|(a, b)| a + b))
        );
    }

    #[test]
    fn ticks_are_read() {
        let before = Ticks::parse("cpu  10 0 5 85 0 0 0 0 0 0\ncpu0 1 2 3\n").unwrap();
        let after = Ticks::parse("cpu  50 0 5 105 0 0 0 40 7 7\n").unwrap();
        assert_eq!(after.since(before).stolen_part(), Some(0.4));
        assert_eq!(after.since(after).stolen_part(), None);
        assert_eq!(after.since(before).plus(before), after);
        for text in ["", "cpu 1 2", "intr 5", "cpu a b c d e f g h"] {
            assert_eq!(Ticks::parse(text), None, "{text}");
        }
    }
}
