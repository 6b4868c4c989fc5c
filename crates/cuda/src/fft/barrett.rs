//! Reduction modulo long numbers, Barrett's (Algorithm 3.1 of the thesis, with the shift it
//! lacks), on the device.
//!
//! For d of n bits, `m = floor((2^2n - 1) / d) - 2^n`, and x below `2^2n` with upper half h: `q = h + floor(h m / 2^n)`
//! is at most 3 less than `floor(x / d)`: `h + h m / 2^n` is above `h 2^n / d - 1`, of which less than one is cut
//! off, and the lower half of x is below `2 d`. The digits of both parts of q are added without carries, and
//! multiplied by those of d: their transforms have room for sums of two digits.

use super::calls::RemainderCall;
use super::{Chunk, Factor, Input, Length, Output, Transforms, small, upload};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::Result;
use crate::kernels::Numbers;
use modmill_core::limbs::bit_length;
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A long modulus, made ready for products modulo it.
#[derive(Debug)]
pub struct LongModulus {
    divisor: Zeroizing<Vec<u64>>,
    reciprocal: Zeroizing<Vec<u64>>,
    bits: usize,
}

impl LongModulus {
    /// From a modulus d of n bits and `floor((2^2n - 1) / d)`.
    ///
    /// # Panics
    /// If that is not of n + 1 bits.
    #[must_use]
    pub fn new(divisor: &[u64], reciprocal: &[u64]) -> Self {
        let bits = bit_length(divisor);
        assert_eq!(bit_length(reciprocal), bits + 1, "a reciprocal has one bit more than its divisor");
        let limbs = bits.div_ceil(64);
        let mut low = Zeroizing::new(reciprocal[..limbs].to_vec());
        if !bits.is_multiple_of(64) {
            low[limbs - 1] ^= 1 << (bits % 64);
        }
        Self { divisor: Zeroizing::new(divisor[..limbs].to_vec()), reciprocal: low, bits }
    }

    /// Its bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// `floor((2^2n - 1) / d) - 2^n`.
    #[must_use]
    pub fn reciprocal(&self) -> &[u64] {
        &self.reciprocal
    }

    pub(super) fn divisor(&self) -> &[u64] {
        &self.divisor
    }
}

/// Long moduli of one length in bits: one for all items, or one for each by its number.
#[derive(Debug, Clone, Copy)]
pub enum LongModuli<'a> {
    /// One for all items.
    One(&'a LongModulus),
    /// One for each item that is computed.
    Each(&'a HashMap<usize, Arc<LongModulus>>),
}

impl<'a> LongModuli<'a> {
    /// Bits of all of them.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::One(modulus) => modulus.bits,
            Self::Each(moduli) => moduli.values().next().expect("there are items").bits,
        }
    }

    pub(super) fn limbs(&self) -> usize {
        self.bits().div_ceil(64)
    }

    /// The modulus of an item.
    pub(super) fn get(&self, item: usize) -> &'a LongModulus {
        match self {
            Self::One(modulus) => modulus,
            Self::Each(moduli) => &moduli[&item],
        }
    }
}

/// What a device needs to reduce chunks of some size.
pub(super) struct Reduction {
    bits: usize,
    limbs: usize,
    /// The modulus, if there is one for all.
    own: Option<Buffer>,
    /// Transforms of the moduli and of their reciprocals, as many as there are moduli.
    divisors: Buffer,
    reciprocals: Buffer,
    products: Buffer,
    estimates: Buffer,
    multiples: Buffer,
}

/// The moduli of a chunk, or one for all of it.
#[derive(Clone, Copy)]
pub(super) struct Divisors<'a> {
    words: Numbers,
    buffer: &'a Buffer,
}

