//! The CPU backend: one Montgomery domain, several kernels (portable, scalar x86-64, AVX2, AVX-512), the
//! choice among them, and a thread pool for all cores.

// The vector kernels exist on x86-64 only. Elsewhere the code they share is unused.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512ifma;
mod backend;
mod column;
mod composed;
mod cost;
mod division;
mod divsteps;
mod domain;
mod fft;
mod fixed_base;
pub mod inverse;
mod inverse_root;
mod inverses;
mod isa;
pub mod jacobi;
mod karatsuba;
mod kernel;
mod lane_division;
mod lanes;
pub mod long;
pub mod lucas;
mod method;
mod multi_pow;
pub mod out_of_memory;
mod pairs;
mod path;
mod planning;
pub mod portable;
mod pow;
pub mod power_of_two;
mod products;
pub mod remainder;
mod residue_matrix;
mod rns;
mod row;
mod run;
mod scalar;
mod scalar_choice;
mod schoolbook;
mod square_root;
mod square_roots;
mod steps;
mod team;
#[cfg(test)]
mod test_support;
pub mod threads;
mod vector_choice;
#[cfg(target_arch = "x86_64")]
mod wide;
mod working_memory;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use backend::{Cpu, MAX_THREADS, Settings};
pub use fixed_base::FixedBase;
pub use path::CpuPath;
