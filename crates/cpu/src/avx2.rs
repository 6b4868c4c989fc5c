//! AVX2 with FMA: four numbers side by side.

pub mod wide;