impl Reduction {
    pub(super) fn new(
        device: &Device,
        transforms: &Transforms,
        stream: &Stream,
        length: &Length,
        moduli: LongModuli<'_>,
        size: usize,
    ) -> Result<Self> {
        let limbs = moduli.limbs();
        let buffer = |bytes: usize| device.buffer(bytes, Contents::Secret);
        let kept = || buffer(length.bytes() * if matches!(moduli, LongModuli::One(_)) { 1 } else { size });
        let rows = |limbs: usize| buffer(8 * limbs * size);
        let mut reduction = Self {
            bits: moduli.bits(),
            limbs,
            own: None,
            divisors: kept()?,
            reciprocals: kept()?,
            products: rows(2 * limbs)?,
            estimates: rows(2 * limbs)?,
            multiples: rows((limbs + 1).next_multiple_of(2))?,
        };
        if let LongModuli::One(modulus) = moduli {
            let keep = |number: &[u64], kept: &Buffer| {
                let words = upload(device, number, Contents::Secret)?;
                let buffers = [&words];
                let input = Input::plain(numbers(&words, 0, limbs, 0), &buffers);
                transforms.keep(stream, length, input, 1, kept)?;
                Ok(words)
            };
            keep(&modulus.reciprocal, &reduction.reciprocals)?;
            reduction.own = Some(keep(&modulus.divisor, &reduction.divisors)?);
        }
        Ok(reduction)
    }

    /// The moduli of a chunk. Those of its items follow each other in the inputs from limb `start` on, and their
    /// reciprocals follow them, unless there is one for all.
    pub(super) fn load<'a>(
        &'a self,
        chunk: &Chunk<'_>,
        inputs: &'a Buffer,
        start: usize,
    ) -> Result<Divisors<'a>> {
        let n = self.limbs;
        if let Some(own) = &self.own {
            return Ok(Divisors { words: numbers(own, 0, n, 0), buffer: own });
        }
        let Chunk { transforms, stream, length, items, .. } = *chunk;
        let words = numbers(inputs, start, n, n);
        let buffers = [inputs];
        transforms.keep(stream, length, Input::plain(words, &buffers), items, &self.divisors)?;
        let reciprocals = Input::plain(numbers(inputs, start + n * items, n, n), &buffers);
        transforms.keep(stream, length, reciprocals, items, &self.reciprocals)?;
        Ok(Divisors { words, buffer: inputs })
    }

    /// `a b mod N`.
    pub(super) fn multiply(
        &self,
        chunk: &Chunk<'_>,
        divisors: Divisors<'_>,
        a: Input<'_>,
        b: Factor<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let products = Output::all(&self.products, small(4 * self.limbs));
        chunk.transforms.multiply(chunk, a, b, products)?;
        self.reduce(chunk, divisors, Input::plain(products.numbers(), &[&self.products]), output)
    }

    /// `x mod N` for numbers of at most twice the bits of N.
    pub(super) fn reduce(
        &self,
        chunk: &Chunk<'_>,
        divisors: Divisors<'_>,
        x: Input<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let Chunk { transforms, stream, items, .. } = *chunk;
        let n = self.limbs;
        let moduli = if self.own.is_some() { 1 } else { items };
        // From bit `bits` on.
        let skipped = small(self.bits / 32);
        let upper = |numbers: Numbers| Numbers {
            address: numbers.address + 4 * u64::from(skipped.min(numbers.length)),
            length: numbers.length.saturating_sub(skipped),
            ..numbers
        };
        let mut buffers = x.buffers.to_vec();
        buffers.push(&self.estimates);
        let mut halves = Input { offset: small(self.bits % 32), ..Input::plain(upper(x.numbers), &buffers) };
        let estimates = Output::all(&self.estimates, small(4 * n));
        transforms.multiply(chunk, halves, Factor::Kept(&self.reciprocals, moduli), estimates)?;
        halves.addends = upper(estimates.numbers());
        let multiples = Output::all(&self.multiples, small((2 * n + 2).next_multiple_of(4)));
        transforms.multiply(chunk, halves, Factor::Kept(&self.divisors, moduli), multiples)?;
        // What is left needs one limb more than N.
        let low = |numbers: Numbers| Numbers { length: numbers.length.min(small(2 * n + 2)), ..numbers };
        let call = RemainderCall {
            x: low(x.numbers),
            y: low(multiples.numbers()),
            divisor: divisors.words,
            results: output.address(),
            result_stride: output.words,
            length: small(2 * n),
        };
        buffers.extend([&self.multiples, divisors.buffer, output.buffer]);
        transforms.remainder(stream, items, &call, &buffers)
    }
}

/// Numbers of `limbs` limbs from limb `start` on, `stride` limbs apart.
fn numbers(buffer: &Buffer, start: usize, limbs: usize, stride: usize) -> Numbers {
    let address = buffer.address() + 8 * start as u64;
    Numbers { address, stride: small(2 * stride), length: small(2 * limbs) }
}
