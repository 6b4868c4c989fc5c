//! Memory that runs out in the middle of a computation.
//!
//! Transforms take memory deep inside of products, many times as much as their numbers. The error unwinds to
//! the call, past the code between, which has answers or nothing.

use modmill_core::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Ends the computation that [`returned`] runs with an error. Nobody is told of a panic.
pub(crate) fn end(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

/// Runs a computation, and returns the error if memory runs out inside of it.
pub fn returned<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // A computation shares only locks and caches with others, and these stay valid when it panics.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match payload.downcast::<Error>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fft::memory::Points;
    use crate::{Cpu, Settings};

    #[test]
    fn memory_that_is_not_there_is_an_error_of_the_call() {
        let cpu = Cpu::new(Settings { threads: Some(2), ..Settings::default() }).unwrap();
        // In the thread of the caller, and in another.
        for is_inside in [false, true] {
            let block = || Ok(Points::new(1 << 55, 90).len());
            let found = returned(|| if is_inside { cpu.install(block) } else { block() });
            assert!(matches!(found, Err(Error::OutOfMemory { bytes, .. }) if bytes >= 1 << 55), "{found:?}");
        }
        assert_eq!(returned(|| Ok(7)), Ok(7));
        assert_eq!(returned(|| Err::<(), _>(Error::Interrupted)), Err(Error::Interrupted));
    }

    #[test]
    fn panics_stay_panics() {
        let run = || returned(|| -> Result<(), Error> { panic!("another reason") });
        assert!(catch_unwind(run).is_err());
    }
}
