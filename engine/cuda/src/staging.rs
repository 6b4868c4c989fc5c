//! Operands on their way between the caller's memory and pinned memory that a device copies from and to.

use crate::call::Numbers;
use crate::device::pinned::is_pinned;
use crate::device::{Buffer, Contents, Device, HostBuffer};
use crate::device_rows::DeviceRows;
use crate::error::{Error, Result};
use modmill_core::{BatchView, Items, Moduli, Operand, TRANSFORM_MAX_BITS, limbs};
use rayon::prelude::*;
use std::ops::Range;

/// One operand of a job: `width` limbs for each item, or once for all items.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) origin: Origin<'a>,
    pub(crate) width: usize,
    /// Whether every item gets its own copy of a number that all items share.
    pub(crate) is_repeated: bool,
}

/// The source of an operand's numbers.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// The caller's memory.
    Operand(Operand<'a>),
    /// The caller's memory.
    Moduli(Moduli<'a>),
    /// Memory where each item has numbers of several kinds, of which this is one.
    ByItem(&'a (dyn ByItem + 'a), usize),
    /// The device's own memory, from row `first` on.
    Rows { rows: &'a DeviceRows, first: usize, is_shared: bool },
}

/// Numbers of several kinds that are found by the item that they are for.
pub(crate) trait ByItem: Sync {
    fn number(&self, item: usize, kind: usize) -> &[u64];
}

impl<'a> Source<'a> {
    /// No numbers.
    pub(crate) const NONE: Self = Self {
        origin: Origin::Operand(Operand::Shared { bits: 0, value: &[] }),
        width: 0,
        is_repeated: false,
    };

    /// The numbers of an operand; an error if they are in the memory of another backend's device.
    pub(crate) fn operand(operand: Operand<'a>) -> Result<Self> {
        let width = operand.bits().div_ceil(64);
        let origin = match operand.resident() {
            None => Origin::Operand(operand),
            Some(view) => {
                let rows = DeviceRows::of(view)?;
                Origin::Rows { rows, first: view.first(), is_shared: operand.is_shared() }
            }
        };
        Self::new(origin, width)
    }

    pub(crate) fn new(origin: Origin<'a>, width: usize) -> Result<Self> {
        let (what, bits, limit) = ("an operand", width.saturating_mul(64), TRANSFORM_MAX_BITS);
        if bits > limit {
            return Err(Error::TooLong { what, bits, limit });
        }
        Ok(Self { origin, width, is_repeated: false })
    }

    /// Moduli of `width` limbs.
    pub(crate) fn moduli(moduli: Moduli<'a>, width: usize) -> Result<Self> {
        let origin = match moduli {
            Moduli::Resident(resident) => {
                let view = resident.resident().view();
                Origin::Rows { rows: DeviceRows::of(view)?, first: view.first(), is_shared: false }
            }
            Moduli::Each(_) | Moduli::Shared(_) | Moduli::Prepared(_) => Origin::Moduli(moduli),
        };
        Self::new(origin, width)
    }

    /// The rows on the device that the numbers are in already, if they are.
    pub(crate) fn rows(&self) -> Option<&'a DeviceRows> {
        match self.origin {
            Origin::Rows { rows, .. } => Some(rows),
            Origin::Operand(_) | Origin::Moduli(_) | Origin::ByItem(..) => None,
        }
    }

    /// Whether the device holds the number once for all items.
    pub(crate) fn is_shared(&self) -> bool {
        let is_one = match self.origin {
            Origin::Operand(operand) => operand.is_shared(),
            Origin::Moduli(moduli) => moduli.len().is_none(),
            Origin::ByItem(..) => false,
            Origin::Rows { is_shared, .. } => is_shared,
        };
        is_one && !self.is_repeated
    }

    /// Limbs of `count` items that are copied in.
    pub(crate) fn limbs(&self, count: usize) -> usize {
        match self.origin {
            Origin::Rows { .. } => 0,
            _ if self.is_shared() => self.width,
            Origin::Operand(_) | Origin::Moduli(_) | Origin::ByItem(..) => self.width * count,
        }
    }

    /// The numbers of `items` as they are copied in, if they stand together in the caller's memory.
    fn together(&self, items: Items<'_>) -> Option<&'a [u64]> {
        let view: BatchView<'a> = match self.origin {
            Origin::Operand(Operand::Each(view)) | Origin::Moduli(Moduli::Each(view)) => view,
            Origin::Operand(_) | Origin::Moduli(_) | Origin::ByItem(..) | Origin::Rows { .. } => return None,
        };
        match items {
            Items::Range { start, end } if view.bits().div_ceil(64) == self.width => {
                Some(view.slice(start..end).as_limbs())
            }
            Items::Range { .. } | Items::List(_) => None,
        }
    }

    /// The numbers of `items` in pinned memory, if the device can copy them by itself.
    pub(crate) fn pinned(&self, items: Items<'_>) -> Option<&'a [u64]> {
        self.together(items).filter(|limbs| is_pinned(limbs))
    }

    /// Writes the numbers of `items` to `rows`, unless the device copies them by itself.
    pub(crate) fn gather(&self, items: Items<'_>, rows: &mut [u64]) {
        let rows = &mut rows[..self.limbs(items.len())];
        match (self.together(items), self.origin) {
            (Some(limbs), _) if is_pinned(limbs) => {}
            (Some(limbs), _) => copy(limbs, rows),
            (None, Origin::Operand(operand)) => {
                copy_rows(rows, self.width, |row| operand.limbs(items.get(row)))
            }
            (None, Origin::Moduli(moduli)) => copy_rows(rows, self.width, |row| moduli.get(items.get(row))),
            (None, Origin::ByItem(numbers, kind)) => {
                copy_rows(rows, self.width, |row| numbers.number(items.get(row), kind))
            }
            (None, Origin::Rows { .. }) => {}
        }
    }

    /// Memory on the device with the number of all items, unless the numbers are on the device already.
    pub(crate) fn upload(&self, device: &Device) -> Result<Buffer> {
        let gather = |staging: &mut HostBuffer| self.gather((0..1).into(), staging.limbs_mut());
        device.upload_with(8 * self.limbs(1), Contents::Secret, gather)
    }

    /// The place of the numbers of a chunk that begins with `item`, once they are on the device: in `buffer`
    /// from limb `start` on, unless they were on the device already.
    pub(crate) fn numbers(&self, buffer: &Buffer, start: usize, item: usize) -> Numbers {
        let length = words(self.width);
        let (address, row) = match self.origin {
            Origin::Operand(_) | Origin::Moduli(_) | Origin::ByItem(..) => {
                (buffer.address() + 8 * start as u64, length)
            }
            Origin::Rows { rows, first, is_shared } => {
                let row = first + if is_shared { 0 } else { item };
                (rows.buffer.address() + rows.start(row) as u64, words(rows.stride))
            }
        };
        Numbers { address, stride: if self.is_shared() { 0 } else { row }, length }
    }
}

/// The fewest limbs that are worth a thread of their own.
const LEAST: usize = 1 << 15;

/// Copies limbs, on all threads. Small parts let the others go on where a thread is interrupted.
pub(crate) fn copy(from: &[u64], to: &mut [u64]) {
    let parts = to.par_chunks_mut(LEAST).zip(from.par_chunks(LEAST));
    parts.with_max_len(1).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Fills rows of `width` limbs with the numbers that `number` gives for each row, on all threads.
pub(crate) fn copy_rows<'a>(rows: &mut [u64], width: usize, number: impl Fn(usize) -> &'a [u64] + Sync) {
    let width = width.max(1);
    let rows = rows.par_chunks_mut(width).enumerate().with_min_len(LEAST / width + 1);
    rows.for_each(|(index, row)| {
        let number = number(index);
        let common = number.len().min(width);
        row[..common].copy_from_slice(&number[..common]);
        row[common..].fill(0);
    });
}

/// Number of 32-bit words in the `limbs` limbs of a number: at most `2^29`.
pub(crate) fn words(limbs: usize) -> u32 {
    u32::try_from(2 * limbs).expect("numbers have at most 2^34 bits")
}

/// Pinned memory of the host for copies. All threads clear what has held secrets of it.
pub(crate) struct Staging {
    pub(crate) buffer: HostBuffer,
    contents: Contents,
    /// Limbs that may have been written.
    used: Range<usize>,
}

impl Staging {
    pub(crate) fn new(device: &Device, limbs: usize, contents: Contents) -> Result<Self> {
        Ok(Self { buffer: device.host_buffer(8 * limbs.max(1), Contents::Public)?, contents, used: 0..0 })
    }

    /// Whether limbs may have been written that are not cleared.
    pub(crate) fn is_used(&self) -> bool {
        !self.used.is_empty()
    }

    /// Notes that limbs will be written. What is not noted is not cleared.
    pub(crate) fn written(&mut self, limbs: Range<usize>) {
        self.used = match self.used.is_empty() {
            true => limbs,
            false => self.used.start.min(limbs.start)..self.used.end.max(limbs.end),
        };
    }

    pub(crate) fn clear(&mut self) {
        let used = std::mem::take(&mut self.used);
        if self.contents == Contents::Secret && !used.is_empty() {
            let parts = self.buffer.limbs_mut()[used].par_chunks_mut(LEAST);
            parts.with_max_len(1).for_each(limbs::clear);
        }
    }
}

impl Drop for Staging {
    /// Clears what is left, on this thread: it need not be one of the movers.
    fn drop(&mut self) {
        if self.contents == Contents::Secret {
            limbs::clear(&mut self.buffer.limbs_mut()[self.used.clone()]);
        }
    }
}

/// Rows for the answers of a batch in the caller's memory.
pub(crate) struct AnswerRows<'a> {
    pub(crate) rows: &'a mut [u64],
    /// Limbs of a row.
    pub(crate) stride: usize,
    /// Limbs of a row on the device.
    pub(crate) limbs: usize,
}

