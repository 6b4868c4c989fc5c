//! Reciprocals of long moduli on the device, by Newton's iteration from a few bits that come from the CPU.
//!
//! With `D = d / 2^n`, X of precision p stands for `x = X / 2^p`, at most `1 / D` and less by at most
//! `e = 1 - D x <= 4 / 2^p`. Then `x (2 - D x)` is not above `1 / D` either, and `1 - D x (2 - D x) = e^2`.
//! In numbers,
//!
//! ```text
//! t  = d X                                          at most 2^(n+p)
//! F  = (2^(n+p+1) - 1 - t) / 2^(n+p-f)              2 - D x, rounded down to f bits
//! X' = X F / 2^(p+f-r)                              rounded down, of precision r
//! ```
//!
//! where the first is a product, and the second inverts bits. With `f = r + 2` and `r <= 2p - 6` rounding
//! costs `1.3 / 2^r`, and `e^2` is below `1 / 2^(r+2)`: less than `2 / 2^r` in all. The last precision is n +
//! 8; without its last 8 bits, X is less than 1 + 1/64 below `2^2n / d`, and so a quotient by it at most 4
//! too small.

use super::barrett::{Divisors, Reduction, numbers};
use super::calls::ExtractCall;
use super::moduli::{SPARE, precisions};
use super::{Factor, Input, Length, Output, Work};
use crate::call::{Numbers, word};
use crate::device::Buffer;
use crate::error::Result;

impl Reduction {
    /// The moduli of a chunk: `divisors`, with the first bits of their reciprocals, in a buffer, unless there
    /// is one for all.
    pub(super) fn load<'a>(
        &'a self,
        work: &Work<'_>,
        divisors: Numbers,
        seeds: Numbers,
        inputs: &'a Buffer,
    ) -> Result<Divisors<'a>> {
        if let Some(own) = &self.own {
            return Ok(Divisors { words: numbers(own, 0, self.limbs, 0), buffer: own });
        }
        let Work { transforms, stream, length, items, .. } = *work;
        let buffers = [inputs];
        transforms.keep(stream, &self.wrapped, Input::plain(divisors, &buffers), items, &self.divisors)?;
        let reciprocals = reciprocals(self, work, divisors, seeds, inputs)?;
        let found = [reciprocals.buffer];
        let reciprocals = Input::plain(reciprocals.numbers(), &found);
        transforms.keep(stream, length, reciprocals, items, &self.reciprocals)?;
        Ok(Divisors { words: divisors, buffer: inputs })
    }
}

/// `floor(2^2n / d) - 2^n`, or one less, for moduli d of n bits, from their reciprocals of the first
/// precision. It takes the place of the estimates of quotients.
fn reciprocals<'a>(
    reduction: &'a Reduction,
    work: &Work<'_>,
    divisors: Numbers,
    seeds: Numbers,
    inputs: &Buffer,
) -> Result<Output<'a>> {
    let bits = reduction.bits;
    let (products, factors) = (&reduction.estimates, &reduction.multiples);
    let buffers = [inputs, &reduction.products, products, factors];
    let words = |bits: usize| word(bits.div_ceil(32));
    let multiply = |a: Numbers, b: Numbers, bits: usize| {
        let length = Length::new(32 * a.length as usize, 32 * b.length as usize, 1);
        assert!(length.bytes() <= work.length.bytes(), "shorter products have shorter transforms");
        let output = Output::all(products, words(bits)?);
        let work = Work { length: &length, ..*work };
        work.transforms.multiply(&work, Input::plain(a, &buffers), Factor::Numbers(b), output)?;
        Ok(output.numbers())
    };
    let mut x = seeds;
    let precisions = precisions(bits);
    for step in precisions.windows(2) {
        let (p, r) = (step[0], step[1]);
        let f = r + 2;
        let t = multiply(divisors, x, bits + p + 1)?;
        let factor = Output::all(factors, words(f + 1)?);
        extract(work, t, bits + p - f, f + 1, true, factor, &buffers)?;
        let product = multiply(x, factor.numbers(), p + f + 2)?;
        let next = Output::all(&reduction.products, words(r + 1)?);
        extract(work, product, p + f - r, r + 1, false, next, &buffers)?;
        x = next.numbers();
    }
    let reciprocal = Output::all(products, words(bits)?);
    extract(work, x, SPARE, bits, false, reciprocal, &buffers)?;
    Ok(reciprocal)
}

/// Bits `from` to `from + bits` of numbers, inverted if `flipped`.
fn extract(
    work: &Work<'_>,
    numbers: Numbers,
    from: usize,
    bits: usize,
    flipped: bool,
    to: Output<'_>,
    used: &[&Buffer],
) -> Result<()> {
    let call = ExtractCall {
        numbers,
        results: to.address(),
        result_stride: to.words,
        skipped: word(from / 32)?,
        offset: word(from % 32)?,
        flip: if flipped { u32::MAX } else { 0 },
        bits: bits as u64,
        count: word(to.words as usize * work.items)?,
    };
    work.transforms.extract(work.stream, &call, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_double_at_most() {
        for bits in (1_024..3_000).chain([32_768, 65_536, 786_432, 1 << 34]) {
            let precisions = precisions(bits);
            assert!(precisions[0].is_multiple_of(64) && precisions[0] <= bits, "{bits}");
            assert_eq!(precisions.last(), Some(&(bits + 8)));
            assert!(precisions.windows(2).all(|step| step[1] <= 2 * step[0] - 6), "{bits}");
        }
    }
}
