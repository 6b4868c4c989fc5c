//! The tables of a fixed base on GPUs.

use super::FixedBase;
use crate::Engine;
use crate::gpu::FIXED_WINDOW;
use modmill_core::{Batch, Error, Op, Operand, Request, Resident};
use std::sync::OnceLock;

/// Items of a call that is worth a table on the GPUs, which takes as long to make as some ten thousand powers
/// by the CPU.
const LEAST_ITEMS: usize = 1 << 13;

/// The tables of a base on the GPUs of one engine, made for the first call that is worth them. `None` if the
/// GPUs have no kernels for the modulus, or failed.
#[derive(Default)]
pub(super) struct GpuTables(OnceLock<Option<crate::gpu::FixedBase>>);

impl GpuTables {
    /// Bytes of the GPUs' memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.get().and_then(Option::as_ref).map_or(0, crate::gpu::FixedBase::bytes)
    }
}

impl Engine {
    /// The table of a base on this engine's GPUs, if they compute `count` powers sooner than the CPU, which
    /// takes `cpu_seconds`.
    pub(super) fn gpu_table<'f>(
        &self,
        fixed: &'f FixedBase,
        tables: &modmill_cpu::FixedBase,
        count: usize,
        cpu_seconds: f64,
    ) -> Result<Option<&'f crate::gpu::FixedBase>, Error> {
        let (bits, exponent_bits) = (fixed.modulus.bits(), fixed.exponent_bits);
        let seconds = |cuda: &crate::gpu::Cuda| cuda.fixed_base_seconds(bits, exponent_bits, count);
        // An engine that was asked for GPUs computes few items by them too.
        let cpu_seconds = if count < LEAST_ITEMS { 0.0 } else { cpu_seconds };
        let Some(cuda) = self.backends().gpus_for_seconds(seconds, cpu_seconds) else { return Ok(None) };
        if exponent_bits == 0 || count == 0 {
            return Ok(None);
        }
        let table = match fixed.gpus.0.get() {
            Some(table) => table,
            None => {
                let powers = self.cpu().pow_fixed_base(
                    tables,
                    Operand::from(&digits(exponent_bits)?),
                    entries(exponent_bits),
                    None,
                )?;
                let made = cuda.fixed_base(&powers, FIXED_WINDOW, &fixed.modulus);
                let made = self.backends().or_fault(|| "the table of a fixed base".to_owned(), made)?;
                fixed.gpus.0.get_or_init(|| made.flatten())
            }
        };
        // Another engine may have made it on other devices.
        Ok(table.as_ref().filter(|table| table.is_on(cuda)))
    }

    /// Powers by the GPUs' table; `None` if they failed and the CPU may finish.
    pub(super) fn fixed_powers_on_gpus(
        &self,
        fixed: &FixedBase,
        table: &crate::gpu::FixedBase,
        exponents: Operand<'_>,
        count: usize,
    ) -> Result<Option<Batch>, Error> {
        let Some(cuda) = self.cuda() else { return Ok(None) };
        let mut answers = Batch::try_zeros(fixed.modulus.bits(), count)?;
        let run = cuda.pow_fixed_base(table, exponents, self.watch(), answers.as_limbs_mut());
        let request = Request::new(Op::Pow, fixed.modulus.bits(), count);
        self.backends().outcome(&request, run.map(|seconds| (answers, seconds)))
    }

    /// Powers by the GPUs' table that stay on a device; `None` if GPUs failed and the CPU may finish.
    pub(super) fn fixed_powers_resident(
        &self,
        fixed: &FixedBase,
        table: &crate::gpu::FixedBase,
        exponents: Operand<'_>,
        count: usize,
    ) -> Result<Option<Resident>, Error> {
        let Some(cuda) = self.cuda() else { return Ok(None) };
        let request = Request::new(Op::Pow, fixed.modulus.bits(), count).resident_answers();
        match cuda.pow_fixed_base_resident(table, exponents, self.watch()) {
            // The answers would not fit if the host computed them either.
            Err(error @ crate::gpu::Error::OutOfMemory { .. }) => Err(error.into()),
            run => self.backends().outcome(&request, run),
        }
    }
}

/// The number of the table's entries for exponents of `exponent_bits` bits.
fn entries(exponent_bits: usize) -> usize {
    exponent_bits.div_ceil(FIXED_WINDOW as usize) << FIXED_WINDOW
}

/// The exponents of the table's entries: digit d at position j of windows is `d 2^(window j)`. Bits beyond
/// the longest exponent are cut off: no exponent has a digit that reaches there.
fn digits(exponent_bits: usize) -> Result<Batch, Error> {
    let window = FIXED_WINDOW as usize;
    let mut exponents = Batch::try_zeros(exponent_bits, entries(exponent_bits))?;
    for entry in 0..exponents.len() {
        let (digit, start) = ((entry % (1 << window)) as u64, (entry >> window) * window);
        let row = exponents.get_mut(entry);
        for bit in (0..window).filter(|bit| digit >> bit & 1 == 1 && start + bit < exponent_bits) {
            row[(start + bit) / 64] |= 1 << ((start + bit) % 64);
        }
    }
    Ok(exponents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_has_its_exponent() {
        let exponents = digits(70).unwrap();
        assert_eq!(exponents.len(), 12 * 64);
        assert_eq!(exponents.get(5), [5, 0]);
        assert_eq!(exponents.get(64 + 63), [63 << 6, 0]);
        assert_eq!(exponents.get(10 * 64 + 0b11_0101), [0b0101 << 60, 0b11]);
        // Of the last digit only four bits are below 70.
        assert_eq!(exponents.get(11 * 64 + 63), [0, 0b1111 << 2]);
    }
}
