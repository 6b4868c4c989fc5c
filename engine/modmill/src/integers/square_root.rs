//! Square roots, and squares.

use crate::Engine;
use crate::engine::check_huge_widths;
use crate::near::OnHost;
use crate::place::{Holds, Operation, Place, Second};
use modmill_core::{Answers, Batch, Error, Op, Operand, Request, limbs};

/// Square roots `floor(sqrt(a))`, in half as many bits as `a` has, rounded up. The time depends on the
/// declared width.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, integers};
///
/// let roots = integers::isqrt(&Engine::new()?, &Batch::from_hex(["ffff", "10000", "0"])?)?;
/// assert_eq!((roots.bits(), roots.as_limbs()), (10, &[255, 256, 0][..]));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn isqrt<'a, P: Place>(engine: &Engine<P>, a: impl Into<Operand<'a>>) -> Result<P::Numbers, Error> {
    P::answer(engine, &Roots { a: a.into(), remainders: None })
}

/// Square roots with remainders: `a = s^2 + r` with `0 <= r <= 2 s`. The remainders are one bit wider than
/// the roots. The time depends on the declared width.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, integers};
///
/// let (roots, rests) = integers::sqrt_rem(&Engine::new()?, &Batch::from_hex(["63", "64"])?)?;
/// assert_eq!((roots.as_limbs(), rests.as_limbs()), (&[9, 10][..], &[18, 0][..]));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn sqrt_rem<'a, P: Holds>(
    engine: &Engine<P>,
    a: impl Into<Operand<'a>>,
) -> Result<(P::Numbers, P::Numbers), Error> {
    let (a, second) = (a.into(), Second::default());
    Ok((P::answer(engine, &Roots { a, remainders: Some(&second) })?, P::answer(engine, &second)?))
}

/// Square roots.
struct Roots<'a> {
    a: Operand<'a>,
    remainders: Option<&'a Second>,
}

impl Operation for Roots<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        check_huge_widths(&[("a", self.a.bits())])?;
        let count = self.a.len().unwrap_or(1);
        answers.check(self.a.bits().div_ceil(2), count)?;
        let plan = engine.backends().plan_on_cpu(&Request::new(Op::Isqrt, self.a.bits(), count))?;
        if let Answers::Plan(slot) = answers {
            *slot = Some(plan);
            return Ok(());
        }
        let a = OnHost::of(self.a)?;
        let with_remainders = self.remainders.is_some();
        let [roots, rests] =
            engine.cpu().square_roots(&plan, a.operand(), with_remainders, engine.watch())?;
        if let Some(second) = self.remainders {
            second.keep(rests);
        }
        engine.backends().put(Ok(roots), answers)
    }
}

/// Whether each number is a square. The time depends on the numbers, so they must be public.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, integers};
///
/// let numbers = Batch::from_hex(["0", "1", "63", "64", "fffe0001"])?;
/// assert_eq!(integers::is_square(&Engine::new()?, &numbers)?, [true, true, false, true, true]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn is_square<'a>(engine: &Engine, a: impl Into<Operand<'a>>) -> Result<Vec<bool>, Error> {
    let a = OnHost::of(a.into())?;
    let a = a.operand();
    check_huge_widths(&[("a", a.bits())])?;
    let mut verdicts = engine.each_item(a.len().unwrap_or(1), |item| may_be_square(a.limbs(item)))?;
    let left: Vec<usize> = (0..verdicts.len()).filter(|&item| verdicts[item]).collect();
    let mut numbers = Batch::try_zeros(a.bits(), left.len())?;
    for (place, &item) in left.iter().enumerate() {
        numbers.get_mut(place)[..a.limbs(item).len()].copy_from_slice(a.limbs(item));
    }
    let (_, rests) = sqrt_rem(engine, &numbers)?;
    for (place, &item) in left.iter().enumerate() {
        verdicts[item] = limbs::bit_length(rests.get(place)) == 0;
    }
    Ok(verdicts)
}

/// The squares modulo a number, as bits.
const fn squares<const WORDS: usize>(modulus: usize) -> [u64; WORDS] {
    let mut found = [0; WORDS];
    let mut number = 0;
    while number < modulus {
        let square = number * number % modulus;
        found[square / 64] |= 1 << (square % 64);
        number += 1;
    }
    found
}

const MODULO_64: [u64; 1] = squares(64);
const MODULO_255: [u64; 4] = squares(255);
const MODULO_257: [u64; 5] = squares(257);
const MODULO_641: [u64; 11] = squares(641);

/// Whether a number is a square modulo 64 and modulo four divisors of `2^64 - 1`, as squares are and one in a
/// hundred of other numbers is.
fn may_be_square(number: &[u64]) -> bool {
    let is_in = |squares: &[u64], rest: u64| squares[(rest / 64) as usize] >> (rest % 64) & 1 == 1;
    let low = number.first().copied().unwrap_or(0);
    if !is_in(&MODULO_64, low % 64) {
        return false;
    }
    // 2^64 is 1 modulo 2^64 - 1: limbs are added up.
    let (sum, carries) = number.iter().fold((0u64, 0), |(sum, carries), &limb| {
        let (sum, carry) = sum.overflowing_add(limb);
        (sum, carries + u64::from(carry))
    });
    let modulo = |divisor: u64| (sum % divisor + carries) % divisor;
    is_in(&MODULO_255, modulo(255)) && is_in(&MODULO_257, modulo(257)) && is_in(&MODULO_641, modulo(641))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_may_be_squares_and_all_squares_may() {
        let numbers = (0..100_000u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let passed = numbers.clone().filter(|&number| may_be_square(&[number, !number, number >> 7])).count();
        assert!((800..1200).contains(&passed), "{passed}");
        for number in numbers {
            let square = u128::from(number) * u128::from(number);
            assert!(may_be_square(&[square as u64, (square >> 64) as u64]));
        }
    }
}
