//! How long a batch waits for company.
//!
//! A batch is worth waiting for only if others are known to come. Three figures say so: how many operations
//! were under way when the last batches began, how far apart operations arrive, and how long a group of lanes
//! takes to compute. A lone caller always finds that nobody else is under way, and never waits.

use std::time::{Duration, Instant};

/// The items of one batch at most.
pub(super) const MOST: usize = 64;

/// The longest wait for callers that are called back.
const LONGEST: f64 = 2e-3;

/// The part of the time of a group that a thread which waits for its own answer waits for others.
const PART: f64 = 0.5;

/// The weight of a new figure in a smoothed one.
const WEIGHT: f64 = 0.25;

/// The load as it is known: how much waits, how fast it comes, and how long it takes.
#[derive(Debug)]
pub(super) struct Load {
    /// Operations that wait or are computed.
    under_way: usize,
    /// Operations under way when batches began, smoothed downwards.
    company: f64,
    /// Seconds between arrivals, smoothed.
    gap: f64,
    last: Option<Instant>,
}

/// The batch that a thread is about to begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prospect {
    /// Operations that fill the lanes of one group.
    pub(super) group: usize,
    /// Seconds that a group of lanes takes.
    pub(super) group_seconds: f64,
    /// Batches that are computed by others.
    pub(super) computing: usize,
    /// Batches that may be computed at the same time.
    pub(super) limit: usize,
    /// Whether a thread waits for one of the operations.
    pub(super) somebody_waits: bool,
}

impl Default for Load {
    fn default() -> Self {
        Self { under_way: 0, company: 1.0, gap: 1.0, last: None }
    }
}

impl Load {
    /// An operation has come.
    pub(super) fn arrived(&mut self, now: Instant) {
        self.under_way += 1;
        if let Some(last) = self.last.replace(now) {
            // One long silence says no more than that the load has ended.
            let gap = now.saturating_duration_since(last).as_secs_f64().min(1.0);
            self.gap += (gap - self.gap) * WEIGHT;
        }
    }

    /// A batch begins.
    pub(super) fn began(&mut self) {
        let now = self.under_way as f64;
        self.company = if now > self.company { now } else { self.company + (now - self.company) * WEIGHT };
    }

    /// A batch of `items` operations has ended.
    pub(super) fn ended(&mut self, items: usize) {
        self.under_way = self.under_way.saturating_sub(items);
    }

    /// The number of operations from which on a batch begins without waiting any longer.
    pub(super) fn target(&self, prospect: Prospect) -> usize {
        // Nobody was under way together with the last operations: half of a second caller is none.
        if self.company < 1.5 {
            return 1;
        }
        let company = self.company.round() as usize;
        let batches = company.div_ceil(prospect.group).clamp(1, prospect.limit.max(1));
        let share = company.div_ceil(batches);
        let soon = 1 + (prospect.seconds() / self.gap) as usize;
        let by_rate = if prospect.somebody_waits { 1 } else { prospect.group.min(soon) };
        // A second batch at the same time should fill its lanes.
        let beside = if prospect.computing > 0 { prospect.group } else { 1 };
        share.max(by_rate).max(beside).min(MOST)
    }
}

impl Prospect {
    /// The time after which the batch begins with what is there.
    pub(super) fn window(&self) -> Duration {
        Duration::from_secs_f64(self.seconds())
    }

    fn seconds(&self) -> f64 {
        match self.somebody_waits {
            true => (PART * self.group_seconds).min(LONGEST),
            false => (4.0 * self.group_seconds).min(LONGEST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Prospect =
        Prospect { group: 4, group_seconds: 2.5e-4, computing: 0, limit: 1, somebody_waits: true };

    /// A load of `callers` that come back `pause` seconds after each batch, which takes `seconds`.
    fn closed_loop(callers: usize, pause: f64, seconds: f64) -> Load {
        let (mut load, mut now) = (Load::default(), Instant::now());
        for _ in 0..50 {
            for _ in 0..callers {
                now += Duration::from_secs_f64(pause / callers as f64);
                load.arrived(now);
            }
            load.began();
            now += Duration::from_secs_f64(seconds);
            load.ended(callers);
        }
        load
    }

    #[test]
    fn a_lone_caller_never_waits() {
        for somebody_waits in [true, false] {
            for pause in [1e-6, 1e-4, 1e-2] {
                let prospect = Prospect { somebody_waits, ..ALONE };
                assert_eq!(closed_loop(1, pause, 5e-4).target(prospect), 1, "{pause}");
            }
        }
    }

    #[test]
    fn callers_who_come_back_are_waited_for() {
        let load = closed_loop(8, 1e-5, 5e-4);
        assert_eq!(load.target(ALONE), 8);
        assert_eq!(load.target(Prospect { limit: 2, ..ALONE }), 4, "two threads share them");
        let window = ALONE.window().as_secs_f64();
        assert!(window < 2e-4, "half a group of lanes: {window}");
        assert_eq!(closed_loop(1000, 1e-5, 5e-4).target(ALONE), MOST);
    }

    #[test]
    fn callers_who_have_left_are_forgotten() {
        let mut load = closed_loop(8, 1e-5, 5e-4);
        let mut now = Instant::now() + Duration::from_secs(1);
        let mut waits = 0;
        for _ in 0..20 {
            load.arrived(now);
            waits += usize::from(load.target(ALONE) > 1);
            load.began();
            now += Duration::from_micros(500);
            load.ended(1);
        }
        assert!(waits < 12, "{waits}");
        assert_eq!(load.target(ALONE), 1);
    }
}
