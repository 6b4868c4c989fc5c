//! AVX-512: eight numbers side by side.

pub mod ifma;
pub mod wide;
