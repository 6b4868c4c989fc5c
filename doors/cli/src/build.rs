//! The build of this program, as its build script found it.

use modmill_measure::machine::Build;

/// The version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The build of this program.
pub(crate) const THIS: Build = Build {
    version: VERSION,
    commit: env!("MODMILL_BUILD_COMMIT"),
    rustc: env!("MODMILL_BUILD_RUSTC"),
    profile: env!("MODMILL_BUILD_PROFILE"),
    target: env!("MODMILL_BUILD_TARGET"),
};
