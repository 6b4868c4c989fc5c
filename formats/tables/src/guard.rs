//! The boundary around decoders that others wrote.

use crate::TableError;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is an error of a table, and no text is printed for it.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Marks the thread as guarded while it is there.
struct Mark {
    before: bool,
}

impl Mark {
    fn set() -> Self {
        Self { before: GUARDED.replace(true) }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        GUARDED.set(self.before);
    }
}

/// Runs `decode`. A panic in it becomes [`TableError::Malformed`], and the panic's text is not printed.
///
/// What `decode` has changed when it panics is not used any more: a caller drops it or reads no further.
///
/// # Errors
///
/// The error of `decode`, or the one that stands for a panic.
///
/// # Examples
///
/// ```
/// use modmill_tables::{TableError, guarded};
///
/// let decoded = guarded(|| Ok([1, 2, 3].iter().sum::<i32>()));
/// assert_eq!(decoded.unwrap(), 6);
/// assert!(matches!(guarded::<()>(|| panic!("out of range")), Err(TableError::Malformed(_))));
/// ```
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that ends has no mark any more.
            if !GUARDED.try_with(Cell::get).unwrap_or(false) {
                print(info);
            }
        }));
    });
    let mark = Mark::set();
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    drop(mark);
    result.unwrap_or_else(|_| {
        Err(TableError::malformed("the data contradict themselves: their decoder gave up on them"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_mark_is_taken_back() {
        let nested = guarded(|| {
            assert!(guarded::<()>(|| panic!("inner")).is_err());
            assert!(GUARDED.get(), "the outer guard still holds");
            guarded(|| Ok(7))
        });
        assert_eq!(nested.unwrap(), 7);
        assert!(!GUARDED.get());
        assert!(matches!(guarded::<()>(|| panic!("outer")), Err(TableError::Malformed(_))));
        assert!(!GUARDED.get());
    }
}
