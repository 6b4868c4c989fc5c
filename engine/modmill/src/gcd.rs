//! Greatest common divisors and cofactors as a batch.

use crate::Engine;
use crate::engine::{check_huge_widths, common_length};
use crate::near::OnHost;
use crate::place::{Operation, Place};
use modmill_core::{Answers, Batch, Call, Error, Operand};
use modmill_cpu::long::gcd::{Bezout, xgcd};

/// Greatest common divisors g with cofactors s and t of each item: `s a - t b = g`, or `t b - s a = g` if
/// `is_swapped`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xgcd {
    /// The divisors.
    pub gcd: Batch,
    /// The factors of a: at most half of `b / g`, unless one number divides the other.
    pub s: Batch,
    /// The factors of b: at most half of `a / g`, unless one number divides the other.
    pub t: Batch,
    /// Whether `s a` is subtracted from `t b`.
    pub is_swapped: Vec<bool>,
}

impl<P: Place> Engine<P> {
    /// `gcd(a, b)` in less than quadratic time. `gcd(0, 0)` is 0. The time depends on the numbers, so they
    /// must be public.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["30", "0"])?;
    /// let b = Batch::from_hex(["12", "5"])?;
    /// assert_eq!(Engine::new()?.gcd(&a, &b)?.as_limbs(), [6, 5]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn gcd<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<P::Numbers, Error> {
        P::answer(self, &Divisors { a: a.into(), b: b.into() })
    }
}

/// Greatest common divisors.
pub(crate) struct Divisors<'a> {
    pub(crate) a: Operand<'a>,
    pub(crate) b: Operand<'a>,
}

impl Operation for Divisors<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let count = checked(self.a, self.b)?;
        let bits = self.a.bits().max(self.b.bits());
        answers.check(bits, count)?;
        let (near, _) = engine.backends().near([self.a, self.b], None)?;
        let [a, b] = near.each_ref().map(OnHost::operand);
        let divisors = modmill_core::Divisors { a, b, count, watch: engine.watch() };
        engine.backends().compute(Call::Divisors(&divisors), answers)
    }
}

impl Engine {
    /// `gcd(a, b)` with cofactors. The time depends on the numbers, so they must be public.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let (a, b) = (Batch::from_values([[240u64]]), Batch::from_values([[46u64]]));
    /// let found = Engine::new()?.xgcd(&a, &b)?;
    /// let (s, t) = (found.s.get(0)[0] as i64, found.t.get(0)[0] as i64);
    /// let sign = if found.is_swapped[0] { -1 } else { 1 };
    /// assert_eq!(found.gcd.get(0), [2]);
    /// assert_eq!(sign * (s * 240 - t * 46), 2);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn xgcd<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Xgcd, Error> {
        let (a, b) = (OnHost::of(a.into())?, OnHost::of(b.into())?);
        let (a, b) = (a.operand(), b.operand());
        let count = checked(a, b)?;
        let multiplier = self.multiplier();
        let compute = |item: usize| xgcd(&multiplier, a.limbs(item), b.limbs(item));
        let found: Vec<Bezout> = self.each_item(count, compute)?;
        // A cofactor may be 1 where the other number has no bits.
        Ok(Xgcd {
            gcd: batch(a.bits().max(b.bits()), &found, |bezout| &bezout.gcd)?,
            s: batch(b.bits().max(1), &found, |bezout| &bezout.s)?,
            t: batch(a.bits().max(1), &found, |bezout| &bezout.t)?,
            is_swapped: found.iter().map(|bezout| bezout.is_swapped).collect(),
        })
    }
}

fn checked(a: Operand<'_>, b: Operand<'_>) -> Result<usize, Error> {
    check_huge_widths(&[("a", a.bits()), ("b", b.bits())])?;
    common_length(&[("a", a.len()), ("b", b.len())])
}

/// A batch of `bits` bits from numbers without leading zeros.
fn batch<T>(bits: usize, items: &[T], number: impl Fn(&T) -> &Vec<u64>) -> Result<Batch, Error> {
    let mut batch = Batch::try_zeros(bits, items.len())?;
    for (index, item) in items.iter().enumerate() {
        batch.get_mut(index)[..number(item).len()].copy_from_slice(number(item));
    }
    Ok(batch)
}
