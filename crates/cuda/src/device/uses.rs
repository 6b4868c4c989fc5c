//! Who still works with a piece of memory or code.
//!
//! Operations on a stream end after the calls that started them. Each stream numbers what it is
//! handed; whatever an operation touches remembers the stream and the number, and waits for it before
//! it is given back or looked at. Nothing waits where the stream was waited for already.

use super::stream::Line;
use crate::error::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// Operations that may still be under way, the latest of each stream.
#[derive(Default)]
pub(super) struct Uses(Mutex<Vec<(Arc<Line>, u64)>>);

impl Uses {
    /// Adds the operation of this number on a stream.
    pub(super) fn add(&self, line: &Arc<Line>, number: u64) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match uses.iter_mut().find(|(other, _)| Arc::ptr_eq(other, line)) {
            Some((_, latest)) => *latest = number.max(*latest),
            None => uses.push((line.clone(), number)),
        }
    }

    /// Returns when all of them have ended.
    pub(super) fn settle(&self) -> Result<()> {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uses.drain(..).try_for_each(|(line, number)| line.settle(number))
    }
}
