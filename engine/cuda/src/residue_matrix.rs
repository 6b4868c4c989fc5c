//! Matrices in residues on a device, and their products with vectors (`residue_matrix.cuh`,
//! `residue_product.cuh`).

mod calls;
mod pinned;
mod products;
mod programs;
mod run;
mod sections;
mod shape;
mod streaming;
mod turns;
mod vectors;

pub use pinned::PinnedRows;
pub use programs::residue_matrix_programs;
pub use shape::SectionSizes;

use crate::backend::Cuda;
use crate::device::{Buffer, Contents, Device};
use crate::error::{Error, Result};
use modmill_core::matrix::Progress;
use modmill_core::{MatrixFactors, MatrixSource, ResidueVectors};
use run::MatrixRun;
use shape::{MatrixShape, SECTION_ROWS};
use std::ops::Range;
use streaming::Streaming;

/// A matrix in residues in the memory of a device.
pub struct DeviceMatrix {
    device: Device,
    shape: MatrixShape,
    moduli: Buffer,
    slabs: Vec<Slab>,
}

/// Rows of a matrix, laid out for the tensor cores.
struct Slab {
    units: Buffer,
    rows: Range<usize>,
}

impl DeviceMatrix {
    /// Bytes of the device's memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.slabs.iter().map(|slab| slab.units.bytes()).sum()
    }
}

impl Cuda {
    /// Copies a matrix to the device with the fewest resident bytes, or expands it there from its seed.
    pub fn hold_matrix(&self, source: &dyn MatrixSource) -> Result<DeviceMatrix> {
        let device = &self.emptiest()?.device;
        let shape = MatrixShape::of(source);
        // A matrix that does not fit is refused before anything is copied.
        let slabs = (0..shape.rows).step_by(SECTION_ROWS).map(|start| {
            let rows = start..(start + SECTION_ROWS).min(shape.rows);
            let units = device.resident_buffer(shape.unit_bytes(rows.len()), Contents::Public)?;
            Ok(Slab { units, rows })
        });
        let slabs = slabs.collect::<Result<Vec<_>>>()?;
        let streaming = Streaming::new(device, self.workers(), &shape, self.settings.sections)?;
        for slab in &slabs {
            streaming.lay_out(source, &slab.units, slab.rows.clone())?;
        }
        let moduli = streaming.into_moduli();
        Ok(DeviceMatrix { device: device.clone(), shape, moduli, slabs })
    }

    /// `A^T r` for vectors r of bits or of residues with a matrix that is held on a device, written to
    /// `answers`. Returns the seconds in kernels.
    pub fn multiply_held(
        &self,
        matrix: &DeviceMatrix,
        factors: MatrixFactors<'_>,
        answers: &mut ResidueVectors,
        progress: Progress<'_>,
    ) -> Result<f64> {
        let DeviceMatrix { device, shape, moduli, slabs } = matrix;
        if self.loaded_of(device).is_err() {
            let reason = "the matrix is on a device of another engine".to_owned();
            return Err(Error::Call { call: "Cuda::multiply_held", reason });
        }
        let run = self.matrix_run(device, shape, shape.rows.min(SECTION_ROWS), true);
        run.multiply(factors, answers, |products, stream, part| {
            for slab in slabs {
                products.launch(stream, &slab.units, moduli, slab.rows.clone(), part)?;
                if part.end == shape.moduli.len() {
                    progress(slab.rows.end, shape.rows);
                }
            }
            Ok(())
        })
    }

    /// Multiplies a matrix that is streamed to a device in sections, or expanded there from its seed section
    /// by section.
    pub fn multiply_streamed(
        &self,
        source: &dyn MatrixSource,
        factors: MatrixFactors<'_>,
        answers: &mut ResidueVectors,
        progress: Progress<'_>,
    ) -> Result<f64> {
        let device = &self.loaded().first().ok_or(Error::NoDevice)?.device;
        let shape = MatrixShape::of(source);
        let streaming = Streaming::new(device, self.workers(), &shape, self.settings.sections)?;
        let run = self.matrix_run(device, &shape, streaming.section_rows(source), false);
        run.multiply(factors, answers, |products, stream, _| {
            streaming.multiply(source, products, stream, progress)
        })
    }

    fn matrix_run<'a>(
        &'a self,
        device: &'a Device,
        shape: &'a MatrixShape,
        section_rows: usize,
        in_parts: bool,
    ) -> MatrixRun<'a> {
        let piece_words = (self.settings.sections.vectors / 4).max(1);
        MatrixRun { device, workers: self.workers(), shape, section_rows, piece_words, in_parts }
    }
}
