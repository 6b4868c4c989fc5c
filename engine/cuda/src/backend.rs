//! The backend: its devices, what a caller may fix, and batches shared out among the devices.

use crate::checks::check_in_order;
use crate::device::{Chip, Contents, Device, Limits, prefer_large_pages};
use crate::driver::Gpus;
use crate::error::{Error, Result};
use crate::fft::Reciprocals;
use crate::loaded::LoadedDevice;
use crate::patience::Patience;
use crate::pipeline::Lane;
use crate::residue_matrix::SectionSizes;
use crate::staging::Answers;
use crate::table::Table;
use crate::task::{Reads, Task};
use crate::variant::Variant;
use crate::workers::Workers;
use modmill_core::sync::Mutex;
use modmill_core::{Backend, Batch, Execution, Family, Items, Path, Recorder};
use std::ops::Range;
use std::sync::Arc;

/// The families that have kernels for GPUs.
pub const FAMILIES: [Family; 6] =
    [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns, Family::Fft];

/// The choices that a caller may fix; everything else is chosen by measured times.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The only family of algorithms to use.
    pub family: Option<Family>,
    /// The layout to use at the sizes that it exists for, whatever was measured.
    pub variant: Option<Variant>,
    /// Whether the addresses of table reads may depend on secret exponents. The instructions are the same for
    /// every key; the addresses are not.
    pub direct_tables: bool,
    /// The times that plans are made by. By default those that `modmill tune` measured on this device;
    /// without these, the times that were measured on an H200, or that follow from the rates of another
    /// device.
    pub table: Option<Table>,
    /// Whether GPUs were asked for: the table of a fixed base is then made for a few powers too.
    pub asked_for: bool,
    /// How much of a matrix in residues is on its way to a device at a time.
    pub sections: SectionSizes,
}

/// GPUs, and the kernels they have loaded.
pub struct Cuda {
    devices: Vec<LoadedDevice>,
    pub(crate) settings: Settings,
    table: Table,
    warnings: Vec<String>,
    workers: Workers,
    pub(crate) patience: Patience,
    pub(crate) reciprocals: Option<Arc<dyn Reciprocals>>,
    recorder: Option<Arc<Recorder>>,
}

/// Answers, and how long the devices computed.
#[derive(Debug)]
pub struct Run {
    /// The answers, in the order of the job's items.
    pub answers: Batch,
    /// Seconds in kernels, without copies; of the slowest device.
    pub kernel_seconds: f64,
}

impl Run {
    /// Computes `count` answers of `bits` bits by `compute`, which returns the seconds in kernels.
    pub(crate) fn new(
        bits: usize,
        count: usize,
        compute: impl FnOnce(&mut [u64]) -> Result<f64>,
    ) -> Result<Self> {
        let mut answers = new_batch(bits, count)?;
        let kernel_seconds = compute(answers.as_limbs_mut())?;
        Ok(Self { answers, kernel_seconds })
    }
}

/// A batch for answers.
pub(crate) fn new_batch(bits: usize, count: usize) -> Result<Batch> {
    let mut answers = Batch::try_zeros(bits, count)
        .map_err(|_| Error::OutOfMemory { wanted: count.saturating_mul(bits.div_ceil(8)) })?;
    prefer_large_pages(answers.as_limbs_mut());
    Ok(answers)
}

impl Cuda {
    /// The GPUs of this machine, or those that `MODMILL_CUDA_DEVICES` names.
    pub fn open(mut settings: Settings) -> Result<Self> {
        let Gpus { devices, failed } = Device::from_environment()?;
        let mut warnings: Vec<String> = failed.iter().map(Error::to_string).collect();
        if let (None, Some(device)) = (&settings.table, devices.first()) {
            match Table::tuned(&device.properties().name) {
                Ok(table) => settings.table = table,
                Err(warning) => warnings.push(warning),
            }
        }
        Ok(Self { warnings, ..Self::on(devices, settings) })
    }

    /// [`Cuda::on`] for a list that may be empty, which is [`Error::NoDevice`].
    pub fn try_on(devices: Vec<Device>, settings: Settings) -> Result<Self> {
        if devices.is_empty() { Err(Error::NoDevice) } else { Ok(Self::on(devices, settings)) }
    }

    /// A backend on these devices.
    #[must_use]
    pub fn on(devices: Vec<Device>, settings: Settings) -> Self {
        let table = settings.table.clone().unwrap_or_else(|| match devices.first() {
            Some(device) => Table::for_device(&device.properties().name, device.limits()),
            None => Table::shipped(),
        });
        Self {
            devices: devices.into_iter().map(LoadedDevice::new).collect(),
            settings,
            table,
            warnings: Vec::new(),
            workers: Workers::default(),
            patience: Patience::default(),
            reciprocals: None,
            recorder: None,
        }
    }

    /// This backend with threads of the host for what the host computes; by default rayon's own. It makes
    /// others that move numbers.
    #[must_use]
    pub fn moved_by(self, pool: Arc<rayon::ThreadPool>) -> Self {
        Self { workers: Workers::new(pool), ..self }
    }

    /// This backend with a way to find reciprocals, which transforms need to reduce modulo long numbers.
    #[must_use]
    pub fn divided_by(self, reciprocals: Arc<dyn Reciprocals>) -> Self {
        Self { reciprocals: Some(reciprocals), ..self }
    }

