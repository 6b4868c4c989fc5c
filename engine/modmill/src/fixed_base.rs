//! Powers of one base by many exponents.

mod on_gpus;

use crate::Engine;
use crate::call::Call;
use crate::engine::check_huge_widths;
use crate::modular::Modular;
use crate::on_host::OnHost;
use crate::place::Place;
use crate::sort::is_for_kernels;
use modmill_core::{Batch, Error, Exponent, Modulus, Op, Operand, Request, Resident, Watch, limbs};
use on_gpus::GpuTables;
use std::fmt;

/// One base and one modulus, prepared for powers by many exponents ([`Engine::fixed_base`]).
///
/// It may be shared by threads and engines. Engines compute with the instruction set of the engine that made
/// it. Its memory is zeroized on drop.
pub struct FixedBase {
    base: Batch,
    modulus: Modulus,
    exponent_bits: usize,
    /// `None` where there are no tables: powers take the way of [`Engine::pow`].
    tables: Option<modmill_cpu::FixedBase>,
    gpus: GpuTables,
}

/// How a call is computed.
enum Way<'f> {
    /// As any power, without tables.
    Plain,
    /// By the CPU's tables.
    Cpu(&'f modmill_cpu::FixedBase),
    /// By tables of the GPUs; the CPU's are for what GPUs could not do.
    Gpus(&'f crate::gpu::FixedBase, &'f modmill_cpu::FixedBase),
}

// Threads share a fixed base.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<FixedBase>();
};

impl FixedBase {
    /// The modulus.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The greatest length of an exponent in bits.
    #[must_use]
    pub fn exponent_bits(&self) -> usize {
        self.exponent_bits
    }

    /// Bytes of the tables that have been made so far, in the memory of the host and of GPUs.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tables.as_ref().map_or(0, modmill_cpu::FixedBase::bytes) + self.gpus.bytes()
    }
}

impl fmt::Debug for FixedBase {
    /// Shows the shape and never the base, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bits, exponent_bits) = (self.modulus.bits(), self.exponent_bits);
        write!(f, "FixedBase({bits} bits, exponents of {exponent_bits} bits)")
    }
}

impl<P: Place> Engine<P> {
    /// Powers of a fixed base, constant-time in the base and in the exponents.
    ///
    /// The declared width of the exponents must not be greater than [`FixedBase::exponent_bits`], whatever
    /// their values: [`Error::TooLong`] otherwise. A smaller width takes less time.
    pub fn pow_fixed_base<'a>(
        &self,
        fixed: &'a FixedBase,
        exponents: impl Into<Exponent<'a>>,
    ) -> Result<P::Numbers, Error> {
        let exponents = exponents.into();
        P::answer(self, &Call::FixedBase(Modular::power(exponents.secrecy), fixed, exponents.numbers))
    }
}

