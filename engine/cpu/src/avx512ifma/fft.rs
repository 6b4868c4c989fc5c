//! Arithmetic modulo the three primes with AVX-512 IFMA, eight words side by side.
//!
//! All arithmetic is modulo `2^52`. The multiplier uses only the low 52 bits of its factors, so the bits
//! above are arbitrary. A word represents its residue in `0..2^52`. A bound on that residue makes each step
//! correct; the bounds are in `docs/algorithms/fft.md`.
//!
//! With p the prime and `2^52 = (5 + e) p`: *any* number is below `2^52`, *reduced* numbers are in
//! `0..(1 + e) p`, and *products* are at most 2p.

mod arithmetic;
mod join;
mod words;

pub(crate) use words::Words;
