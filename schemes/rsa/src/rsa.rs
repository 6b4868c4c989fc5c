//! The entry point: RSA on an engine, and how its private operations are protected.

use crate::crt::Private;
use modmill::{Engine, Op, Plan, Request};

/// RSA operations on an [`Engine`].
///
/// The operations are [`Rsa::sign`], [`Rsa::verify`], [`Rsa::encrypt`] and [`Rsa::decrypt`], mixtures of them
/// ([`Rsa::private_tasks`], [`Rsa::public_tasks`]), and blind signatures ([`Rsa::blind`],
/// [`Rsa::blind_sign`], [`Rsa::finalize`]). Private operations run in constant time. Two options change how
/// they are protected:
///
/// ```
/// use modmill::{Engine, Op, Plan, Request};
/// use modmill_rsa::Rsa;
///
/// let engine = Engine::new()?;
/// let rsa = Rsa::new(&engine).blinding(true);
/// # let _ = rsa;
/// # Ok::<(), modmill::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Rsa<'a> {
    pub(crate) engine: &'a Engine,
    blinding: bool,
    blinded_direct_reads: bool,
}

impl<'a> Rsa<'a> {
    /// RSA on `engine`, with neither of the options below.
    #[must_use]
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine, blinding: false, blinded_direct_reads: false }
    }

    /// If `blinding` is true, every input of a private operation is multiplied by a random factor, so that
    /// nobody can choose the number that is raised to the private exponent. With one key for all items this
    /// takes about a tenth more time. With a key for each item it takes more.
    #[must_use]
    pub fn blinding(self, blinding: bool) -> Self {
        Self { blinding, ..self }
    }

    /// If `blinded_direct_reads` is true, a GPU reads only the entries of the window table that it needs. The
    /// addresses then depend on the exponent, so the exponent is blinded by a new random number for every
    /// call. This applies where one key serves all items. It is 8 % faster and hides less: SECURITY.md says
    /// what.
    ///
    /// If it is false, a GPU reads the whole table, and no address depends on a secret. A CPU always does
    /// that.
    #[must_use]
    pub fn blinded_direct_reads(self, blinded_direct_reads: bool) -> Self {
        Self { blinded_direct_reads, ..self }
    }

    /// The plan of `count` private operations with keys of `bits` bits by single operations of the engine. An
    /// operation is two powers of half the length, and takes two lanes of the plan of these powers.
    pub fn plan_private(&self, bits: usize, count: usize) -> Result<Plan, modmill::Error> {
        let plan = self.engine.plan(&Request::new(Op::Pow, bits.div_ceil(2), 2 * count).prepared_moduli())?;
        Ok(Plan { lanes: (plan.lanes / 2).max(1), ..plan })
    }

    pub(crate) fn private(&self) -> Private {
        Private { blinding: self.blinding, blinded_direct_reads: self.blinded_direct_reads }
    }
}
