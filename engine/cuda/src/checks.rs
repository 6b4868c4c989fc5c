//! Checks of what callers hand over, before a device sees it: kernels do not check their memory accesses.

use crate::error::{Error, Result};
use crate::variant::Variant;
use modmill_core::{Items, Job, Operand, TRANSFORM_MAX_BITS};

/// The longest exponents: kernels count their bits in a word.
const MAX_EXPONENT_BITS: u32 = 1 << 31;

/// Bits of an exponent, if kernels count so far.
pub(crate) fn check_exponent(bits: usize) -> Result<u32> {
    let too_long = Error::TooLong { what: "an exponent", bits, limit: MAX_EXPONENT_BITS as usize };
    u32::try_from(bits).ok().filter(|&bits| bits <= MAX_EXPONENT_BITS).ok_or(too_long)
}

/// Every item of a job has its operands.
pub(crate) fn check_operands(job: &Job<'_>) -> Result<()> {
    check_items(job.items, &[job.a.len(), job.b.len(), job.moduli.len()])?;
    check_lengths(&[job.a, job.b])
}

/// The variant has room for the moduli.
pub(crate) fn check_variant(variant: Variant, job: &Job<'_>) -> Result<()> {
    if job.moduli.bits() == 0 || !variant.serves(job.bits) {
        let Variant { family, words, .. } = variant;
        let name = format!("for moduli of {} bits by {family} of {} bits", job.bits, 32 * u64::from(words));
        return Err(Error::NoKernel { name });
    }
    Ok(())
}

/// Every item is one that all operands have.
pub(crate) fn check_items(items: Items<'_>, lens: &[Option<usize>]) -> Result<()> {
    let Some(count) = lens.iter().flatten().copied().min() else { return Ok(()) };
    match items.last().filter(|&item| item >= count) {
        Some(item) => Err(Error::Item { item, reason: format!("an operand has only {count} items") }),
        None => Ok(()),
    }
}

/// The items stand in order: numbers on a device are read so.
pub(crate) fn check_in_order(items: Items<'_>) -> Result<()> {
    match items {
        Items::Range { .. } => Ok(()),
        Items::List(_) => {
            let reason = "numbers on a device are computed in their order".to_owned();
            Err(Error::Item { item: items.last().unwrap_or(0), reason })
        }
    }
}

/// There are as many rows as items, each as wide as an answer of `bits` bits.
pub(crate) fn check_rows(answers: &[u64], bits: usize, count: usize) -> Result<()> {
    let (bytes, end) = (8 * answers.len(), 8 * count * bits.div_ceil(64));
    if bytes == end { Ok(()) } else { Err(Error::OutOfRange { start: 0, end, bytes }) }
}

/// No operand is longer than numbers may be.
pub(crate) fn check_lengths(operands: &[Operand<'_>]) -> Result<()> {
    match operands.iter().map(Operand::bits).find(|&bits| bits > TRANSFORM_MAX_BITS) {
        Some(bits) => Err(Error::TooLong { what: "an operand", bits, limit: TRANSFORM_MAX_BITS }),
        None => Ok(()),
    }
}
