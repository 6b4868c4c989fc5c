//! Modular jobs of several callers as one job.

use super::{CALL_LIMBS, JOINED_LIMBS};
use modmill_core::{Batch, Job, Moduli, Modulus, Op, Operand};
use std::ops::Range;
use std::sync::Arc;

/// The properties that jobs share if they can be computed as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct JobShape {
    op: Op,
    /// Limbs of the longest modulus.
    limbs: usize,
    /// Declared widths of the operands.
    a_bits: usize,
    b_bits: usize,
    /// The public exponent of all items. Secret exponents are never compared.
    exponent: Option<Vec<u64>>,
}

impl JobShape {
    /// The shape of a job; `None` if the job is not joined with others, because it is long or empty, or
    /// because some of its numbers are on a device.
    pub(crate) fn of(op: Op, job: &Job<'_>) -> Option<Self> {
        let (a_bits, b_bits) = (job.a.bits(), job.b.bits());
        let exponent = match (op, job.b) {
            (Op::PowVartime, Operand::Shared { .. }) => Some(job.b.limbs(0).to_vec()),
            (_, Operand::Shared { .. } | Operand::Each(_)) => None,
            (_, Operand::Resident(_) | Operand::SharedResident(_)) => return None,
        };
        let has_resident_moduli = matches!(job.moduli, Moduli::Resident(_));
        if job.a.resident().is_some() || has_resident_moduli {
            return None;
        }
        let shape = Self { op, limbs: job.bits.div_ceil(64), a_bits, b_bits, exponent };
        let limbs = shape.limbs_of_an_item().saturating_mul(job.items.len());
        (1..=CALL_LIMBS).contains(&limbs).then_some(shape)
    }

    /// Items of one batch, about.
    pub(crate) fn most(&self) -> usize {
        JOINED_LIMBS / self.limbs_of_an_item().max(1)
    }

    fn limbs_of_an_item(&self) -> usize {
        self.a_bits.div_ceil(64) + self.b_bits.div_ceil(64) + self.limbs
    }
}

/// A copy of the operands of a job. Batches clear their memory.
pub(crate) struct JobPart {
    count: usize,
    bits: usize,
    shortest_bits: usize,
    a: Batch,
    /// `None` for squares, and where the shape has the exponent.
    b: Option<Batch>,
    moduli: PartModuli,
}

enum PartModuli {
    One(Modulus),
    Each(Batch),
}

/// The answers of one caller among those of all.
pub(crate) struct JobAnswer {
    all: Arc<Batch>,
    own: Range<usize>,
}

impl JobPart {
    /// Copies the operands of a job of this shape.
    pub(crate) fn copy(shape: &JobShape, job: &Job<'_>) -> Self {
        let rows = |bits, number: &dyn Fn(usize) -> _| rows(bits, job, number);
        let has_b = shape.op != Op::SquareMod && shape.exponent.is_none();
        Self {
            count: job.items.len(),
            bits: job.bits,
            shortest_bits: job.shortest_bits,
            a: rows(shape.a_bits, &|item| job.a.limbs(item)),
            b: has_b.then(|| rows(shape.b_bits, &|item| job.b.limbs(item))),
            moduli: match job.moduli {
                Moduli::Shared(modulus) => PartModuli::One(modulus.clone()),
                Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => {
                    PartModuli::Each(rows(64 * shape.limbs, &|item| job.moduli.get(item)))
                }
            },
        }
    }

