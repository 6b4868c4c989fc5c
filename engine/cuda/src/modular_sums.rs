//! Sums modulo one number whose numbers stay on a device.

use crate::backend::Cuda;
use crate::call::word;
use crate::device::{Buffer, Device, Stream};
use crate::device_rows::DeviceRows;
use crate::error::{Error, Result};
use crate::fft::{Lists, Output, SumsModulo};
use crate::staging::Source;
use crate::transformed::Transformed;
use modmill_core::sync::Mutex;
use modmill_core::{Operand, Resident, ResidentView, Sums};
use std::sync::Arc;

/// A modulus on a device, for sums of products and sums with weights.
pub struct ModularSums {
    device: Device,
    bits: usize,
    /// Its memory serves one call at a time.
    sums: Mutex<SumsModulo>,
}

/// Factors of sums of products, transformed, in the memory of a device.
pub type SumFactors = Transformed;

impl ModularSums {
    /// Whether numbers are in the memory of the same device.
    #[must_use]
    pub fn is_with(&self, view: ResidentView<'_>) -> bool {
        DeviceRows::of(view).is_ok_and(|rows| rows.device.is(&self.device))
    }
}

impl Cuda {
    /// Puts a modulus of at least one on the device that holds the fewest resident bytes, for sums of at most
    /// `most` products of numbers as long as the modulus, or of weights that add up to at most `most`.
    pub fn modular_sums(&self, modulus: &[u64], most: usize) -> Result<ModularSums> {
        let none = || Error::NoKernel { name: "for moduli without a way to find reciprocals".to_owned() };
        let reciprocals = self.reciprocals.as_deref().ok_or_else(none)?;
        let loaded = self.emptiest()?;
        let sums =
            SumsModulo::new(&loaded.device, |length| loaded.transforms(length), reciprocals, modulus, most)?;
        let bits = modmill_core::limbs::bit_length(modulus);
        Ok(ModularSums { device: loaded.device.clone(), bits, sums: Mutex::new(sums) })
    }

    /// Transforms numbers for sums of products modulo a number that is no shorter. Numbers of the host are
    /// copied.
    pub fn sum_factors(&self, modular: &ModularSums, numbers: Operand<'_>) -> Result<SumFactors> {
        if numbers.bits() > modular.bits {
            return Err(Error::TooLong { what: "a factor", bits: numbers.bits(), limit: modular.bits });
        }
        let length = *modular.sums.lock().length()?;
        self.keep_transformed(self.loaded_of(&modular.device)?, length, numbers, modular.bits)
    }

    /// Sums of products of factors, modulo the number that they were transformed for. Indices run through all
    /// groups of factors, one after the other. Returns the sums and the kernels' seconds.
    pub fn sums_of_products(
        &self,
        modular: &ModularSums,
        factors: &[&SumFactors],
        sums: &Sums,
    ) -> Result<(Resident, f64)> {
        let call = |reason: String| Error::Call { call: "Cuda::sums_of_products", reason };
        let count: usize = factors.iter().map(|group| group.len()).sum();
        if sums.numbers() > count {
            return Err(call(format!("a sum names number {} of {count}", sums.numbers() - 1)));
        }
        self.summed(modular, sums.len(), |modulo, output| {
            let length = modulo.length()?;
            if factors.iter().any(|group| !group.device.is(&modular.device) || group.length != *length) {
                return Err(call("factors were transformed for another modulus".to_owned()));
            }
            let stride = length.bytes() as u64;
            let starts = |group: &&SumFactors| {
                let start = group.transforms.address();
                (0..group.len() as u64).map(move |item| start + stride * item)
            };
            let addresses: Vec<u64> = factors.iter().flat_map(starts).collect();
            let lists = Lists::new(&modular.device, sums, |index| addresses[index])?;
            let buffers: Vec<&Buffer> = factors.iter().map(|group| &group.transforms).collect();
            timed(&modular.device, |stream| modulo.sums_of_products(stream, &buffers, &lists, output))
        })
    }

    /// Sums of numbers with weights: for each sum a byte for each number. Numbers of the host are copied.
    /// Returns the sums and the kernels' seconds.
    pub fn weighted_sums(
        &self,
        modular: &ModularSums,
        numbers: Operand<'_>,
        weights: &[u8],
    ) -> Result<(Resident, f64)> {
        if numbers.bits() > modular.bits {
            return Err(Error::TooLong { what: "a number", bits: numbers.bits(), limit: modular.bits });
        }
        let uploaded = self.near(self.loaded_of(&modular.device)?, numbers)?;
        let source = Source::operand(uploaded.as_ref().map_or(numbers, Operand::from))?;
        let rows = source.rows().ok_or(Error::NoDevice)?;
        let words = source.numbers(&rows.buffer, 0, 0);
        let count = numbers.len().unwrap_or(1);
        self.summed(modular, weights.len() / count.max(1), |modulo, output| {
            let numbers = (words, &rows.buffer, count);
            timed(&modular.device, |stream| modulo.weighted_sums(stream, numbers, weights, output))
        })
    }

    /// `count` answers that `compute` writes; it returns milliseconds.
    fn summed(
        &self,
        modular: &ModularSums,
        count: usize,
        compute: impl FnOnce(&SumsModulo, Output<'_>) -> Result<f32>,
    ) -> Result<(Resident, f64)> {
        let loaded = self.loaded_of(&modular.device)?;
        let limbs = modular.bits.div_ceil(64);
        let rows = self.rows(Some(loaded), limbs, count)?;
        let words = word(2 * limbs)?;
        let mut milliseconds = 0.0;
        if count > 0 {
            milliseconds = compute(&modular.sums.lock(), Output::all(&rows.buffer, words))?;
        }
        Ok((Resident::new(modular.bits, count, Arc::new(rows)), f64::from(milliseconds) / 1e3))
    }
}

/// Runs what `work` puts on a stream. Returns milliseconds.
fn timed(device: &Device, work: impl FnOnce(&Stream) -> Result<()>) -> Result<f32> {
    let stream = device.stream()?;
    let (start, end) = (device.event()?, device.event()?);
    start.record(&stream)?;
    work(&stream)?;
    end.record(&stream)?;
    stream.synchronize()?;
    end.elapsed_ms(&start)
}
