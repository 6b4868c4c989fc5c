//! Products of several powers.

use crate::Engine;
use crate::call::Call;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::modular::Modular;
use crate::on_host::OnHost;
use crate::place::Place;
use crate::sort::lengths_of_all;
use modmill_core::{
    Batch, Error, ExponentList, ItemError, Job, KERNEL_MAX_BITS, Moduli, Op, Operand, Request,
};
use modmill_cpu::Powers;

impl<P: Place> Engine<P> {
    /// Products of powers: item i is the product of `bases[k][i]^exponents[k][i]` over all k, modulo the
    /// modulus of item i. Constant-time in bases and exponents, as [`Engine::pow`] is.
    ///
    /// All powers of an item share their squarings. Without powers the answers are 1 modulo the moduli.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (g, h) = (Batch::from_hex(["3"])?, Batch::from_hex(["5"])?);
    /// let (a, b) = (Batch::from_hex(["1", "2"])?, Batch::from_hex(["4", "0"])?);
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let products = Engine::new()?.multi_pow(
    ///     &[g.shared(0), h.shared(0)],
    ///     &[(&a).into(), (&b).into()],
    ///     &modulus,
    /// )?;
    /// assert_eq!(products.as_limbs(), [3 * 625, 9]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn multi_pow<'a>(
        &self,
        bases: &'a [Operand<'a>],
        exponents: impl Into<ExponentList<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        let ExponentList { operands, secrecy } = exponents.into();
        P::answer(self, &Call::MultiPow(Modular::power(secrecy), bases, operands, moduli.into()))
    }
}

impl Engine {
    pub(crate) fn multiply_powers(
        &self,
        operation: Modular,
        bases: &[Operand<'_>],
        exponents: &[Operand<'_>],
        moduli: Moduli<'_>,
    ) -> Result<Batch, Error> {
        if bases.len() != exponents.len() {
            let what = "the list of exponents";
            return Err(Error::LengthMismatch { what, expected: bases.len(), found: exponents.len() });
        }
        let named = |what: &'static str, operands: &[Operand<'_>]| {
            operands.iter().map(|operand| (what, operand.len(), operand.bits())).collect::<Vec<_>>()
        };
        let mut all = named("bases", bases);
        all.extend(named("exponents", exponents));
        all.push(("moduli", moduli.len(), moduli.bits()));
        let count = common_length(&all.iter().map(|&(what, len, _)| (what, len)).collect::<Vec<_>>())?;
        check_huge_widths(&all.iter().map(|&(what, _, bits)| (what, bits)).collect::<Vec<_>>())?;
        match self.interleaved(operation, bases, exponents, moduli, count)? {
            Some(answers) => Ok(answers),
            None => self.separately(operation, bases, exponents, moduli, count),
        }
    }

    /// The products by interleaved windows on the CPU; `None` if there is no such way, or if GPUs are sooner
    /// with one power after the other.
    fn interleaved(
        &self,
        operation: Modular,
        bases: &[Operand<'_>],
        exponents: &[Operand<'_>],
        moduli: Moduli<'_>,
        count: usize,
    ) -> Result<Option<Batch>, Error> {
        let lengths = lengths_of_all(self.cpu(), moduli, count);
        let Some(lengths) = lengths.filter(|lengths| lengths.longest <= KERNEL_MAX_BITS && count > 0) else {
            return Ok(None);
        };
        let op = if operation == Modular::PowerVartime { Op::PowVartime } else { Op::Pow };
        if self.cuda().is_some() {
            let bits = exponents.iter().map(Operand::bits).max().unwrap_or(0);
            let mut request = Request::new(op, lengths.longest, count).exponents_of(bits);
            if let Moduli::Shared(_) = moduli {
                request = request.one_modulus();
            }
            // A fifth of a power is products with table entries, and the powers share the rest.
            let share = (4 + bases.len()) as f64 / 5.0;
            let seconds = self.cpu().plan(&request).map_or(0.0, |plan| share * plan.seconds);
            if self.backends().prefers_gpus(&request, bases.len(), seconds) {
                return Ok(None);
            }
        }
        let (bases, exponents) = (on_host(bases)?, on_host(exponents)?);
        let bases: Vec<Operand<'_>> = bases.iter().map(OnHost::operand).collect();
        let exponents: Vec<Operand<'_>> = exponents.iter().map(OnHost::operand).collect();
        let (Some(&a), Some(&b)) = (bases.first(), exponents.first()) else { return Ok(None) };
        let job = Job::new(0..count, lengths.longest, a, b, moduli.on_host());
        let job = Job { shortest_bits: lengths.shortest, ..job };
        self.cpu().multi_pow(op, &job, &Powers { bases: &bases, exponents: &exponents })
    }

    /// The products of powers that are computed one after the other.
    fn separately(
        &self,
        operation: Modular,
        bases: &[Operand<'_>],
        exponents: &[Operand<'_>],
        moduli: Moduli<'_>,
        count: usize,
    ) -> Result<Batch, Error> {
        let mut product: Option<(Batch, Vec<ItemError>)> = None;
        for (&base, &exponent) in bases.iter().zip(exponents) {
            let power = with_failed(self.modular(operation, base, exponent, moduli))?;
            product = Some(match product {
                None => power,
                Some((product, _)) => {
                    let factors = [&product, &power.0].map(|factor| for_all(factor, count));
                    with_failed(self.modular(Modular::Multiply, factors[0], factors[1], moduli))?
                }
            });
        }
        match product {
            Some((answers, failed)) => finish(answers, failed),
            None => {
                let one = Operand::Shared { bits: 1, value: &[1] };
                self.modular(Modular::Multiply, one, one, moduli)
            }
        }
    }
}

/// Operands with their numbers on the host.
fn on_host<'a>(operands: &[Operand<'a>]) -> Result<Vec<OnHost<'a>>, Error> {
    operands.iter().map(|&operand| OnHost::of(operand)).collect()
}

/// The factors of a product of `count` items. A power of shared numbers is one number for all items.
fn for_all(factor: &Batch, count: usize) -> Operand<'_> {
    if factor.len() == count { factor.into() } else { factor.shared(0) }
}

/// The answers of a call with its failed items.
fn with_failed(answers: Result<Batch, Error>) -> Result<(Batch, Vec<ItemError>), Error> {
    match answers {
        Ok(answers) => Ok((answers, Vec::new())),
        Err(Error::Items(partial)) => Ok((partial.answers, partial.failed)),
        Err(other) => Err(other),
    }
}
