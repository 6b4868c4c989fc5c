//! Kernels for AVX-512: eight numbers side by side.

pub(crate) mod fft;
pub(crate) mod ifma;
mod lanes;
mod shared_table;
mod table;
pub(crate) mod wide;
