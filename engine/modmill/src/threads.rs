//! Work that the threads of an engine share.

use crate::Engine;

pub use modmill_cpu::threads::Share;

/// Runs `work` on the threads of an engine, as [`Engine::install`] does, if it `is_long`. Other work is not
/// worth waking a thread: the caller's does it alone.
///
/// ```
/// use modmill::Engine;
/// use modmill::threads::{Share, install_if};
/// use rayon::prelude::*;
///
/// let (engine, numbers) = (Engine::new()?, [3u32, 4]);
/// let squares = || numbers.par_iter().map(|number| number * number).list::<Vec<u32>>();
/// assert_eq!(install_if(&engine, numbers.len() > 1000, squares), [9, 16]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn install_if<T: Send>(engine: &Engine, is_long: bool, work: impl FnOnce() -> T + Send) -> T {
    engine.cpu().install_if(is_long, work)
}