impl AnswerRows<'_> {
    fn of(&mut self, items: Range<usize>) -> &mut [u64] {
        &mut self.rows[items.start * self.stride..items.end * self.stride]
    }

    /// The rows of `items`, if they are in pinned memory and the device can write them by itself.
    pub(crate) fn pinned(&mut self, items: Range<usize>) -> Option<&mut [u64]> {
        let has_rows_of_the_device = self.limbs == self.stride;
        let rows = self.of(items);
        (has_rows_of_the_device && is_pinned(rows)).then_some(rows)
    }

    /// Copies the answers of `items` from the device's rows on all threads, unless the device has written
    /// them itself.
    pub(crate) fn take(&mut self, items: Range<usize>, output: &[u64]) {
        if self.pinned(items.clone()).is_some() {
            return;
        }
        let (stride, limbs) = (self.stride, self.limbs);
        let rows = self.of(items);
        if limbs == stride {
            return copy(&output[..rows.len()], rows);
        }
        let common = limbs.min(stride);
        let rows = rows.par_chunks_mut(stride).zip(output.par_chunks(limbs));
        rows.with_min_len(LEAST / limbs + 1).for_each(|(row, answer)| {
            row[..common].copy_from_slice(&answer[..common]);
            row[common..].fill(0);
        });
    }
}

