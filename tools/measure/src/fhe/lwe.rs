//! The times of products of a matrix of long integers in residues with vectors, which are the encryption of
//! leveled LWE.

use super::{FheRecord, timed};
use modmill::cuda::kernel_seconds;
use modmill::matrix::{
    BitVectors, MatrixFactors, MatrixSource, Placement, ResidueMatrix, ResidueModuli, ResidueVectors,
    SeededRows,
};
use modmill::{Engine, Error};
use num_bigint::BigUint;
use std::time::Duration;

/// The products that are measured, and the time for them.
pub struct Bench<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// Moduli of 32 bits.
    pub moduli: usize,
    /// The memory that holds the matrix.
    pub placement: Placement,
    /// The time for each product.
    pub time: Duration,
    /// Vectors of bits, and of integers, that are multiplied at a time, in addition to one alone.
    pub many: [usize; 2],
}

/// Columns that are compared with those of other arithmetic.
const CHECKED: usize = 2;

impl Bench<'_> {
    /// Measures products with vectors of bits and of integers, one vector and many. `done` is told what was
    /// measured.
    pub fn run(&self, mut done: impl FnMut(FheRecord)) -> Result<(), Error> {
        let moduli = ResidueModuli::largest(self.moduli)?;
        let source = SeededRows::new(&moduli, self.rows, self.columns, [42; 32])?;
        let elements = checked_columns(&source)?;
        let matrix = ResidueMatrix::new(self.engine, source, self.placement)?;
        let kernels = || kernel_seconds(self.engine);
        for (op, is_bits, count) in [
            ("matrix times bits", true, 1),
            ("matrix times integers", false, 1),
            ("matrix times bits", true, self.many[0]),
            ("matrix times integers", false, self.many[1]),
        ] {
            let bits = random_bits(count, self.rows)?;
            let integers = random_integers(&moduli, if is_bits { 0 } else { count }, self.rows)?;
            let factors = match is_bits {
                true => MatrixFactors::from(&bits),
                false => MatrixFactors::from(&integers),
            };
            // The first call compiles kernels and pins memory.
            let mut products = matrix.multiply(self.engine, factors)?;
            let (times, ()) =
                timed(self.time, kernels, || matrix.multiply_into(self.engine, factors, &mut products))?;
            let verified = is_right(&elements, &moduli, factors, &products)?;
            done(self.record(op, count, times, verified));
        }
        Ok(())
    }

    fn record(&self, op: &'static str, batch: usize, seconds: [f64; 3], verified: bool) -> FheRecord {
        let [best, median, kernels] = seconds.map(|seconds| 1e3 * seconds / batch as f64);
        FheRecord {
            kind: "fhe",
            scheme: "lwe",
            setting: self.columns.to_string(),
            size: self.columns,
            op,
            backend: if self.engine.cuda().is_some() { "cuda" } else { "cpu" },
            batch,
            threads: self.engine.threads(),
            ms_each: best,
            median_ms_each: median,
            kernel_ms_each: (kernels > 0.0).then_some(kernels),
            verified,
        }
    }
}

/// `count` words that are the same for the same seed.
fn words(count: usize, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u32(..)).take(count).collect()
}

fn random_bits(count: usize, rows: usize) -> Result<BitVectors, Error> {
    BitVectors::filled(count, rows, |to| -> Result<(), Error> {
        to.copy_from_slice(&words(to.len(), 5));
        Ok(())
    })
}

fn random_integers(moduli: &ResidueModuli, count: usize, rows: usize) -> Result<ResidueVectors, Error> {
    let mut integers = ResidueVectors::zeros(moduli, count, rows)?;
    let random = words(integers.as_slice().len(), 6);
    for (index, plane) in integers.as_mut_slice().chunks_mut(rows).enumerate() {
        let modulus = moduli.words()[index % moduli.len()];
        let random = &random[index * rows..];
        plane.iter_mut().zip(random).for_each(|(word, &random)| *word = modulus.reduce(random.into()));
    }
    Ok(integers)
}

fn number(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// The first columns of a matrix as long integers, row after row.
fn checked_columns(source: &SeededRows) -> Result<Vec<BigUint>, Error> {
    let (rows, count) = (source.rows(), source.moduli().len());
    let mut elements = ResidueVectors::zeros(source.moduli(), 1, CHECKED * rows)?;
    for row in 0..rows {
        for place in 0..count {
            let to = place * CHECKED * rows + CHECKED * row;
            source.read_columns(row, place, 0, &mut elements.as_mut_slice()[to..to + CHECKED])?;
        }
    }
    Ok(source.moduli().compose(&elements)?.iter().map(number).collect())
}

/// Whether the checked columns of the first and the last product are those of long integers.
fn is_right(
    elements: &[BigUint],
    moduli: &ResidueModuli,
    factors: MatrixFactors<'_>,
    products: &ResidueVectors,
) -> Result<bool, Error> {
    let modulus = number(moduli.product());
    let composed = moduli.compose(products)?;
    for vector in [0, factors.count() - 1] {
        let values: Vec<BigUint> = match factors {
            MatrixFactors::Bits(bits) => {
                (0..bits.length()).map(|row| BigUint::from(u8::from(bits.get(vector, row)))).collect()
            }
            MatrixFactors::Residues(residues) => {
                let words = residues.vector(vector).to_vec();
                let one = ResidueVectors::from_words(moduli, 1, residues.length(), words)?;
                moduli.compose(&one)?.iter().map(number).collect()
            }
        };
        for column in 0..CHECKED {
            let sum: BigUint =
                values.iter().enumerate().map(|(row, x)| x * &elements[CHECKED * row + column]).sum();
            if number(composed.get(vector * products.length() + column)) != sum % &modulus {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_is_measured_and_right() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let (placement, time, many) = (Placement::Streamed, Duration::ZERO, [3, 2]);
        let bench = Bench { engine: &engine, rows: 70, columns: 40, moduli: 3, placement, time, many };
        let mut records = Vec::new();
        bench.run(|record| records.push(record)).unwrap();
        assert_eq!(records.len(), 4);
        assert!(records.iter().all(|record| record.verified && record.ms_each > 0.0), "{records:?}");
    }
}
