//! Full products on GPUs: batches over all of them, and what they are expected to take.

use crate::backend::{Cuda, Run};
use crate::error::{Error, Result};
use crate::fft::{Length, LongModulus, Products};
use modmill_core::{Backend, Batch, Family, MAX_BITS, Op, Operand, Plan};

/// Bits of factors below which the CPU multiplies, unless transforms are asked for.
const LEAST_BITS: usize = 4096;

/// Seconds of a device for each point of a product's transforms, in large batches.
const POINT_SECONDS: f64 = 40e-12;

/// Bytes of factors and products that go between the caller and a device in a second, through one thread.
const COPY_RATE: f64 = 10e9;

/// Handing a batch to a device and getting it back.
const OVERHEAD_SECONDS: f64 = 200e-6;

impl Cuda {
    /// Full products `a b`, as wide as both factors together.
    pub fn mul(&self, a: Operand<'_>, b: Operand<'_>, count: usize) -> Result<Run> {
        self.products(&Products::new(a, Some(b)), &all(count))
    }

    /// Full squares `a^2`, twice as wide.
    pub fn square(&self, a: Operand<'_>, count: usize) -> Result<Run> {
        self.products(&Products::new(a, None), &all(count))
    }

    /// `a b mod N` for one long N, `a^2 mod N` if there is no b. Factors are not longer than N.
    pub fn mul_mod_long(
        &self,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        modulus: &LongModulus,
        items: &[usize],
    ) -> Result<Run> {
        self.products(&Products::new(a, b).modulo(modulus), items)
    }

    fn products(&self, products: &Products<'_>, items: &[usize]) -> Result<Run> {
        let mut answers = Batch::zeros(products.bits(), items.len());
        if self.stations.is_empty() {
            return Err(Error::NoDevice);
        }
        let kernel_seconds = self.share_out(items, &mut answers, |station, items, out| {
            products.run(&station.device, &*station.transforms()?, items, out)
        })?;
        Ok(Run { answers, kernel_seconds })
    }

    /// Whether an operation of this length goes by transforms here.
    pub(crate) fn is_by_transforms(&self, op: Op, bits: usize) -> bool {
        match op {
            Op::Mul | Op::Square => bits >= LEAST_BITS || self.settings.family == Some(Family::Fft),
            Op::MulMod | Op::SquareMod => bits > MAX_BITS,
            _ => false,
        }
    }

    /// About how many seconds a batch of products of numbers of `bits` bits takes; `None` if they are left to the
    /// CPU.
    pub(crate) fn product_seconds(&self, op: Op, bits: usize, count: usize) -> Option<f64> {
        if !self.is_by_transforms(op, bits) {
            return None;
        }
        let per_device = count.div_ceil(self.stations.len().max(1)) as f64;
        let length = Length::new(bits, bits, 1);
        // Of three transforms, a square needs two; reductions have four more. Numbers that are copied.
        let (transforms, copied) = match op {
            Op::Square => (0.7, 3.0),
            Op::SquareMod => (2.6, 2.0),
            Op::MulMod => (2.9, 3.0),
            _ => (1.0, 4.0),
        };
        let compute = transforms * length.shape.points() as f64 * POINT_SECONDS;
        let copy = copied * bits as f64 / 8.0 / COPY_RATE;
        // Chunks are copied while others are computed.
        Some(OVERHEAD_SECONDS + per_device * compute.max(copy))
    }

    pub(crate) fn product_plan(&self, op: Op, bits: usize, count: usize) -> Option<Plan> {
        let seconds = self.product_seconds(op, bits, count)?;
        let length = Length::new(bits, bits, 1);
        let reason = format!(
            "transforms of {} points of {} bits take about {:.2} ms, copies and all",
            length.shape.points(),
            length.digit_bits,
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
            window: None,
            reason,
        })
    }
}

fn all(count: usize) -> Vec<usize> {
    (0..count).collect()
}
