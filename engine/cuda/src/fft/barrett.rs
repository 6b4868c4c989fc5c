//! Reduction modulo long numbers, Barrett's (Algorithm 3.1 of the thesis, with the shift it
//! lacks), on the device.
//!
//! For d of n bits, `m = floor((2^2n - 1) / d) - 2^n`, and x below `2^2n` with upper half h:
//! `q = h + floor(h m / 2^n)` is at most 3 less than `floor(x / d)`: `h + h m / 2^n` is above
//! `h 2^n / d - 1`, of which less than one is cut off, and the lower half of x is below `2 d`. The digits of
//! both parts of q are added without carries, and multiplied by those of d: their transforms have room for
//! sums of two digits. Since `x - q d` is below `4 d` (`5 d` with reciprocals that were found on the device,
//! which may be one less, see `newton`), that product is wanted modulo `2^s - 1` only, for s of as many limbs
//! as d, by transforms of half the length.

use super::calls::RemainderCall;
use super::moduli::LongModuli;
use super::{Factor, Input, Kept, Length, Output, Transforms, Work};
use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::Result;
use crate::staging::words;

/// Constants and memory with which a device reduces chunks of some size.
pub(super) struct Reduction {
    pub(super) bits: usize,
    pub(super) limbs: usize,
    /// The length of transforms of products with moduli, which are found modulo `2^s - 1`.
    pub(super) wrapped: Length,
    /// The modulus, if there is one for all.
    pub(super) own: Option<Buffer>,
    /// Transforms of the moduli and of their reciprocals, as many as there are moduli.
    pub(super) divisors: Buffer,
    pub(super) reciprocals: Buffer,
    pub(super) products: Buffer,
    pub(super) estimates: Buffer,
    pub(super) multiples: Buffer,
}

/// The moduli of a chunk, or one for all of it.
#[derive(Clone, Copy)]
pub(super) struct Divisors<'a> {
    pub(super) words: Numbers,
    pub(super) buffer: &'a Buffer,
}

impl Reduction {
    pub(super) fn new(
        device: &Device,
        transforms: &Transforms,
        stream: &Stream,
        length: &Length,
        moduli: &LongModuli,
        size: usize,
    ) -> Result<Self> {
        let limbs = moduli.limbs();
        let wrapped = wrapped_length(limbs);
        let buffer = |bytes: usize| device.buffer(bytes, Contents::Secret);
        let count = if matches!(moduli, LongModuli::One(_)) { 1 } else { size };
        let mut reduction = Self {
            bits: moduli.bits(),
            limbs,
            wrapped,
            own: None,
            divisors: buffer(wrapped.bytes() * count)?,
            reciprocals: buffer(length.bytes() * count)?,
            products: buffer(16 * limbs * size)?,
            estimates: buffer(16 * limbs * size)?,
            multiples: buffer(4 * wrapped_words(&wrapped)? as usize * size)?,
        };
        if let LongModuli::One(modulus) = moduli {
            let keep = |length: &Length, number: &[u64], kept: &Buffer| {
                let words = device.upload(number, Contents::Secret)?;
                let buffers = [&words];
                let input = Input::plain(numbers(&words, 0, limbs, 0), &buffers);
                transforms.keep(stream, length, input, 1, kept)?;
                Ok(words)
            };
            keep(length, &modulus.reciprocal, &reduction.reciprocals)?;
            reduction.own = Some(keep(&wrapped, &modulus.divisor, &reduction.divisors)?);
        }
        Ok(reduction)
    }

    /// Words of its longest product.
    pub(super) fn words(&self) -> Result<u32> {
        Ok(word(4 * self.limbs)?.max(wrapped_words(&self.wrapped)?))
    }

    /// `a b mod N`.
    pub(super) fn multiply(
        &self,
        work: &Work<'_>,
        divisors: Divisors<'_>,
        a: Input<'_>,
        b: Factor<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let products = Output::all(&self.products, word(4 * self.limbs)?);
        work.transforms.multiply(work, a, b, products)?;
        self.reduce(work, divisors, Input::plain(products.numbers(), &[&self.products]), output)
    }

    /// `x mod N` for numbers of at most twice the bits of N.
    pub(super) fn reduce(
        &self,
        work: &Work<'_>,
        divisors: Divisors<'_>,
        x: Input<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let Work { transforms, stream, items, .. } = *work;
        let n = self.limbs;
        let moduli = if self.own.is_some() { 1 } else { items };
        // From bit `bits` on.
        let skipped = word(self.bits / 32)?;
        let upper = |numbers: Numbers| Numbers {
            address: numbers.address + 4 * u64::from(skipped.min(numbers.length)),
            length: numbers.length.saturating_sub(skipped),
            ..numbers
        };
        let mut buffers = x.buffers.to_vec();
        buffers.push(&self.estimates);
        let mut halves = Input { offset: word(self.bits % 32)?, ..Input::plain(upper(x.numbers), &buffers) };
        let estimates = Output::all(&self.estimates, word(4 * n)?);
        transforms.multiply(work, halves, Factor::Kept(Kept::all(&self.reciprocals, moduli)), estimates)?;
        halves.addends = upper(estimates.numbers());
        let multiples = Output::all(&self.multiples, wrapped_words(&self.wrapped)?);
        let shorter = Work { length: &self.wrapped, ..*work };
        transforms.multiply(&shorter, halves, Factor::Kept(Kept::all(&self.divisors, moduli)), multiples)?;
        let call = RemainderCall {
            x: x.numbers,
            y: multiples.numbers(),
            divisor: divisors.words,
            halves: halves.numbers,
            estimates: halves.addends,
            results: output.address(),
            result_stride: output.words,
            length: word(2 * n)?,
            wrap: word(self.wrapped.wrapped_bits() / 32)?,
            offset: halves.offset,
        };
        buffers.extend([&self.multiples, divisors.buffer, output.buffer]);
        transforms.remainder(stream, items, &call, &buffers)
    }
}

/// The transforms of products with moduli of `limbs` limbs.
fn wrapped_length(limbs: usize) -> Length {
    Length::wrapped(64 * limbs, 2)
}

/// Words of their results: coefficients go beyond the last digit by less than two words.
fn wrapped_words(length: &Length) -> Result<u32> {
    word(length.wrapped_bits() / 32 + 2)
}

/// Numbers of `limbs` limbs from limb `start` on, `stride` limbs apart.
pub(super) fn numbers(buffer: &Buffer, start: usize, limbs: usize, stride: usize) -> Numbers {
    let address = buffer.address() + 8 * start as u64;
    Numbers { address, stride: words(stride), length: words(limbs) }
}