    /// All parts as one, in their order.
    pub(crate) fn join(shape: &JobShape, mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() < 2 {
            return parts.pop();
        }
        let (count, limbs) = (parts.iter().map(|part| part.count).sum(), shape.limbs);
        let bits = parts.iter().map(|part| part.bits).max()?;
        let shortest_bits = parts.iter().map(|part| part.shortest_bits).min()?;
        let one = match &parts[0].moduli {
            PartModuli::One(first) if parts.iter().all(|part| part.has(first)) => Some(first.clone()),
            PartModuli::One(_) | PartModuli::Each(_) => None,
        };
        let (mut a, mut b, mut moduli) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            a.push(part.a);
            b.extend(part.b);
            moduli.extend(one.is_none().then(|| part.moduli.rows(limbs, part.count)));
        }
        Some(Self {
            count,
            bits,
            shortest_bits,
            a: concatenated(shape.a_bits, count, &a),
            b: (!b.is_empty()).then(|| concatenated(shape.b_bits, count, &b)),
            moduli: one
                .map_or_else(|| PartModuli::Each(concatenated(64 * limbs, count, &moduli)), PartModuli::One),
        })
    }

    /// The numbers of items of each part, in the order of the parts.
    pub(crate) fn ranges(parts: &[Self]) -> Vec<Range<usize>> {
        let mut end = 0;
        let range = |part: &Self| {
            let start = end;
            end += part.count;
            start..end
        };
        parts.iter().map(range).collect()
    }

    /// The job.
    pub(crate) fn job<'a>(&'a self, shape: &'a JobShape) -> Job<'a> {
        let a = Operand::from(&self.a);
        let b = match (&self.b, &shape.exponent) {
            (Some(b), _) => Operand::from(b),
            (None, Some(exponent)) => Operand::Shared { bits: shape.b_bits, value: exponent },
            (None, None) => a,
        };
        let moduli = match &self.moduli {
            PartModuli::One(modulus) => Moduli::from(modulus),
            PartModuli::Each(rows) => Moduli::from(rows),
        };
        Job { shortest_bits: self.shortest_bits, ..Job::new(0..self.count, self.bits, a, b, moduli) }
    }

    fn has(&self, modulus: &Modulus) -> bool {
        matches!(&self.moduli, PartModuli::One(own) if own.is_clone_of(modulus))
    }
}

impl PartModuli {
    /// One row of `limbs` limbs for each of `count` items.
    fn rows(self, limbs: usize, count: usize) -> Batch {
        match self {
            Self::Each(rows) => rows,
            Self::One(modulus) => {
                let mut rows = Batch::zeros(64 * limbs, count);
                for item in 0..count {
                    rows.get_mut(item)[..modulus.value().len()].copy_from_slice(modulus.value());
                }
                rows
            }
        }
    }
}

impl JobAnswer {
    pub(crate) fn new(all: &Arc<Batch>, own: Range<usize>) -> Self {
        Self { all: all.clone(), own }
    }

    /// Writes the answers to the caller's rows of `stride` limbs.
    pub(crate) fn write(&self, stride: usize, answers: &mut [u64]) {
        for (row, item) in answers.chunks_mut(stride.max(1)).zip(self.own.clone()) {
            let answer = self.all.get(item);
            let common = answer.len().min(row.len());
            row[..common].copy_from_slice(&answer[..common]);
            row[common..].fill(0);
        }
    }
}

/// A batch of the numbers of a job's items.
fn rows<'a>(bits: usize, job: &Job<'a>, number: &dyn Fn(usize) -> &'a [u64]) -> Batch {
    let mut rows = Batch::zeros(bits, job.items.len());
    for (place, item) in job.items.iter().enumerate() {
        let (row, number) = (rows.get_mut(place), number(item));
        let common = number.len().min(row.len());
        row[..common].copy_from_slice(&number[..common]);
    }
    rows
}

/// The `count` items of batches of `bits` bits, one batch after the other.
fn concatenated(bits: usize, count: usize, batches: &[Batch]) -> Batch {
    let mut all = Batch::zeros(bits, count);
    let mut rest = all.as_limbs_mut();
    for batch in batches {
        let (own, behind) = rest.split_at_mut(batch.as_limbs().len());
        own.copy_from_slice(batch.as_limbs());
        rest = behind;
    }
    all
}
