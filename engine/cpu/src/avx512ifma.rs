//! Kernels for AVX-512 IFMA: eight numbers side by side.

pub(crate) mod fft;
pub(crate) mod ifma;
