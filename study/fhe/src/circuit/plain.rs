//! Bits in the clear.

use super::Scheme;
use std::convert::Infallible;

/// Bits in the clear, without noise: what a circuit computes, for tests and comparisons.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainScheme;

impl Scheme for PlainScheme {
    type Bits = Vec<bool>;
    type Noise = ();
    type Error = Infallible;

    fn len(&self, bits: &Vec<bool>) -> usize {
        bits.len()
    }

    fn select(&self, bits: &Vec<bool>, places: &[usize]) -> Result<Vec<bool>, Infallible> {
        Ok(places.iter().map(|&place| bits[place]).collect())
    }

    fn join(&self, batches: &[&Vec<bool>]) -> Result<Vec<bool>, Infallible> {
        Ok(batches.iter().flat_map(|bits| bits.iter().copied()).collect())
    }

    fn constant(&self, bit: bool, count: usize) -> Result<Vec<bool>, Infallible> {
        Ok(vec![bit; count])
    }

    fn not(&self, bits: &Vec<bool>) -> Result<Vec<bool>, Infallible> {
        Ok(bits.iter().map(|bit| !bit).collect())
    }

    fn xor(&self, left: &Vec<bool>, right: &Vec<bool>) -> Result<Vec<bool>, Infallible> {
        Ok(left.iter().zip(right).map(|(left, right)| left ^ right).collect())
    }

    fn and(&self, left: &Vec<bool>, right: &Vec<bool>) -> Result<Vec<bool>, Infallible> {
        Ok(left.iter().zip(right).map(|(left, right)| left & right).collect())
    }

    fn recrypt(&self, bits: &Vec<bool>) -> Result<Vec<bool>, Infallible> {
        Ok(bits.clone())
    }

    fn noise(&self, bits: &Vec<bool>) -> Vec<()> {
        vec![(); bits.len()]
    }

    fn noise_of_constant(&self) {}

    fn after_xor(&self, (): (), (): ()) {}

    fn after_and(&self, (): (), (): ()) {}

    fn after_recrypt(&self, (): ()) -> Option<()> {
        Some(())
    }

    fn is_safe(&self, (): ()) -> bool {
        true
    }

    fn budget(&self, (): ()) -> f64 {
        f64::INFINITY
    }
}
