//! The vectors that multiply a matrix in residues.

use super::bits::BitVectors;
use super::moduli::ResidueModuli;
use super::vectors::ResidueVectors;
use crate::error::Error;

/// The vectors that multiply a matrix in residues.
#[derive(Debug, Clone, Copy)]
pub enum MatrixFactors<'a> {
    /// Vectors of zeros and ones: products are sums of rows.
    Bits(&'a BitVectors),
    /// Vectors of integers.
    Residues(&'a ResidueVectors),
}

impl<'a> From<&'a BitVectors> for MatrixFactors<'a> {
    fn from(bits: &'a BitVectors) -> Self {
        Self::Bits(bits)
    }
}

impl<'a> From<&'a ResidueVectors> for MatrixFactors<'a> {
    fn from(residues: &'a ResidueVectors) -> Self {
        Self::Residues(residues)
    }
}

impl MatrixFactors<'_> {
    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Bits(bits) => bits.count(),
            Self::Residues(residues) => residues.count(),
        }
    }

    /// The elements of a vector.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Bits(bits) => bits.length(),
            Self::Residues(residues) => residues.length(),
        }
    }

    /// Checks that the vectors have an element for each of `rows` rows, and residues of these moduli.
    pub fn check(&self, moduli: &ResidueModuli, rows: usize) -> Result<(), Error> {
        if self.length() != rows {
            return Err(Error::LengthMismatch { what: "a vector", expected: rows, found: self.length() });
        }
        match self {
            Self::Residues(residues) if residues.moduli() != moduli => Err(Error::OtherModuli),
            Self::Residues(_) | Self::Bits(_) => Ok(()),
        }
    }
}
