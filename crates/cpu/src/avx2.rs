//! AVX2 with FMA: four numbers side by side.

pub(crate) mod fft;
pub mod wide;