impl Engine {
    /// Prepares `base`, which is one number, for powers modulo one number by exponents of at most
    /// `exponent_bits` bits.
    ///
    /// A table of powers takes the place of all squarings, so that a power costs a product for every few bits
    /// of its exponent. The tables are made by the first calls that need them, and take at most 64 MiB each:
    /// one for [`Engine::pow_fixed_base`], one for [`Engine::pow_fixed_base_vartime`]. GPUs have a table of
    /// their own, for large batches.
    ///
    /// There are no tables for an even modulus, for one longer than
    /// [`KERNEL_MAX_BITS`](crate::KERNEL_MAX_BITS), and where 64 MiB are not enough for the least table.
    /// Powers then take the time of [`Engine::pow`].
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let fixed = engine.fixed_base(&Batch::from_hex(["3"])?, &modulus, 16)?;
    /// let powers = engine.pow_fixed_base(&fixed, &Batch::from_hex(["0000", "0001", "0014"])?)?;
    /// assert_eq!(powers.as_limbs(), [1, 3, 3_486_784_401]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn fixed_base<'a>(
        &self,
        base: impl Into<Operand<'a>>,
        modulus: &Modulus,
        exponent_bits: usize,
    ) -> Result<FixedBase, Error> {
        let base = OnHost::of(base.into())?;
        let base = base.operand();
        if let Some(found) = base.len().filter(|&found| found != 1) {
            return Err(Error::LengthMismatch { what: "the base", expected: 1, found });
        }
        check_huge_widths(&[("the base", base.bits()), ("an exponent", exponent_bits)])?;
        let mut one = Batch::try_zeros(base.bits(), 1)?;
        let value = base.get(0);
        one.get_mut(0)[..value.len()].copy_from_slice(value);
        let tables = match is_for_kernels(modulus) {
            true => self.cpu().fixed_base(one.shared(0), modulus, exponent_bits),
            false => None,
        };
        let gpus = GpuTables::default();
        Ok(FixedBase { base: one, modulus: modulus.clone(), exponent_bits, tables, gpus })
    }

    pub(crate) fn fixed_powers(
        &self,
        operation: Modular,
        fixed: &FixedBase,
        exponents: Operand<'_>,
    ) -> Result<Batch, Error> {
        let way = self.way(operation, fixed, exponents)?;
        let (Way::Cpu(tables) | Way::Gpus(_, tables)) = way else {
            return self.modular(operation, fixed.base.shared(0), exponents, (&fixed.modulus).into());
        };
        let exponents = OnHost::of(exponents)?;
        let (exponents, count) = (exponents.operand(), exponents.operand().len().unwrap_or(1));
        if let Way::Gpus(gpus, _) = way
            && let Some(answers) = self.fixed_powers_on_gpus(fixed, gpus, exponents, count)?
        {
            return Ok(answers);
        }
        let watch = self.watch();
        let answers = match operation {
            Modular::PowerVartime => self.cpu().pow_fixed_base_vartime(tables, exponents, count, watch)?,
            _ => self.cpu().pow_fixed_base(tables, exponents, count, watch)?,
        };
        match watch.is_some_and(Watch::is_stopped) {
            true => Err(Error::Interrupted),
            false => Ok(answers),
        }
    }

    pub(crate) fn fixed_powers_kept(
        &self,
        operation: Modular,
        fixed: &FixedBase,
        exponents: Operand<'_>,
    ) -> Result<Resident, Error> {
        match self.way(operation, fixed, exponents)? {
            Way::Gpus(gpus, _) => {
                let on_host = OnHost::of(exponents)?;
                let count = on_host.operand().len().unwrap_or(1);
                match self.fixed_powers_resident(fixed, gpus, on_host.operand(), count)? {
                    Some(answers) => Ok(answers),
                    None => self.upload_answers(self.fixed_powers(operation, fixed, exponents)?),
                }
            }
            Way::Cpu(_) => self.upload_answers(self.fixed_powers(operation, fixed, exponents)?),
            Way::Plain => {
                let base = fixed.base.shared(0);
                self.modular_resident(operation, base, exponents, (&fixed.modulus).into())
            }
        }
    }

    /// Checks the exponents of a call and chooses its way.
    fn way<'f>(
        &self,
        operation: Modular,
        fixed: &'f FixedBase,
        exponents: Operand<'_>,
    ) -> Result<Way<'f>, Error> {
        let (bits, limit) = (exponents.bits(), fixed.exponent_bits);
        let mut op = Op::Pow;
        if operation == Modular::PowerVartime {
            op = Op::PowVartime;
            if bits > limit {
                check_lengths(OnHost::of(exponents)?.operand(), limit)?;
            }
        } else if bits > limit {
            return Err(Error::TooLong { what: "the declared width of the exponents", bits, limit });
        }
        let count = exponents.len().unwrap_or(1);
        let request = Request::new(op, fixed.modulus.bits(), count).one_modulus().exponents_of(bits);
        let Some(tables) = &fixed.tables else { return Ok(Way::Plain) };
        let seconds = self.cpu().fixed_base_seconds(tables, bits, count);
        // Public exponents may be declared wider than they are, which the GPUs' tables do not take.
        if !exponents.is_shared()
            && bits <= limit
            && let Some(gpus) = self.gpu_table(fixed, tables, count, seconds)?
        {
            return Ok(Way::Gpus(gpus, tables));
        }
        Ok(if self.backends().prefers_gpus(&request, 1, seconds) { Way::Plain } else { Way::Cpu(tables) })
    }
}

/// No exponent is longer than `limit` bits.
fn check_lengths(exponents: Operand<'_>, limit: usize) -> Result<(), Error> {
    let count = exponents.len().unwrap_or(1);
    match (0..count).find(|&item| limbs::bit_length(exponents.get(item)) > limit) {
        Some(index) => Err(Error::DoesNotFit { index, bits: limit }),
        None => Ok(()),
    }
}
