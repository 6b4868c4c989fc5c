//! Products of a matrix in residues with a vector on its right: `y = A s`.

use super::sections::each_section;
use crate::backend::Cpu;
use crate::threads::Share;
use modmill_core::matrix::Progress;
use modmill_core::{Error, MatrixSource, ResidueVectors};
use rayon::prelude::*;

impl Cpu {
    /// `A s` for one vector s in residues: a vector with an element for each row. Time and addresses do not
    /// depend on the values.
    pub fn multiply_rows(
        &self,
        matrix: &dyn MatrixSource,
        vector: &ResidueVectors,
        progress: Progress<'_>,
    ) -> Result<ResidueVectors, Error> {
        if matrix.moduli() != vector.moduli() {
            return Err(Error::OtherModuli);
        }
        let (columns, rows) = (matrix.columns(), matrix.rows());
        if (vector.count(), vector.length()) != (1, columns) {
            let found = vector.count() * vector.length();
            return Err(Error::LengthMismatch { what: "the vector", expected: columns, found });
        }
        let mut answers = ResidueVectors::zeros(matrix.moduli(), 1, rows)?;
        let moduli = matrix.moduli().words();
        self.install(|| {
            each_section(matrix, progress, |section| {
                let products: Vec<Vec<u32>> = (0..section.rows.len())
                    .into_par_iter()
                    .map(|row| {
                        let planes = section.row(row).chunks(columns).zip(moduli).enumerate();
                        let product = planes.map(|(place, (plane, modulus))| {
                            let (low, high) = dot(plane, vector.plane(0, place));
                            modulus.reduce_wide(low, high)
                        });
                        product.collect()
                    })
                    .list();
                for (row, product) in section.rows.clone().zip(products) {
                    for (place, residue) in product.into_iter().enumerate() {
                        answers.as_mut_slice()[place * rows + row] = residue;
                    }
                }
            })
        })?;
        Ok(answers)
    }
}

/// The sums of the low and of the high halves of products; at most 2^31 columns, so that both fit.
fn dot(a: &[u32], b: &[u32]) -> (u64, u64) {
    let products = a.iter().zip(b).map(|(&a, &b)| u64::from(a) * u64::from(b));
    products.fold((0, 0), |(low, high), product| (low + (product & 0xffff_ffff), high + (product >> 32)))
}
