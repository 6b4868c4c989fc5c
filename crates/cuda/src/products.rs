//! Long numbers on GPUs: batches of products and powers over all of them, and what they are expected to take.

use crate::backend::{Cuda, Run};
use crate::checks::{check_exponent, check_long_items};
use crate::error::{Error, Result};
use crate::fft::{Exponents, Length, LongJob, LongModuli, LongTask, Reads, secret_window};
use crate::operations::best_shared_window_vartime;
use crate::table::direct_window;
use modmill_core::{Backend, Batch, Family, HUGE_BITS, MAX_BITS, Op, Operand, Plan, limbs};

/// Bits of factors below which the CPU multiplies, unless transforms are asked for.
const LEAST_BITS: usize = 4096;

/// Bits of moduli below which there are no transforms: a product would be lost in the shortest one.
const LEAST_MODULUS_BITS: usize = 1024;

/// Bits of moduli below which powers are always sooner by other families.
const LEAST_POWER_BITS: usize = 16_384;

/// Seconds of a device for each point of a product's transforms, in large batches.
const POINT_SECONDS: f64 = 40e-12;

/// Seconds that the kernels of a product modulo N take at least, one after the other.
const LEAST_PRODUCT_SECONDS: f64 = 90e-6;

/// Bytes of factors and products that go between the caller and a device in a second, through one thread.
const COPY_RATE: f64 = 10e9;

/// Handing a batch to a device and getting it back.
const OVERHEAD_SECONDS: f64 = 200e-6;

impl Cuda {
    /// Full products `a b`, as wide as both factors together.
    pub fn mul(&self, a: Operand<'_>, b: Operand<'_>, count: usize) -> Result<Run> {
        self.run_long(&LongJob::new(a, LongTask::Multiply(b)), &all(count))
    }

    /// Full squares `a^2`, twice as wide.
    pub fn square(&self, a: Operand<'_>, count: usize) -> Result<Run> {
        self.run_long(&LongJob::new(a, LongTask::Square), &all(count))
    }

    /// `a b mod N` for long N, `a^2 mod N` if there is no b. Factors have at most twice the bits of N.
    pub fn mul_mod_long(
        &self,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        moduli: LongModuli<'_>,
        items: &[usize],
    ) -> Result<Run> {
        let task = b.map_or(LongTask::Square, LongTask::Multiply);
        self.run_long(&LongJob::new(a, task).modulo(moduli), items)
    }

    /// `a^b mod N` for long N, with secret bases and exponents. Bases have at most twice the bits of N.
    pub fn pow_long(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        moduli: LongModuli<'_>,
        items: &[usize],
    ) -> Result<Run> {
        let reads = if self.settings.direct_tables { Reads::Direct } else { Reads::Whole };
        let window = secret_window(b.bits());
        let exponents = Exponents { operand: b, bits: b.bits(), window, reads, is_public: false };
        self.powers(a, exponents, moduli, items)
    }

    /// The same with public exponents.
    pub fn pow_long_vartime(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        moduli: LongModuli<'_>,
        items: &[usize],
    ) -> Result<Run> {
        check_long_items(items, &[a, b])?;
        let bits = items.iter().map(|&item| limbs::bit_length(b.get(item))).max().unwrap_or(0);
        let window = match b {
            Operand::Shared { value, .. } => best_shared_window_vartime(value),
            Operand::Each(_) => direct_window(bits),
        };
        let exponents = Exponents { operand: b, bits, window, reads: Reads::Direct, is_public: true };
        self.powers(a, exponents, moduli, items)
    }

    fn powers(
        &self,
        a: Operand<'_>,
        exponents: Exponents<'_>,
        moduli: LongModuli<'_>,
        items: &[usize],
    ) -> Result<Run> {
        check_exponent(exponents.bits)?;
        self.run_long(&LongJob::new(a, LongTask::Power(exponents)).modulo(moduli), items)
    }

