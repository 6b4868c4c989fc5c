//! Kernels for AVX-512F: eight numbers side by side.

pub(crate) mod fft;
pub(crate) mod lanes;
pub(crate) mod shared_table;
pub(crate) mod table;
pub(crate) mod wide;
pub(crate) mod words;
