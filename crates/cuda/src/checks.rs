//! What callers hand over, looked at before a device sees it: memory of a device is not checked while kernels run.

use crate::error::{Error, Result};
use crate::fft::LongModuli;
use crate::variant::Variant;
use modmill_core::{HUGE_BITS, Job, Operand};

/// The longest exponents: bits of them are counted in a word.
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

/// Every item has its operands, of a length that transforms have.
pub(crate) fn check_long_items(items: &[usize], operands: &[Operand<'_>]) -> Result<()> {
    let lens: Vec<Option<usize>> = operands.iter().map(Operand::len).collect();
    check_items(items, &lens)?;
    check_lengths(operands)
}

/// Every item has a modulus, all of them have the same bits, and factors at most twice as many.
pub(crate) fn check_long_moduli(
    items: &[usize],
    moduli: LongModuli<'_>,
    factors: &[Operand<'_>],
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let bits = moduli.bits();
    let wrong = |item: usize, reason: String| Err(Error::Item { item, reason });
    if let LongModuli::Each(each) = moduli {
        for &item in items {
            match each.get(&item).map(|modulus| modulus.bits()) {
                None => return wrong(item, "there is no modulus for it".to_owned()),
                Some(own) if own != bits => {
                    return wrong(item, format!("its modulus has {own} bits, and others have {bits}"));
                }
                Some(_) => {}
            }
        }
    }
    if bits == 0 {
        return Err(Error::NoKernel { name: "for moduli that are zero".to_owned() });
    }
    let limit = 2 * bits;
    match factors.iter().map(Operand::bits).find(|&bits| bits > limit) {
        Some(bits) => Err(Error::TooLong { what: "a factor or base", bits, limit }),
        None => Ok(()),
    }
}

fn check_items(items: &[usize], lens: &[Option<usize>]) -> Result<()> {
    let Some(count) = lens.iter().flatten().copied().min() else { return Ok(()) };
    match items.iter().find(|&&item| item >= count) {
        Some(&item) => Err(Error::Item { item, reason: format!("an operand has only {count} items") }),
        None => Ok(()),
    }
}

fn check_lengths(operands: &[Operand<'_>]) -> Result<()> {
    match operands.iter().map(Operand::bits).find(|&bits| bits > HUGE_BITS) {
        Some(bits) => Err(Error::TooLong { what: "an operand", bits, limit: HUGE_BITS }),
        None => Ok(()),
    }
}
