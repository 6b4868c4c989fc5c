//! Constants of moduli on a device (`constants.cuh`): made anew for every chunk, or kept with moduli that
//! stay.
#![allow(unsafe_code)] // launches kernels

use crate::call::{Numbers, Preparation, word};
use crate::device::{Buffer, Contents, Device, Kernel, Shape, Stream};
use crate::error::Result;
use crate::kept_constants::KeptConstants;
use crate::kernels::TaskKernels;
use crate::staging::{Source, words};
use std::ops::Range;
use std::sync::Arc;

/// Rows of constants for the moduli of a job.
pub(crate) struct Constants<'a> {
    kernels: &'a TaskKernels,
    rows: Arc<Buffer>,
    /// Limbs of a modulus.
    limbs: u32,
    /// Whether there is one modulus for all items.
    is_shared: bool,
    /// Whether the rows are complete, for all items of the job.
    is_kept: bool,
}

impl<'a> Constants<'a> {
    /// Memory for the constants of `size` items at a time.
    pub(crate) fn of_chunks(
        device: &Device,
        kernels: &'a TaskKernels,
        moduli: &Source<'_>,
        size: usize,
        contents: Contents,
    ) -> Result<Self> {
        let is_shared = moduli.is_shared();
        let count = if kernels.preparation.is_none() || is_shared { 1 } else { size };
        let rows = Arc::new(device.buffer(4 * row_words(kernels) as usize * count, contents)?);
        Ok(Self { kernels, rows, limbs: words(moduli.width) / 2, is_shared, is_kept: false })
    }

    /// Constants that are kept in `kept`, for one modulus or for `count` moduli on the device.
    pub(crate) fn kept(
        device: &Device,
        kernels: &'a TaskKernels,
        kept: &KeptConstants,
        moduli: &Source<'_>,
        count: usize,
    ) -> Result<Self> {
        let rows = kept.get(device, kernels.variant, || {
            let new = Self::of_chunks(device, kernels, moduli, count, Contents::Secret)?;
            let stream = device.stream()?;
            let inputs = moduli.upload(device)?;
            let mut used = vec![&inputs];
            used.extend(moduli.rows().map(|rows| &rows.buffer));
            new.prepare(&stream, moduli.numbers(&inputs, 0, 0), count, &used)?;
            stream.synchronize()?;
            Ok(new.rows)
        })?;
        let (limbs, is_shared) = (words(moduli.width) / 2, moduli.is_shared());
        Ok(Self { kernels, rows, limbs, is_shared, is_kept: true })
    }

    /// The buffer that the rows are in.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.rows
    }

    /// The rows of a chunk that begins with `item`.
    pub(crate) fn numbers(&self, item: usize) -> Numbers {
        let first = if self.is_kept && !self.is_shared { item as u64 } else { 0 };
        let words = row_words(self.kernels);
        let address = self.rows.address() + 4 * u64::from(words) * first;
        Numbers { address, stride: if self.is_shared { 0 } else { words }, length: words }
    }

    /// Makes the rows of a chunk of `count` items, unless they are kept.
    pub(crate) fn prepare(
        &self,
        compute: &Stream,
        moduli: Numbers,
        count: usize,
        used: &[&Buffer],
    ) -> Result<()> {
        let TaskKernels { preparation, variant, .. } = self.kernels;
        let Some(preparation) = preparation.as_ref().filter(|_| !self.is_kept) else { return Ok(()) };
        let count = if self.is_shared { 1 } else { count };
        let (kernel, block) = (&preparation.constants, variant.layout.block);
        launch_constants(compute, kernel, block, moduli, count, &self.rows, used)
    }

    /// Reduces the numbers of `items` to rows of as many words as the layout has.
    pub(crate) fn reduce(
        &self,
        compute: &Stream,
        numbers: Numbers,
        items: Range<usize>,
        reduced: &Buffer,
        used: &[&Buffer],
    ) -> Result<()> {
        let Some(preparation) = &self.kernels.preparation else { return Ok(()) };
        let count = word(items.len())?;
        let (constants, rows, limbs) = (self.numbers(items.start), reduced.address(), self.limbs);
        let call = Preparation { input: numbers, constants, rows, count, limbs };
        let used: Vec<&Buffer> = used.iter().copied().chain([self.buffer(), reduced]).collect();
        let shape = one_thread_each(self.kernels.variant.layout.block, count);
        // SAFETY: the kernel takes this structure; it reads `count` numbers and the rows of constants, and
        // writes `count` rows of `words` words.
        unsafe { compute.launch(&preparation.reduce, shape, &call, &used) }
    }
}

/// Words of a row of constants.
fn row_words(kernels: &TaskKernels) -> u32 {
    4 + 3 * kernels.variant.words
}

/// Makes rows of constants of `count` moduli, which are in one of the buffers `used`.
pub(crate) fn launch_constants(
    stream: &Stream,
    kernel: &Kernel,
    block: u32,
    moduli: Numbers,
    count: usize,
    rows: &Buffer,
    used: &[&Buffer],
) -> Result<()> {
    let (count, limbs, constants) = (word(count)?, moduli.length / 2, Numbers::default());
    let call = Preparation { input: moduli, constants, rows: rows.address(), count, limbs };
    let used: Vec<&Buffer> = used.iter().copied().chain([rows]).collect();
    // SAFETY: the kernel takes this structure; it reads `count` moduli and writes as many rows of constants.
    unsafe { stream.launch(kernel, one_thread_each(block, count), &call, &used) }
}

fn one_thread_each(block: u32, count: u32) -> Shape {
    Shape { grid: count.div_ceil(block), block, shared_bytes: 0 }
}
