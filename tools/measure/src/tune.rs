//! Tuning: measures a GPU, and makes the table that engines choose by.

mod findings;
mod kernels;
mod report;
mod transforms;

use crate::error::Error;
use crate::progress::Progress;
use findings::Findings;
use kernels::KernelTuner;
use modmill::{Backend, Engine, Family};
use modmill_cuda::{Cuda, FAMILIES, Layout, Settings, Table};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;
use transforms::TransformTuner;

/// The settings of a tuning.
#[derive(Debug, Clone)]
pub struct Tune {
    /// Bits of moduli and exponents at which kernels are measured.
    pub bits: Vec<usize>,
    /// The families to measure. With [`Family::Fft`], products by transforms are measured too.
    pub families: Vec<Family>,
    /// Bits of factors at which transforms are measured.
    pub transform_bits: Vec<usize>,
    /// The time for each length, besides compiling.
    pub time: Duration,
    /// The file of the table; `None` means the place where engines look for it.
    pub out: Option<PathBuf>,
}

/// A finished tuning.
pub struct Tuned {
    device: String,
    out: PathBuf,
    findings: Findings,
    table: Table,
}

/// The families that GPUs have.
#[must_use]
pub fn families() -> Vec<Family> {
    FAMILIES.into_iter().chain([Family::Fft]).collect()
}

impl Tune {
    /// Measures the first GPU, and writes the table after each length. Its entries for other lengths stay.
    pub fn run(&self, progress: &dyn Progress) -> Result<Tuned, Error> {
        let all = Cuda::open(Settings::default())?;
        let device = all.devices().next().cloned();
        let device = device.ok_or_else(|| Error::Unsupported("there is no GPU".to_owned()))?;
        let name = device.properties().name.clone();
        let out = self.place(&name)?;
        let cpu = Engine::builder().backend(Backend::Cpu).build()?;
        let mut findings = Findings::default();
        let mut table = all.table().clone();
        // Each length is written at once, so that an interrupted tuning loses only the rest.
        let mut write = |findings: &Findings| {
            table = findings.merged_into(all.table(), &name);
            table.write(&out).map_err(|error| Error::Write { path: out.clone(), error })
        };

        let cuda = Cuda::on(vec![device.clone()], Settings::default());
        let kernels = KernelTuner { cuda: &cuda, cpu: &cpu };
        let families: Vec<Family> = self.kernel_families();
        for &bits in self.kernel_bits() {
            progress.measuring(format!("compiling for {bits} bits"));
            kernels.measure(bits, &families, self.time, &mut findings, |variant| {
                let Layout { threads, block, .. } = variant.layout;
                progress.measuring(format!("{bits} bits: {}, {threads} of {block} threads", variant.family));
            })?;
            write(&findings)?;
            progress.point_done();
        }
        if self.has_transforms() {
            let transforms = TransformTuner::new(device, &cpu)?;
            for &bits in &self.transform_bits {
                transforms.measure(bits, self.time, &mut findings, |op| {
                    progress.measuring(format!("{bits} bits: {op} by transforms"));
                })?;
                write(&findings)?;
                progress.point_done();
            }
        }
        Ok(Tuned { device: name, out, findings, table })
    }

    /// The number of lengths that are measured.
    #[must_use]
    pub fn lengths(&self) -> usize {
        let transforms = if self.has_transforms() { self.transform_bits.len() } else { 0 };
        self.kernel_bits().len() + transforms
    }

    fn has_transforms(&self) -> bool {
        self.families.contains(&Family::Fft)
    }

    fn kernel_families(&self) -> Vec<Family> {
        self.families.iter().copied().filter(|family| FAMILIES.contains(family)).collect()
    }

    /// The lengths at which kernels are measured. There are none if transforms are the only algorithm.
    fn kernel_bits(&self) -> &[usize] {
        if self.kernel_families().is_empty() { &[] } else { &self.bits }
    }

    /// The file to write. A missing folder is found before minutes of measuring.
    fn place(&self, device: &str) -> Result<PathBuf, Error> {
        let out = self.out.clone().or_else(|| Table::place(device)).ok_or_else(|| {
            Error::Unsupported("there is no folder for the table; name a file with --out".to_owned())
        })?;
        match out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => {
                Err(Error::Write { path: out.clone(), error: io::Error::from(ErrorKind::NotFound) })
            }
            _ => Ok(out),
        }
    }
}

impl Tuned {
    /// An error if an answer was wrong or if nothing could be measured.
    pub fn check(&self) -> Result<(), Error> {
        let Findings { timings, transforms, wrong, .. } = &self.findings;
        match (wrong, timings.is_empty() && transforms.is_empty()) {
            (true, _) => Err(Error::WrongAnswer("some answers were wrong".to_owned())),
            (false, true) => Err(Error::WrongAnswer("nothing could be measured".to_owned())),
            (false, false) => Ok(()),
        }
    }
}
