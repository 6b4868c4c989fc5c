//! The tables of a fixed base on GPUs.

use crate::Engine;
use crate::gpu::FIXED_WINDOW;
use modmill_core::{Batch, Call, Error, FixedPowers, Request, Secrecy};
use std::sync::OnceLock;

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
    /// The table of a base on this engine's GPUs. `powers` has the CPU's tables, which make the entries.
    pub(super) fn gpu_table<'f>(
        &self,
        cuda: &crate::gpu::Cuda,
        powers: &FixedPowers<'_>,
        tables: &'f GpuTables,
    ) -> Result<Option<&'f crate::gpu::FixedBase>, Error> {
        let table = match tables.0.get() {
            Some(table) => table,
            None => {
                let exponents = digits(powers.prepared_bits)?;
                let secrecy = Secrecy::Secret;
                let entries = FixedPowers { exponents: (&exponents).into(), secrecy, watch: None, ..*powers };
                let plan = self.backends().plan_on_cpu(&Request::of_fixed(&entries))?;
                let entries = self.cpu().run(&plan, Call::FixedPow(&entries))?;
                let made = cuda.fixed_base(&entries, FIXED_WINDOW, powers.modulus);
                let made = self.backends().or_fault(|| "the table of a fixed base".to_owned(), made)?;
                tables.0.get_or_init(|| made.flatten())
            }
        };
        // Another engine may have made it on other devices.
        Ok(table.as_ref().filter(|table| table.is_on(cuda)))
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
