//! Devices below the kernels: the emulator, the compiler, the cache of compiled kernels, the probe of a GPU's
//! limits.

mod cache;
mod compiler;
mod emulator;
mod probe;
