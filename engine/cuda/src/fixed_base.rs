//! Powers of one base modulo one number: a table on every device, and the batch that goes through the
//! pipeline.

use crate::backend::Cuda;
use crate::call::{Numbers, word};
use crate::device::{Contents, Stream};
use crate::error::{Error, Result};
use crate::family::rns::fixed::{FixedTable, FixedWork};
use crate::loaded::LoadedDevice;
use crate::modular::operands;
use crate::operands::{Destination, Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, Lane, Stages};
use crate::staging::{Answers, words};
use crate::task::Task;
use modmill_core::{Batch, Family, FixedPowers, Job, Moduli, Modulus, Op, Operand, Watch};

/// The window of tables that are made for GPUs: 64 entries for every 6 bits of an exponent. With one bit
/// more, shared memory holds half as many rows of entries; with one less, there is a fifth more products.
pub const FIXED_WINDOW: u32 = 6;

/// The table of a base on every device.
pub struct FixedBase {
    modulus: Modulus,
    /// One table for each device, in their order.
    tables: Vec<FixedTable>,
}

impl FixedBase {
    /// Length of the longest exponents, in bits.
    #[must_use]
    pub fn exponent_bits(&self) -> usize {
        self.tables.first().map_or(0, |table| (table.positions * table.window) as usize)
    }

    /// Whether the tables are on the devices of this backend.
    #[must_use]
    pub fn is_on(&self, cuda: &Cuda) -> bool {
        self.tables.len() == cuda.loaded().len()
            && self.tables.iter().zip(cuda.devices()).all(|(table, device)| table.is_on(device))
    }

    /// Bytes of the devices' memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(FixedTable::bytes).sum()
    }
}

impl Cuda {
    /// Estimated seconds for `count` powers of one base, without the time to make its table; `None` if there
    /// are no kernels for moduli of `bits` bits.
    pub(crate) fn fixed_base_seconds(&self, bits: usize, exponent_bits: usize, count: usize) -> Option<f64> {
        let choices = self.choices(Op::Pow, bits, self.items_per_device(count), exponent_bits);
        let power = choices.into_iter().find(|choice| choice.variant.family == Family::Rns)?;
        // A power by windows of four bits has five products for every four bits of its exponent, and those of
        // its table. The estimate adds a third for choosing entries.
        let products = exponent_bits.div_ceil(FIXED_WINDOW as usize) as f64;
        Some(power.seconds * 4.0 / 3.0 * products / (1.25 * exponent_bits as f64 + 16.0))
    }

    /// Makes the table of a base from its powers: row `j 2^window + d` of `powers` is `base^(d 2^(window j))`
    /// modulo an odd `modulus`, as wide as the modulus. `None` if there are no kernels for moduli of this
    /// length, or for this one.
    pub fn fixed_base(&self, powers: &Batch, window: u32, modulus: &Modulus) -> Result<Option<FixedBase>> {
        let call = |reason: String| Error::Call { call: "Cuda::fixed_base", reason };
        if window == 0 || window > 8 || powers.is_empty() || !powers.len().is_multiple_of(1 << window) {
            return Err(call(format!("{} rows are no table of windows of {window} bits", powers.len())));
        }
        if powers.stride() != modulus.value().len() {
            return Err(call("the powers are not as wide as the modulus".to_owned()));
        }
        let choices = self.choices(Op::Pow, modulus.bits(), 1 << 16, modulus.bits());
        let variant = choices.into_iter().map(|choice| choice.variant).find(|v| v.family == Family::Rns);
        let Some(variant) = variant else { return Ok(None) };
        let make = |loaded: &LoadedDevice| {
            let residues = loaded.kernels(variant)?.conversions()?;
            FixedTable::new(&loaded.device, residues, modulus.value(), powers.as_limbs(), window)
        };
        let tables = self.loaded().iter().map(make).collect::<Result<Option<Vec<_>>>>()?;
        Ok(tables.map(|tables| FixedBase { modulus: modulus.clone(), tables }))
    }

    /// Powers of a fixed base by its tables; returns the kernels' seconds. Time and addresses depend on
    /// declared widths alone. Answers that stay on a device are computed by that device.
    pub(crate) fn pow_fixed_base(
        &self,
        base: &FixedBase,
        powers: &FixedPowers<'_>,
        answers: Answers<'_>,
    ) -> Result<f64> {
        let job = self.fixed_job(base, powers.exponents, powers.watch)?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        let home = self.home(&[], None, answers.destination())?;
        self.share_items(job.items, home, answers, |loaded, items, answers| {
            let table =
                base.tables.iter().find(|table| table.is_on(&loaded.device)).ok_or(Error::NoDevice)?;
            self.run_fixed(loaded, table, &job.part(items), answers)
        })
    }

    /// The job of all exponents, which are on the host.
    fn fixed_job<'a>(
        &self,
        base: &'a FixedBase,
        exponents: Operand<'a>,
        watch: Option<&'a Watch>,
    ) -> Result<Job<'a>> {
        let call = |reason: String| Error::Call { call: "Cuda::run", reason };
        if exponents.bits() > base.exponent_bits() {
            let (bits, limit) = (exponents.bits(), base.exponent_bits());
            return Err(Error::TooLong { what: "an exponent", bits, limit });
        }
        let (Operand::Each(view), true) = (exponents, base.is_on(self)) else {
            return Err(call(
                "one exponent for each item in the host's memory, and a table for each device".to_owned(),
            ));
        };
        let nothing = Operand::Shared { bits: 0, value: &[] };
        let moduli = Moduli::Shared(&base.modulus);
        Ok(Job::new(0..view.len(), base.modulus.bits(), nothing, exponents, moduli).watched_by(watch))
    }

    /// Computes a job on one device.
    fn run_fixed(
        &self,
        loaded: &LoadedDevice,
        table: &FixedTable,
        job: &Job<'_>,
        answers: Answers<'_>,
    ) -> Result<f64> {
        let count = job.items.len();
        let size = table.wave().min(count);
        let sizes = ChunkSizes { size, edge: size, multiple: 1 };
        let operands = operands(TASK, job)?;
        let destination = Destination { rows: answers.destination(), limbs: job.bits.div_ceil(64) };
        let answers = answers.on_host(count, destination.limbs);
        let mut exchange = OperandExchange::new(operands, answers, Flags::None);
        let make = |rows| {
            let work = table.work(&loaded.device, rows)?;
            Ok(FixedStages { backend: self, table, work, operands, destination })
        };
        let lane = Lane { watch: job.watch, ..self.lane(loaded, Contents::Secret) };
        pipeline::run(lane, count, sizes, make, &mut exchange)
    }
}

/// The task that lays out the operands of a job. Products, unlike squares, have second operands, where the
/// exponents are.
const TASK: Task = Task::Multiply;

/// The device's side: a table, and work buffers for chunks of some size.
struct FixedStages<'a> {
    backend: &'a Cuda,
    table: &'a FixedTable,
    work: FixedWork,
    operands: Operands<'a, 3>,
    destination: Destination<'a>,
}

impl Stages for FixedStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        self.destination.footprint(&self.operands, rows)
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        self.backend.record(Family::Rns, "one base".to_owned(), Some(self.table.window));
        let [_, exponents, modulus] = self.operands.numbers(chunk);
        let count = word(chunk.rows)?;
        let place = self.destination.place(chunk);
        let words = words(self.destination.limbs);
        let results = Numbers { address: place.address(), stride: words, length: words };
        let mut used = self.operands.buffers(chunk);
        used.push(place.buffer);
        self.table.launch(compute, &self.work, exponents, modulus, count, results, &used)
    }
}
