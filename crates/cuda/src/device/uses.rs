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
        // What lives long meets many streams; those that have ended need not be remembered.
        uses.retain(|(line, number)| !line.has_ended(*number));
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

#[cfg(test)]
mod tests {
    use crate::cache::Cache;
    use crate::device::{Contents, Device};
    use crate::emulator::Faults;

    #[test]
    fn streams_that_have_ended_are_forgotten() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let buffer = device.buffer(8, Contents::Public).unwrap();
        let remembered = || buffer.uses.0.lock().unwrap().len();
        for _ in 0..3 {
            let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
            stream.fill(&buffer, 0..8, 0).unwrap();
            assert_eq!(remembered(), 1);
            event.record(&stream).unwrap();
            event.synchronize().unwrap();
        }
        let streams = [(); 3].map(|()| device.stream().unwrap());
        streams.iter().for_each(|stream| stream.fill(&buffer, 0..8, 0).unwrap());
        assert_eq!(remembered(), 3);
        buffer.uses.settle().unwrap();
        assert_eq!(remembered(), 0);
    }
}