    /// This backend with a recorder, which is told what is executed.
    #[must_use]
    pub fn recorded_by(self, recorder: Arc<Recorder>) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().map(|loaded| &loaded.device)
    }

    /// The devices with their kernels.
    pub(crate) fn loaded(&self) -> &[LoadedDevice] {
        &self.devices
    }

    /// The limits that all devices keep.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let all = self.devices().map(|device| *device.limits());
        all.reduce(|common, limits| common.common(&limits)).unwrap_or_else(|| Chip::H200.limits())
    }

    /// The times that plans are made by.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The faults that stopped nothing: GPUs, measurements or a cache that cannot be used.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.devices().flat_map(Device::warnings));
        warnings.dedup();
        warnings
    }

    /// The families it chooses among.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        match self.settings.family {
            Some(family) => vec![family],
            None => FAMILIES.to_vec(),
        }
    }

    /// Numbers of which the first device computes powers at once by a variant.
    pub fn wave(&self, variant: Variant) -> Result<usize> {
        let loaded = self.devices.first().ok_or(Error::NoDevice)?;
        let power = Task::Power { reads: Reads::Whole, exponent_bits: 1, window: 1 };
        Ok(loaded.kernels(variant)?.of(&power, false)?.wave())
    }

    /// Items that each device gets of `count` items.
    pub(crate) fn items_per_device(&self, count: usize) -> usize {
        count.div_ceil(self.devices.len().max(1))
    }

    /// The items of each device.
    pub(crate) fn shares(&self, count: usize) -> Vec<Range<usize>> {
        crate::pipeline::parts(0..count, self.items_per_device(count)).collect()
    }

    /// A device's way through the pipeline.
    pub(crate) fn lane<'a>(&'a self, loaded: &'a LoadedDevice, contents: Contents) -> Lane<'a> {
        Lane { device: &loaded.device, workers: &self.workers, contents, watch: None }
    }

    /// The host's threads.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Runs `work`, which computes, on the host's threads.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.workers.compute(work)
    }

    /// Has every device compute its share at the same time; returns the most seconds of a device.
    pub(crate) fn share_out<Share: Send>(
        &self,
        shares: impl IntoIterator<Item = Share>,
        work: impl Fn(&LoadedDevice, Share) -> Result<f64> + Sync,
    ) -> Result<f64> {
        if self.devices.is_empty() {
            return Err(Error::NoDevice);
        }
        let parts: Vec<(&LoadedDevice, Share)> = self.devices.iter().zip(shares).collect();
        let results = Mutex::new(Vec::with_capacity(parts.len()));
        let add = |(loaded, share): (&LoadedDevice, Share)| {
            let result = work(loaded, share);
            results.lock().push(result);
        };
        let mut parts = parts.into_iter();
        let own = parts.next();
        // A worker thread must not block in waiting for others: they may need it to move their numbers.
        if rayon::current_thread_index().is_some() {
            rayon::scope(|scope| {
                parts.for_each(|part| scope.spawn(|_| add(part)));
                own.into_iter().for_each(&add);
            });
        } else {
            std::thread::scope(|scope| {
                let others: Vec<_> = parts.map(|part| scope.spawn(|| add(part))).collect();
                own.into_iter().for_each(&add);
                // A thread that panicked has left no result.
                for _ in others.into_iter().filter_map(|other| other.join().err()) {
                    let lost = Err(Error::Lost { reason: "its thread ended early".to_owned() });
                    results.lock().push(lost);
                }
            });
        }
        let results = results.into_inner();
        results.into_iter().try_fold(0.0, |slowest, seconds| Ok(f64::max(slowest, seconds?)))
    }

    /// Computes items on the device `home`, which holds numbers of theirs; without one, every device computes
    /// its share. Returns the most seconds of a device.
    pub(crate) fn share_items(
        &self,
        items: Items<'_>,
        home: Option<&LoadedDevice>,
        answers: Answers<'_>,
        compute: impl Fn(&LoadedDevice, Items<'_>, Answers<'_>) -> Result<f64> + Sync,
    ) -> Result<f64> {
        let answers = match (home, answers) {
            (None, Answers::Host(answers)) => answers,
            (home, answers) => {
                check_in_order(items)?;
                return compute(home.ok_or(Error::NoDevice)?, items, answers);
            }
        };
        let stride = answers.len() / items.len();
        let share = self.items_per_device(items.len());
        let shares = items.chunks(share).zip(answers.chunks_mut((share * stride).max(1)));
        self.share_out(shares, |loaded, (items, answers)| compute(loaded, items, Answers::Host(answers)))
    }

    /// Tells the recorder, if there is one, what is executed.
    pub(crate) fn record(&self, family: Family, variant: String, window: Option<u32>) {
        if let Some(recorder) = &self.recorder {
            let path = Path { backend: Backend::Cuda, isa: None, family };
            recorder.add(Execution { path, variant, window });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::emulator::Faults;

    /// The thread of a device that ends early is an error of the call, and no panic.
    #[test]
    fn a_thread_that_ends_early_is_a_lost_device() {
        let device = || Device::emulator_with(Faults::default(), Cache::off());
        let cuda = Cuda::on(vec![device(), device()], Settings::default());
        assert_eq!(cuda.share_out([1.0, 2.0], |_, seconds| Ok(seconds)), Ok(2.0));
        let ended =
            cuda.share_out([1, 2], |_, share| if share == 2 { panic!("ended early") } else { Ok(0.5) });
        assert!(matches!(ended, Err(Error::Lost { .. })), "{ended:?}");
    }
}
