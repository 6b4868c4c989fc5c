//! Powers of one base by many exponents.

mod on_gpus;

use crate::Engine;
use crate::engine::check_huge_widths;
use crate::modular::Modular;
use crate::near::OnHost;
use crate::place::{Operation, Place};
use crate::sort::is_for_kernels;
use modmill_core::{
    Answers, Backend, Batch, Call, Error, Exponent, FixedPowers, Modulus, Operand, Request, Secrecy, limbs,
};
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
        P::answer(self, &PowersOfOne { fixed, exponents: exponents.into() })
    }
}

impl Engine {
    /// Prepares `base`, which is one number, for powers modulo one number by exponents of at most
    /// `exponent_bits` bits.
    ///
    /// A table of powers takes the place of all squarings, so that a power costs a product for every few bits
    /// of its exponent. The tables are made by the first calls that need them, and take at most 64 MiB each:
    /// one for secret exponents, one for [`Public`](crate::Public) ones. GPUs have a table of their own, for
    /// large batches.
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
        let value = base.limbs(0);
        one.get_mut(0)[..value.len()].copy_from_slice(value);
        let tables = match is_for_kernels(modulus) {
            true => self.cpu().fixed_base(one.shared(0), modulus, exponent_bits),
            false => None,
        };
        let gpus = GpuTables::default();
        Ok(FixedBase { base: one, modulus: modulus.clone(), exponent_bits, tables, gpus })
    }
}

/// Powers of a fixed base.
struct PowersOfOne<'a> {
    fixed: &'a FixedBase,
    exponents: Exponent<'a>,
}

impl Operation for PowersOfOne<'_> {
    fn compute(&self, engine: &Engine, mut answers: Answers<'_>) -> Result<(), Error> {
        let &Self { fixed, exponents: Exponent { numbers: exponents, secrecy } } = self;
        let (bits, limit) = (exponents.bits(), fixed.exponent_bits);
        match secrecy {
            Secrecy::Public if bits > limit => check_lengths(OnHost::of(exponents)?.operand(), limit)?,
            Secrecy::Secret if bits > limit => {
                return Err(Error::TooLong { what: "the declared width of the exponents", bits, limit });
            }
            Secrecy::Public | Secrecy::Secret => {}
        }
        let (base, modulus) = (fixed.base.shared(0), &fixed.modulus);
        let plain = Modular::power(base, self.exponents, modulus.into());
        let Some(tables) = &fixed.tables else { return plain.compute(engine, answers) };
        answers.check(modulus.bits(), exponents.len().unwrap_or(1))?;
        let exponents = OnHost::of(exponents)?;
        let on_cpu = FixedPowers {
            base,
            modulus,
            exponents: exponents.operand(),
            secrecy,
            prepared_bits: limit,
            tables: Some(tables),
            watch: engine.watch(),
        };
        let backends = engine.backends();
        let mut request = Request::of_fixed(&on_cpu);
        if answers.is_device() {
            request = request.resident_answers();
        }
        let Some(plan) = backends.choose(&request) else { return plain.compute(engine, answers) };
        if let Answers::Plan(slot) = answers {
            *slot = Some(plan);
            return Ok(());
        }
        if let (Some(cuda), Backend::Cuda) = (&backends.cuda, plan.backend()) {
            if !cuda.reads_table(&plan) {
                return plain.compute(engine, answers);
            }
            if let Some(table) = engine.gpu_table(cuda, &on_cpu, &fixed.gpus)? {
                let call = FixedPowers { tables: Some(table), ..on_cpu };
                if backends.run_on_gpus(&plan, Call::FixedPow(&call), answers.reborrow())? {
                    return Ok(());
                }
            }
        }
        let plan = backends.plan_on_cpu(&request)?;
        backends.run_on_cpu(&plan, Call::FixedPow(&on_cpu), answers)
    }
}

/// No exponent is longer than `limit` bits.
fn check_lengths(exponents: Operand<'_>, limit: usize) -> Result<(), Error> {
    let count = exponents.len().unwrap_or(1);
    match (0..count).find(|&item| limbs::bit_length(exponents.limbs(item)) > limit) {
        Some(index) => Err(Error::DoesNotFit { index, bits: limit }),
        None => Ok(()),
    }
}