    fn run_long(&self, job: &LongJob<'_>, items: &[usize]) -> Result<Run> {
        job.check(items)?;
        let mut answers = Batch::zeros(job.bits(), items.len());
        if answers.is_empty() || job.bits() == 0 {
            return Ok(Run { answers, kernel_seconds: 0.0 });
        }
        if self.stations.is_empty() {
            return Err(Error::NoDevice);
        }
        let stride = answers.stride();
        let kernel_seconds = self.share_out(items, &mut answers, |station, items, out| {
            job.run(&station.device, &*station.transforms()?, items, out, stride)
        })?;
        Ok(Run { answers, kernel_seconds })
    }

    /// Whether a batch goes by transforms here.
    #[must_use]
    pub fn is_by_transforms(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> bool {
        let forced = self.settings.family == Some(Family::Fft);
        match op {
            _ if bits > HUGE_BITS => false,
            Op::Mul | Op::Square => bits >= LEAST_BITS || forced,
            Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime => match self.settings.family {
                Some(_) => forced && bits >= LEAST_MODULUS_BITS,
                // Kernels of other families end at `MAX_BITS`.
                None if bits > MAX_BITS => true,
                None if bits < LEAST_POWER_BITS || matches!(op, Op::MulMod | Op::SquareMod) => false,
                None => {
                    let others = self.choose(op, bits, count, exponent_bits);
                    others.is_none_or(|choice| {
                        self.seconds_by_transforms(op, bits, count, exponent_bits) < choice.seconds
                    })
                }
            },
            _ => false,
        }
    }

    /// About how many seconds a batch of long numbers takes; `None` if they are not computed by transforms.
    pub(crate) fn long_seconds(
        &self,
        op: Op,
        bits: usize,
        count: usize,
        exponent_bits: usize,
    ) -> Option<f64> {
        self.is_by_transforms(op, bits, count, exponent_bits)
            .then(|| self.seconds_by_transforms(op, bits, count, exponent_bits))
    }

    fn seconds_by_transforms(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> f64 {
        let per_device = count.div_ceil(self.stations.len().max(1)) as f64;
        let length = long_length(op, bits);
        // Of three transforms, a square needs two; reductions have three more. Numbers that are copied.
        let (transforms, copied) = match op {
            Op::Square => (0.7, 3.0),
            // What is squared again and again stays in the cache if it is short.
            Op::Pow | Op::PowVartime if !length.has_long_rows() => (1.8, 2.0),
            Op::SquareMod | Op::Pow | Op::PowVartime => (2.6, 2.0),
            Op::MulMod => (2.9, 3.0),
            _ => (1.0, 4.0),
        };
        let compute = transforms * length.shape.points() as f64 * POINT_SECONDS;
        if let Op::Pow | Op::PowVartime = op {
            let window = secret_window(exponent_bits) as f64;
            let products = exponent_bits as f64 * (1.0 + 1.1 / window) + window.exp2();
            return OVERHEAD_SECONDS + products * (per_device * compute).max(LEAST_PRODUCT_SECONDS);
        }
        let copy = copied * bits as f64 / 8.0 / COPY_RATE;
        // Chunks are copied while others are computed.
        OVERHEAD_SECONDS + per_device * compute.max(copy)
    }

    pub(crate) fn long_plan(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<Plan> {
        let seconds = self.long_seconds(op, bits, count, exponent_bits)?;
        let length = long_length(op, bits);
        let reason = format!(
            "transforms of {} points of {} bits{} take about {:.2} ms, copies and all",
            length.shape.points(),
            length.digit_bits,
            if is_modular(op) { " and Barrett's reduction" } else { "" },
            1e3 * seconds
        );
        Some(Plan {
            op,
            bits,
            count,
            backend: Backend::Cuda,
            isa: None,
            family: Family::Fft,
            lanes: 1,
            threads: length.shape.points() / 16,
            window: match op {
                Op::Pow => Some(secret_window(exponent_bits)),
                Op::PowVartime => Some(direct_window(exponent_bits)),
                _ => None,
            },
            reason,
        })
    }
}

fn is_modular(op: Op) -> bool {
    !matches!(op, Op::Mul | Op::Square)
}

/// The transforms of an operation; those of reductions have room for sums of two digits.
fn long_length(op: Op, bits: usize) -> Length {
    Length::new(bits, bits, if is_modular(op) { 2 } else { 1 })
}

fn all(count: usize) -> Vec<usize> {
    (0..count).collect()
}
