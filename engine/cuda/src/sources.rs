//! The kernels' sources, embedded in the program.

/// A file that programs include by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The name in `#include "name"`.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

impl Source {
    /// Whether this file is for the emulated device only (`.hpp`); a GPU's compiler does not see it.
    pub(crate) fn is_for_emulator(&self) -> bool {
        self.name.ends_with(".hpp")
    }
}

/// Every file of `engine/cuda/kernels`, by its name.
pub const ALL: &[Source] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));
