//! The CPU backend: one Montgomery domain, several kernels (portable, AVX2, AVX-512), the choice
//! among them, and all cores through a thread pool.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod backend;
mod cost;
pub mod domain;
pub mod fft;
pub mod gcd;
pub mod inverse;
mod inverses;
pub mod isa;
pub mod kernel;
pub mod lanes;
pub mod path;
mod planning;
pub mod portable;
pub mod pow;
pub mod power_of_two;
mod products;
#[cfg(test)]
mod random;
pub mod remainder;
pub mod rns;
pub mod rows;
mod run;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use backend::{Cpu, MAX_THREADS, Settings};
pub use inverses::Inverter;
pub use path::Path;
