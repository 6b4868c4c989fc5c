//! Batches that stay on a device: their memory, and the ways in and out.

use crate::backend::Cuda;
use crate::device::{Contents, Device, Stream};
use crate::device_rows::DeviceRows;
use crate::error::{Error, Result};
use crate::loaded::LoadedDevice;
use crate::operands::{Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, Lane, Stages};
use crate::staging::{AnswerRows, Source};
use modmill_core::{Batch, BatchView, DeviceAddress, DeviceMemory, Moduli, Operand, Resident, ResidentView};
use std::any::Any;
use std::sync::Arc;

/// Limbs of a chunk on its way in or out: enough to copy at full speed.
const CHUNK_LIMBS: usize = 2 << 20;

impl DeviceRows {
    fn lane(&self) -> Lane<'_> {
        Lane { device: &self.device, workers: &self.workers, contents: Contents::Secret, watch: None }
    }

    /// Copies `count` rows from row `first` on to the host.
    pub(crate) fn copy_out(&self, first: usize, count: usize, answers: AnswerRows<'_>) -> Result<()> {
        let moving = Transfer { rows: self, first, limbs: self.stride, direction: Direction::Out };
        self.transfer(count, self.stride, &moving, Source::NONE, Some(answers))
    }

    /// Sends rows of `limbs` limbs between the host and the device.
    fn transfer(
        &self,
        count: usize,
        limbs: usize,
        moving: &Transfer<'_>,
        source: Source<'_>,
        answers: Option<AnswerRows<'_>>,
    ) -> Result<()> {
        let operands = Operands { sources: [source], items: (0..count).into() };
        let mut exchange = OperandExchange::new(operands, answers, Flags::None);
        let size = (CHUNK_LIMBS / limbs.max(1)).clamp(1, count.max(1));
        let sizes = ChunkSizes { size, edge: size.div_ceil(4), multiple: 1 };
        pipeline::run(self.lane(), count, sizes, |_| Ok(*moving), &mut exchange).map(|_| ())
    }
}

impl DeviceMemory for DeviceRows {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn bytes(&self) -> usize {
        self.buffer.bytes()
    }

    fn address(&self) -> Option<DeviceAddress> {
        let properties = self.device.properties();
        let address = DeviceAddress {
            ordinal: properties.ordinal,
            address: self.buffer.address(),
            stride: self.stride,
        };
        (!properties.emulated).then_some(address)
    }

    fn download(&self, first: usize, answers: &mut Batch) -> std::result::Result<(), modmill_core::Error> {
        let (count, stride) = (answers.len(), answers.stride());
        let rows = AnswerRows { rows: answers.as_limbs_mut(), stride, limbs: self.stride };
        Ok(self.copy_out(first, count, rows)?)
    }
}

impl Cuda {
    /// Memory for a resident batch of `len` rows of `stride` limbs on the device `home`, or on the one that
    /// holds the fewest resident bytes.
    pub(crate) fn rows(&self, home: Option<&LoadedDevice>, stride: usize, len: usize) -> Result<DeviceRows> {
        let loaded = home.map_or_else(|| self.emptiest(), Ok)?;
        DeviceRows::new(&loaded.device, self.workers(), stride, len)
    }

    /// The device that holds the fewest resident bytes.
    pub(crate) fn emptiest(&self) -> Result<&LoadedDevice> {
        let devices = self.loaded().iter();
        devices.min_by_key(|loaded| loaded.device.resident_bytes()).ok_or(Error::NoDevice)
    }

    /// Copies a batch to the device with this index, or to the one that holds the fewest resident bytes.
    pub fn upload(&self, batch: BatchView<'_>, index: Option<usize>) -> Result<Resident> {
        self.copy_in(self.at(index), Operand::Each(batch))
    }

    /// The device with this index.
    pub(crate) fn at(&self, index: Option<usize>) -> Option<&LoadedDevice> {
        index.and_then(|index| self.loaded().get(index))
    }

    /// A copy of numbers on a device; `None` if they are there already. A number that all items share becomes
    /// a batch of one.
    pub(crate) fn near(&self, loaded: &LoadedDevice, numbers: Operand<'_>) -> Result<Option<Resident>> {
        match numbers.resident().map(DeviceRows::of) {
            None => self.copy_in(Some(loaded), numbers).map(Some),
            Some(Ok(rows)) if rows.device.is(&loaded.device) => Ok(None),
            Some(_) => Err(Error::NoDevice),
        }
    }

    fn copy_in(&self, home: Option<&LoadedDevice>, numbers: Operand<'_>) -> Result<Resident> {
        let (bits, count) = (numbers.bits(), numbers.len().unwrap_or(1));
        let limbs = bits.div_ceil(64);
        let rows = self.rows(home, limbs, count)?;
        if limbs > 0 {
            let moving = Transfer { rows: &rows, first: 0, limbs, direction: Direction::In };
            rows.transfer(count, limbs, &moving, Source::operand(numbers)?, None)?;
        }
        Ok(Resident::new(bits, count, Arc::new(rows)))
    }

