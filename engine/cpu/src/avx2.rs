//! Kernels for AVX2 with FMA: four numbers side by side.

pub(crate) mod fft;
mod shared_table;
mod table;
pub(crate) mod wide;
pub(crate) mod words;
