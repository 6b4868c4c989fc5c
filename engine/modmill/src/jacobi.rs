//! Jacobi symbols.

use crate::Engine;
use crate::engine::common_length;
use crate::near::OnHost;
use crate::place::Ask;
use modmill_core::{Error, KERNEL_MAX_BITS, Moduli, Op, Operand, Plan, Request};
use modmill_cpu::out_of_memory::returned;

/// A Jacobi symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i8)]
pub enum Jacobi {
    /// The number is not a square modulo N.
    MinusOne = -1,
    /// The number shares a factor with N.
    Zero = 0,
    /// The number is a square modulo N if N is prime.
    One = 1,
}

impl From<Jacobi> for i8 {
    fn from(symbol: Jacobi) -> Self {
        symbol as Self
    }
}

impl Engine {
    /// The Jacobi symbols `(a / N)`; `None` where N is even or zero, because there is no symbol. Operands may
    /// have up to [`KERNEL_MAX_BITS`] bits. The time depends on the numbers, so they must be public.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Jacobi, Modulus};
    ///
    /// let numbers = Batch::from_hex(["2", "3", "e"])?;
    /// let symbols = Engine::new()?.jacobi(&numbers, &Modulus::from_hex("7")?)?;
    /// assert_eq!(symbols, [Some(Jacobi::One), Some(Jacobi::MinusOne), Some(Jacobi::Zero)]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn jacobi<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Vec<Option<Jacobi>>, Error> {
        let (a, moduli) = (OnHost::of(a.into())?, moduli.into().on_host());
        let plan = self.backends().plan_on_cpu(&request(a.operand(), moduli)?)?;
        let operands = (a.operand(), moduli);
        let found = returned(|| self.cpu().symbols(&plan, operands, plan.request.count, self.watch()))?;
        let typed = |symbol: i8| match symbol {
            1 => Jacobi::One,
            -1 => Jacobi::MinusOne,
            _ => Jacobi::Zero,
        };
        Ok(found.into_iter().map(|symbol| symbol.map(typed)).collect())
    }
}

impl Engine<Ask<'_>> {
    /// The plan of [`Engine::jacobi`].
    pub fn jacobi<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Plan, Error> {
        self.place.home.backends().plan_on_cpu(&request(a.into(), moduli.into())?)
    }
}

fn request(a: Operand<'_>, n: Moduli<'_>) -> Result<Request, Error> {
    let count = common_length(&[("a", a.len()), ("moduli", n.len())])?;
    for (what, bits) in [("a", a.bits()), ("a modulus", n.bits())] {
        if bits > KERNEL_MAX_BITS {
            return Err(Error::TooLong { what, bits, limit: KERNEL_MAX_BITS });
        }
    }
    Ok(Request::new(Op::Jacobi, a.bits().max(n.bits()), count))
}
