//! Factors of products whose transforms stay on a device.

use crate::backend::Cuda;
use crate::device::{Buffer, Contents, Device};
use crate::device_rows::DeviceRows;
use crate::error::{Error, Result};
use crate::fft::{Input, KeptFactor, Length, LongJob, LongTask};
use crate::loaded::LoadedDevice;
use crate::staging::{Answers, Source};
use modmill_core::{Operand, Resident, ResidentView};
use std::sync::Arc;

/// Factors of many products, transformed once, in the memory of a device.
pub struct Transformed {
    pub(crate) transforms: Buffer,
    pub(crate) device: Device,
    pub(crate) length: Length,
    bits: usize,
    longest: usize,
    count: usize,
}

impl Transformed {
    /// Whether numbers are in the memory of the same device.
    #[must_use]
    pub fn is_with(&self, view: ResidentView<'_>) -> bool {
        DeviceRows::of(view).is_ok_and(|rows| rows.device.is(&self.device))
    }

    /// The number of factors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no factors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the device's memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.transforms.bytes()
    }
}

impl Cuda {
    /// Transforms numbers of a device for products with factors of up to `longest` bits.
    pub fn transform(&self, numbers: &Resident, longest: usize) -> Result<Transformed> {
        let loaded = self.loaded_for(DeviceRows::of(numbers.view())?)?;
        let length = Length::new(numbers.bits().max(longest), numbers.bits().min(longest), 1);
        self.keep_transformed(loaded, length, numbers.into(), longest)
    }

    /// Transforms numbers for products with factors of up to `longest` bits, by transforms of a length that
    /// holds the products. Numbers of the host are copied.
    pub(crate) fn keep_transformed(
        &self,
        loaded: &LoadedDevice,
        length: Length,
        numbers: Operand<'_>,
        longest: usize,
    ) -> Result<Transformed> {
        let (bits, count) = (numbers.bits(), numbers.len().unwrap_or(1));
        // Launches count pairs of points in a word.
        let most = (u32::MAX as usize) * 2 / length.shape.points();
        if count > most {
            let reason = format!("at most {most} factors of this length are transformed together");
            return Err(Error::Item { item: most, reason });
        }
        let bytes = length.bytes().saturating_mul(count.max(1));
        let uploaded = self.near(loaded, numbers)?;
        let source = Source::operand(uploaded.as_ref().map_or(numbers, Operand::from))?;
        let transforms = loaded.device.resident_buffer(bytes, Contents::Secret)?;
        let made = Transformed { transforms, device: loaded.device.clone(), length, bits, longest, count };
        let stream = loaded.device.stream()?;
        match source.rows().filter(|_| count > 0 && bits > 0) {
            Some(rows) => {
                let buffers = [&rows.buffer];
                let input = Input::plain(source.numbers(&rows.buffer, 0, 0), &buffers);
                loaded.transforms(&length)?.keep(&stream, &length, input, count, &made.transforms)?;
            }
            None => stream.fill(&made.transforms, 0..bytes, 0)?,
        }
        stream.synchronize()?;
        Ok(made)
    }

    /// Full products of numbers and transformed factors: one factor for each item, or one for all items.
    /// Returns the products and the kernels' seconds.
    pub fn multiply_transformed(&self, a: Operand<'_>, b: &Transformed) -> Result<(Resident, f64)> {
        let loaded = self.loaded_of(&b.device)?;
        let count = a.len().unwrap_or(b.count);
        let is_shared = b.count == 1;
        if a.bits() > b.longest {
            return Err(Error::TooLong { what: "a factor", bits: a.bits(), limit: b.longest });
        }
        if !is_shared && b.count != count {
            let reason = format!("there are {} transformed factors", b.count);
            return Err(Error::Item { item: count.max(b.count) - 1, reason });
        }
        let kept = KeptFactor { transforms: &b.transforms, is_shared, bits: b.bits };
        let job = LongJob::new(a, LongTask::MultiplyKept(kept));
        let rows = self.rows(Some(loaded), job.limbs(), count)?;
        let seconds = match count {
            0 => 0.0,
            _ => {
                let lane = self.lane(loaded, Contents::Secret);
                let transforms = loaded.transforms(&b.length)?;
                let shape = (b.length, b.length.chunk_items());
                job.run(lane, &transforms, (0..count).into(), Answers::Device(&rows), shape)?
            }
        };
        Ok((Resident::new(job.bits(), count, Arc::new(rows)), seconds))
    }
}
