//! The backend: the devices, what a caller fixed, and what it has.

use crate::device::{Chip, Device, Limits};
use crate::driver::Gpus;
use crate::error::{Error, Result};
use crate::station::Station;
use crate::table::Table;
use crate::variant::Variant;
use modmill_core::{Batch, Family, Op};

/// The families that there are kernels for.
pub const FAMILIES: [Family; 6] =
    [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns, Family::Fft];

/// What a caller may fix; the rest is chosen by measurement.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Use this family of algorithms.
    pub family: Option<Family>,
    /// Use this variant for the sizes it is for, whatever was measured.
    pub variant: Option<Variant>,
    /// Let addresses of table reads depend on secret exponents. The instructions are the same for every
    /// key all the same; what is read is not.
    pub direct_tables: bool,
    /// What was measured on this machine. By default, what was measured on an H200 or is estimated from the device's
    /// rates.
    pub table: Option<Table>,
}

/// GPUs, and the kernels they have loaded.
pub struct Cuda {
    pub(crate) stations: Vec<Station>,
    pub(crate) settings: Settings,
    table: Table,
    warnings: Vec<String>,
}

/// Answers, and how long the devices computed.
#[derive(Debug)]
pub struct Run {
    /// The answers, in the order of the job's items.
    pub answers: Batch,
    /// Seconds in kernels, without copies; of the slowest device.
    pub kernel_seconds: f64,
}

impl Cuda {
    /// The GPUs of this machine, or those that `MODMILL_CUDA_DEVICES` names; `emulator` there is the
    /// emulated device. What was measured on the first of them is used if it is where `modmill tune`
    /// leaves it.
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

    /// These devices.
    #[must_use]
    pub fn on(devices: Vec<Device>, settings: Settings) -> Self {
        let table = settings.table.clone().unwrap_or_else(|| match devices.first() {
            Some(device) => Table::for_device(&device.properties().name, device.limits()),
            None => Table::shipped(),
        });
        let stations = devices.into_iter().map(Station::new).collect();
        Self { stations, settings, table, warnings: Vec::new() }
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.stations.iter().map(|station| &station.device)
    }

    /// The limits that all devices keep.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let all = self.devices().map(|device| *device.limits());
        all.reduce(|common, limits| common.common(&limits)).unwrap_or_else(|| Chip::H200.limits())
    }

    /// What it chooses by.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What went wrong without stopping anything: GPUs, measurements or a cache that cannot be used.
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

    /// Whether it has an operation: those that are made of modular products, and full products by transforms.
    #[must_use]
    pub fn has(&self, op: Op) -> bool {
        match op {
            Op::Mul | Op::Square => self.settings.family.is_none_or(|family| family == Family::Fft),
            Op::Pow | Op::PowVartime | Op::MulMod | Op::SquareMod => true,
            _ => false,
        }
    }
}
