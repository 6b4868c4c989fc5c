//! A matrix that is laid out on a device section by section.

use super::calls::{LayoutCall, ModulusWords};
use super::products::Products;
use super::programs::Layouts;
use super::sections::Pieces;
use super::shape::{MatrixShape, SectionSizes};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::Result;
use crate::workers::Workers;
use modmill_core::matrix::Progress;
use modmill_core::{MatrixSource, ResidueModuli};
use std::ops::Range;

/// The kernels, the threads and the constants that lay out sections of a matrix.
pub(super) struct Streaming<'a> {
    device: &'a Device,
    workers: &'a Workers,
    shape: MatrixShape,
    sizes: SectionSizes,
    layouts: Layouts,
    moduli: Buffer,
}

impl<'a> Streaming<'a> {
    pub(super) fn new(
        device: &'a Device,
        workers: &'a Workers,
        shape: &MatrixShape,
        sizes: SectionSizes,
    ) -> Result<Self> {
        let (layouts, moduli) = (Layouts::load(device)?, upload_moduli(device, &shape.moduli)?);
        Ok(Self { device, workers, shape: shape.clone(), sizes, layouts, moduli })
    }

    /// The moduli on the device.
    pub(super) fn into_moduli(self) -> Buffer {
        self.moduli
    }

    /// The most rows of a section.
    pub(super) fn section_rows(&self, source: &dyn MatrixSource) -> usize {
        self.sizes.rows(&self.shape, source.seed().is_some())
    }

    /// Lays out rows of a matrix as units: from the seed at once, or piece by piece through pinned memory.
    pub(super) fn lay_out(
        &self,
        source: &dyn MatrixSource,
        units: &Buffer,
        rows: Range<usize>,
    ) -> Result<()> {
        let stream = self.device.stream()?;
        let call = LayoutCall::new(&self.shape, &self.moduli, units, rows.clone());
        match source.seed() {
            Some(seed) => self.layouts.write(&stream, &call.seeded(seed), None, &self.moduli, units)?,
            None => {
                let pieces = Pieces::new(self.device, &self.shape, self.section_rows(source))?;
                pieces.each(self.workers, source, rows.clone(), |plain, piece, copied| {
                    stream.wait(copied)?;
                    let call = call.piece(plain, piece.start - rows.start, piece.len());
                    self.layouts.write(&stream, &call, Some(plain), &self.moduli, units)?;
                    Ok(&stream)
                })?;
            }
        }
        stream.synchronize()
    }

    /// Multiplies all sections of a matrix.
    pub(super) fn multiply(
        &self,
        source: &dyn MatrixSource,
        products: &Products<'_>,
        stream: &Stream,
        progress: Progress<'_>,
    ) -> Result<()> {
        match source.seed() {
            Some(seed) => self.multiply_expanded(seed, self.section_rows(source), products, stream, progress),
            None => self.multiply_copied(source, products, stream, progress),
        }
    }

    /// Copied sections: the next one is copied while one is laid out and multiplied.
    fn multiply_copied(
        &self,
        source: &dyn MatrixSource,
        products: &Products<'_>,
        stream: &Stream,
        progress: Progress<'_>,
    ) -> Result<()> {
        let (shape, rows) = (&self.shape, self.section_rows(source));
        let pieces = Pieces::new(self.device, shape, rows)?;
        let units = self.device.buffer(shape.unit_bytes(rows), Contents::Public)?;
        pieces.each(self.workers, source, 0..shape.rows, |plain, rows, copied| {
            stream.wait(copied)?;
            let call = LayoutCall::new(shape, &self.moduli, &units, rows.clone());
            let call = call.piece(plain, 0, rows.len());
            self.layouts.write(stream, &call, Some(plain), &self.moduli, &units)?;
            products.launch(stream, &units, &self.moduli, rows.clone(), &(0..shape.moduli.len()))?;
            progress(rows.end, shape.rows);
            Ok(stream)
        })
    }

    /// Expanded sections, two in turn: one is expanded while the other is multiplied.
    fn multiply_expanded(
        &self,
        seed: &[u8; 32],
        rows: usize,
        products: &Products<'_>,
        stream: &Stream,
        progress: Progress<'_>,
    ) -> Result<()> {
        let (device, shape) = (self.device, &self.shape);
        let bytes = shape.unit_bytes(rows);
        let slots = [device.buffer(bytes, Contents::Public)?, device.buffer(bytes, Contents::Public)?];
        let expanding = device.stream()?;
        let ready = device.event()?;
        let free = [device.event()?, device.event()?];
        for (index, start) in (0..shape.rows).step_by(rows).enumerate() {
            let (units, free) = (&slots[index % 2], &free[index % 2]);
            let section = start..(start + rows).min(shape.rows);
            if index >= 2 {
                // The host stays two sections ahead at most, so that progress is what is done.
                free.synchronize()?;
                progress(start - rows, shape.rows);
            }
            let call = LayoutCall::new(shape, &self.moduli, units, section.clone()).seeded(seed);
            self.layouts.write(&expanding, &call, None, &self.moduli, units)?;
            ready.record(&expanding)?;
            stream.wait(&ready)?;
            products.launch(stream, units, &self.moduli, section, &(0..shape.moduli.len()))?;
            free.record(stream)?;
        }
        stream.synchronize()?;
        progress(shape.rows, shape.rows);
        Ok(())
    }
}

fn upload_moduli(device: &Device, moduli: &ResidueModuli) -> Result<Buffer> {
    let limbs: Vec<u64> =
        moduli.words().iter().flat_map(|&modulus| ModulusWords::of(modulus).limbs()).collect();
    device.upload(&limbs, Contents::Public)
}