/// The destination of a batch's answers.
pub(crate) enum Answers<'a> {
    /// To rows on the host, as wide as the answers.
    Host(&'a mut [u64]),
    /// To rows on a device.
    Device(&'a DeviceRows),
}

impl Answers<'_> {
    /// These answers, borrowed for a shorter time.
    pub(crate) fn reborrow(&mut self) -> Answers<'_> {
        match self {
            Self::Host(rows) => Answers::Host(rows),
            Self::Device(rows) => Answers::Device(rows),
        }
    }
}

impl<'a> Answers<'a> {
    /// The rows on a device, if the answers go there.
    pub(crate) fn destination(&self) -> Option<&'a DeviceRows> {
        match self {
            Self::Host(_) => None,
            Self::Device(rows) => Some(rows),
        }
    }

    /// The rows of `count` answers on the host, which have `limbs` limbs on the device; `None` if the answers
    /// stay there.
    pub(crate) fn on_host(self, count: usize, limbs: usize) -> Option<AnswerRows<'a>> {
        match self {
            Self::Host(rows) => {
                let stride = rows.len() / count.max(1);
                Some(AnswerRows { rows, stride, limbs })
            }
            Self::Device(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::emulator::Faults;
    use crate::task::{Reads, Task};

    /// Kernels leave out digits of zero of an exponent that stands there once: a secret one does not.
    #[test]
    fn a_secret_exponent_of_all_items_is_copied_for_each() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let buffer = device.buffer(1024, Contents::Secret).unwrap();
        let exponent = Source::operand(Operand::Shared { bits: 70, value: &[5, 6] }).unwrap();
        for (reads, stride) in [(Reads::Whole, 0), (Reads::Vartime, 0), (Reads::Direct, 4)] {
            let task = Task::power(reads, 70, 4).unwrap();
            let source = Source { is_repeated: task.repeats_exponent(), ..exponent };
            assert_eq!(source.numbers(&buffer, 0, 7).stride, stride, "{reads:?}");
            let mut rows = vec![1; source.limbs(3)];
            source.gather((7..10).into(), &mut rows);
            assert!(rows.chunks(2).all(|row| row == [5, 6]) && rows.len() == if stride > 0 { 6 } else { 2 });
        }
    }
}
