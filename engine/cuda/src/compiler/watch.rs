//! The programs that are being compiled in this process, for whoever shows it.

use modmill_core::sync::{Mutex, MutexGuard};
use std::sync::OnceLock;

type Watcher = Box<dyn Fn(usize) + Send + Sync>;

static WATCHER: OnceLock<Watcher> = OnceLock::new();
static UNDER_WAY: Mutex<usize> = Mutex::new(0);

/// Tells `watcher` how many programs are being compiled, whenever that number changes. A program whose
/// machine code is found in the cache or in a bundle is not compiled. A process has one watcher: returns
/// whether it is this one.
pub fn watch(watcher: impl Fn(usize) + Send + Sync + 'static) -> bool {
    WATCHER.set(Box::new(watcher)).is_ok()
}

/// A program that is being compiled, until this is dropped.
pub(crate) struct Compilation(());

impl Compilation {
    pub(crate) fn begin() -> Self {
        let mut under_way = lock();
        *under_way += 1;
        tell(*under_way);
        Self(())
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        let mut under_way = lock();
        *under_way -= 1;
        tell(*under_way);
    }
}

fn lock() -> MutexGuard<'static, usize> {
    UNDER_WAY.lock()
}

/// Called with the number locked, so that the watcher learns of all changes in their order.
fn tell(under_way: usize) {
    if let Some(watcher) = WATCHER.get() {
        watcher(under_way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Other tests of this process compile too, so that only what must be seen is looked for.
    #[test]
    fn the_watcher_sees_compilations_begin_and_end() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        assert!(watch(move |under_way| log.lock().push(under_way)));
        assert!(!watch(|_| panic!("the first watcher stays")));
        let first = Compilation::begin();
        let second = Compilation::begin();
        drop((first, second));
        let seen = seen.lock();
        assert!(seen.len() >= 4 && *seen.iter().max().unwrap() >= 2, "{seen:?}");
        assert!(seen.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == 1), "{seen:?}");
    }
}
