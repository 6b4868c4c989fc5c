//! Kernels for AVX-512: eight numbers side by side.

pub(crate) mod fft;
pub mod ifma;
mod table;
pub mod wide;
