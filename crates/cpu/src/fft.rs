//! Products of long numbers by number-theoretic transforms.

pub(crate) mod carry;
pub(crate) mod plan;
pub(crate) mod point;
pub(crate) mod primes;
pub(crate) mod product;
pub(crate) mod roots;
pub(crate) mod transform;

/// Probe.
#[must_use]
pub fn probe(a: &[u64], b: Option<&[u64]>) -> Vec<u64> {
    let token = crate::isa::detect_ifma().unwrap();
    let mut out = vec![0; a.len() + b.map_or(a.len(), <[u64]>::len)];
    product::multiply(&crate::avx512::fft::ThreePrimes(token), a, b, &mut out);
    out
}