    /// All numbers of several batches of one width on one device, one batch after the other.
    pub fn join(&self, batches: &[ResidentView<'_>]) -> Result<Resident> {
        let operands: Vec<Operand<'_>> = batches.iter().map(|&view| Operand::Resident(view)).collect();
        let home = self.home(&operands, None, None)?;
        let bits = batches.first().map_or(0, ResidentView::bits);
        let limbs = bits.div_ceil(64);
        let rows = self.rows(home, limbs, batches.iter().map(ResidentView::len).sum())?;
        let stream = rows.device.stream()?;
        let mut row = 0;
        for view in batches {
            let from = DeviceRows::of(*view)?;
            if view.bits() != bits {
                return Err(Error::Call { call: "Cuda::join", reason: "the widths differ".to_owned() });
            }
            // Rows of narrowed numbers have more limbs than the numbers, and are copied one by one.
            let together = if from.stride == limbs { view.len() } else { 1 };
            for first in (0..view.len()).step_by(together.max(1)).filter(|_| limbs > 0) {
                let start = from.start(view.first() + first);
                stream.copy_within(
                    &from.buffer,
                    start..start + 8 * limbs * together,
                    &rows.buffer,
                    rows.start(row + first),
                )?;
            }
            row += view.len();
        }
        stream.synchronize()?;
        Ok(Resident::new(bits, row, Arc::new(rows)))
    }

    /// Whether numbers are in the memory of one of these devices.
    #[must_use]
    pub fn holds(&self, view: ResidentView<'_>) -> bool {
        DeviceRows::of(view).is_ok_and(|rows| self.loaded_for(rows).is_ok())
    }

    /// Whether two views are in the memory of the same device.
    #[must_use]
    pub fn are_together(&self, a: ResidentView<'_>, b: ResidentView<'_>) -> bool {
        matches!((DeviceRows::of(a), DeviceRows::of(b)), (Ok(a), Ok(b)) if a.device.is(&b.device))
    }

    /// A device of this backend with its kernels.
    pub(crate) fn loaded_of(&self, device: &Device) -> Result<&LoadedDevice> {
        self.loaded().iter().find(|loaded| loaded.device.is(device)).ok_or(Error::NoDevice)
    }

    pub(crate) fn loaded_for(&self, rows: &DeviceRows) -> Result<&LoadedDevice> {
        self.loaded_of(&rows.device)
    }

    /// The device that holds the resident numbers of a job; `None` if there are none. An error if they are on
    /// several devices, or on one that is not of this backend.
    pub(crate) fn home(
        &self,
        operands: &[Operand<'_>],
        moduli: Option<Moduli<'_>>,
        answers: Option<&DeviceRows>,
    ) -> Result<Option<&LoadedDevice>> {
        let moduli = match moduli {
            Some(Moduli::Resident(moduli)) => Some(moduli.resident().view()),
            Some(Moduli::Each(_) | Moduli::Shared(_) | Moduli::Prepared(_)) | None => None,
        };
        let views = operands.iter().filter_map(Operand::resident).chain(moduli);
        let mut rows = views.map(DeviceRows::of).collect::<Result<Vec<_>>>()?;
        rows.extend(answers);
        let Some((first, others)) = rows.split_first() else { return Ok(None) };
        let elsewhere = || Error::Call {
            call: "Cuda::run",
            reason: "resident operands are on different devices, or on one of another engine".to_owned(),
        };
        let home =
            self.loaded_for(first).ok().filter(|_| others.iter().all(|rows| rows.device.is(&first.device)));
        home.map(Some).ok_or_else(elsewhere)
    }
}

/// The direction in which numbers are copied.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// The device's side of a transfer: rows of `limbs` limbs, from row `first` on.
#[derive(Clone, Copy)]
struct Transfer<'a> {
    rows: &'a DeviceRows,
    first: usize,
    limbs: usize,
    direction: Direction,
}

impl Stages for Transfer<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        let limbs = rows * self.limbs;
        let (input_limbs, output_limbs) = match self.direction {
            Direction::In => (limbs, 0),
            Direction::Out => (0, limbs),
        };
        Footprint { input_limbs, output_limbs, flag_words: 0 }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let start = self.rows.start(self.first + chunk.first);
        let bytes = 8 * self.limbs * chunk.rows;
        match self.direction {
            Direction::In => compute.copy_within(chunk.inputs, 0..bytes, &self.rows.buffer, start),
            Direction::Out => compute.copy_within(&self.rows.buffer, start..start + bytes, chunk.outputs, 0),
        }
    }
}
