//! A limit on the lines that the audit log has of refused changes, so that nobody without rights can fill the
//! disk.

use parking_lot::Mutex;
use std::collections::HashMap;

/// The refused changes of one principal that have a line, in each minute.
const PER_MINUTE: u32 = 60;

#[derive(Default)]
struct Count {
    minute: u64,
    noted: u32,
    left_out: u64,
}

/// Refused changes by principal.
#[derive(Default)]
pub(super) struct Refusals(Mutex<HashMap<String, Count>>);

impl Refusals {
    /// Whether a refused change of `principal` at `now_ms` gets a line. The answer is how many before it got
    /// none.
    pub(super) fn take(&self, principal: &str, now_ms: u64) -> Option<u64> {
        let mut counts = self.0.lock();
        let count = counts.entry(principal.to_owned()).or_default();
        let minute = now_ms / 60_000;
        if count.minute != minute {
            (count.minute, count.noted) = (minute, 0);
        }
        if count.noted == PER_MINUTE {
            count.left_out += 1;
            return None;
        }
        count.noted += 1;
        Some(std::mem::take(&mut count.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_without_a_line_are_counted() {
        let refusals = Refusals::default();
        let take = |now_ms| refusals.take("alice", now_ms);
        assert!((0..60).all(|_| take(60_000) == Some(0)));
        assert!((0..5).all(|_| take(119_999).is_none()));
        assert_eq!(refusals.take("bob", 60_000), Some(0), "each principal has its own");
        assert_eq!((take(120_000), take(120_000)), (Some(5), Some(0)));
    }
}
