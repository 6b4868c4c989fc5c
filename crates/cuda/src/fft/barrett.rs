//! Products modulo one long number by Barrett's reduction (Algorithm 3.1 of the thesis, with the shift it
//! lacks), on the device.
//!
//! For d of n bits, `m = floor((2^2n - 1) / d) - 2^n`, and x below `2^2n` with upper half h: `q = h + floor(h m / 2^n)`
//! is at most 3 less than `floor(x / d)`: `h + h m / 2^n` is above `h 2^n / d - 1`, of which less than one is cut
//! off, and the lower half of x is below `2 d`. The digits of both parts of q are added without carries, and
//! multiplied by those of d: their transforms have room for sums of two digits.

use super::calls::RemainderCall;
use super::{Factor, Input, Length, Output, Transforms, Workspace, small, upload};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::Result;
use crate::kernels::Numbers;
use modmill_core::limbs::bit_length;
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

    pub(super) fn limbs(&self) -> usize {
        self.divisor.len()
    }
}

/// What a device needs to reduce chunks of some size.
pub(super) struct Reduction {
    bits: usize,
    limbs: usize,
    divisor_words: Buffer,
    divisor: Buffer,
    reciprocal: Buffer,
    products: Buffer,
    estimates: Buffer,
    multiples: Buffer,
}

impl Reduction {
    pub(super) fn new(
        device: &Device,
        transforms: &Transforms,
        stream: &Stream,
        length: &Length,
        modulus: &LongModulus,
        size: usize,
    ) -> Result<Self> {
        let limbs = modulus.limbs();
        let keep = |limbs: &[u64]| {
            let words = upload(device, limbs, Contents::Secret)?;
            let numbers = numbers(&words, 0, limbs.len(), 0);
            let buffers = [&words];
            let input = Input::plain(numbers, &buffers);
            let kept = transforms.keep(stream, length, input, Contents::Secret)?;
            Ok((words, kept))
        };
        let (divisor_words, divisor) = keep(&modulus.divisor)?;
        let (_, reciprocal) = keep(&modulus.reciprocal)?;
        let rows = |limbs: usize| device.buffer(8 * limbs * size, Contents::Secret);
        Ok(Self {
            bits: modulus.bits(),
            limbs,
            divisor_words,
            divisor,
            reciprocal,
            products: rows(2 * limbs)?,
            estimates: rows(2 * limbs)?,
            multiples: rows((limbs + 1).next_multiple_of(2))?,
        })
    }

    /// Where products go before they are reduced.
    pub(super) fn products(&self) -> Output<'_> {
        Output { buffer: &self.products, words: small(4 * self.limbs) }
    }

    /// Reduces the products of `items` items.
    pub(super) fn run(
        &self,
        transforms: &Transforms,
        stream: &Stream,
        length: &Length,
        workspace: &Workspace,
        items: usize,
        output: Output<'_>,
    ) -> Result<()> {
        let n = self.limbs;
        // From bit `bits` on, where products are of as many words as two numbers of n limbs.
        let skipped = self.bits / 32;
        let upper = |buffer: &Buffer| Numbers {
            address: buffer.address() + 4 * skipped as u64,
            stride: small(4 * n),
            length: small(4 * n - skipped),
        };
        let buffers = [&self.products, &self.estimates];
        let mut halves = Input::plain(upper(&self.products), &buffers);
        halves.offset = small(self.bits % 32);
        let estimates = Output { buffer: &self.estimates, words: small(4 * n) };
        transforms.multiply(
            stream,
            length,
            workspace,
            halves,
            Factor::Kept(&self.reciprocal),
            items,
            estimates,
        )?;
        halves.addends = upper(&self.estimates);
        let multiples = Output { buffer: &self.multiples, words: small((2 * n + 2).next_multiple_of(4)) };
        transforms.multiply(
            stream,
            length,
            workspace,
            halves,
            Factor::Kept(&self.divisor),
            items,
            multiples,
        )?;
        let call = RemainderCall {
            x: numbers(&self.products, 0, n + 1, 2 * n),
            y: numbers(&self.multiples, 0, n + 1, (n + 1).next_multiple_of(2)),
            divisor: numbers(&self.divisor_words, 0, n, 0),
            results: output.buffer.address(),
            result_stride: output.words,
            length: small(2 * n),
        };
        let used = [&self.products, &self.multiples, &self.divisor_words, output.buffer];
        transforms.remainder(stream, items, &call, &used)
    }
}

/// Numbers of `limbs` limbs from limb `start` on, `stride` limbs apart.
fn numbers(buffer: &Buffer, start: usize, limbs: usize, stride: usize) -> Numbers {
    let address = buffer.address() + 8 * start as u64;
    Numbers { address, stride: small(2 * stride), length: small(2 * limbs) }
}
