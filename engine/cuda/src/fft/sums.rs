//! Sums modulo one number on a device: sums of products, added as transforms, and sums of numbers with small
//! weights.
//!
//! Transforms are linear, so that a sum of products is added point by point, and transformed back and reduced
//! once. A sum of P products of numbers below `2^n` is below `P 2^2n`; its quotient by a modulus of n bits is
//! found by Barrett's reduction with an error of less than P + 4 (see `barrett`), because the reciprocal's
//! last bit is multiplied by an upper half of up to `P 2^n`. The modulus is padded to as many limbs as
//! `P 2^n` has, so that this upper half has room.
#![allow(unsafe_code)] // launches kernels

use super::barrett::{Divisors, Reduction, numbers};
use super::calls::{SumsCall, WeightedCall};
use super::moduli::{LongModuli, LongModulus, Reciprocals};
use super::programs::{BLOCK, RowTask, WORD_BITS};
use super::{Input, Length, Output, Transforms, Work, Workspace};
use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device, Shape, Stream};
use crate::error::{Error, Result};
use modmill_core::Sums;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The most products of a sum, and the greatest sum of weights: `fft_remainder.cuh` corrects quotients by
/// less than `2^20`.
pub(crate) const MOST_PRODUCTS: usize = (1 << 20) - 8;

/// Bytes of the transforms of a chunk of sums.
const CHUNK_BYTES: usize = 128 << 20;

/// Points of a sum that a block has (`fft_sums.cuh`).
const SUM_POINTS: usize = 64;

/// Sums with weights that a thread has, and numbers that it adds at a time (`fft_weighted.cuh`).
const WEIGHTED_SUMS: usize = 16;
const WEIGHTED_NUMBERS: usize = 4;

/// The most numbers of a sum with weights, whose bytes a thread adds in words.
const MOST_NUMBERS: usize = 1 << 16;

/// A modulus on a device, with the memory for sums modulo it.
pub(crate) struct SumsModulo {
    transforms: Arc<Transforms>,
    /// The length of transforms of products' factors, with room for sums, if there are digits that are short
    /// enough.
    length: Option<Length>,
    /// The length of transforms of reductions.
    plain: Length,
    reduction: Reduction,
    workspace: Workspace,
    /// Sums of a chunk.
    chunk: usize,
}

/// Lists of terms on a device.
pub(crate) struct Lists {
    limbs: Buffer,
    /// The limb that each list begins at: left factors, right factors, ends of right factors, ends of terms.
    starts: [usize; 4],
    count: usize,
}

impl Lists {
    /// The terms of sums of transforms, whose addresses `address` tells.
    pub(crate) fn new(device: &Device, sums: &Sums, address: impl Fn(usize) -> u64) -> Result<Self> {
        let (mut lefts, mut rights, mut rights_ends, mut ends) = (Vec::new(), Vec::new(), vec![0], vec![0]);
        for sum in 0..sums.len() {
            for (left, right) in sums.terms(sum) {
                lefts.push(address(left));
                rights.extend(right.iter().map(|&right| address(right as usize)));
                rights_ends.push(word(rights.len())?);
            }
            ends.push(word(lefts.len())?);
        }
        let lists = [lefts, rights, pairs(&rights_ends), pairs(&ends)];
        let mut starts = [0; 4];
        for list in 1..4 {
            starts[list] = starts[list - 1] + lists[list - 1].len();
        }
        Ok(Self { limbs: device.upload(&lists.concat(), Contents::Public)?, starts, count: sums.len() })
    }

    fn addresses(&self) -> [u64; 4] {
        self.starts.map(|start| self.limbs.address() + 8 * start as u64)
    }
}

/// Words, two to a limb.
fn pairs(words: &[u32]) -> Vec<u64> {
    let limb = |pair: &[u32]| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
    words.chunks(2).map(limb).collect()
}

impl SumsModulo {
    /// For sums of at most `most` products, or of weights that add up to at most `most`, modulo `modulus`.
    pub(crate) fn new(
        device: &Device,
        transforms: impl Fn(&Length) -> Result<Arc<Transforms>>,
        reciprocals: &dyn Reciprocals,
        modulus: &[u64],
        most: usize,
    ) -> Result<Self> {
        if most > MOST_PRODUCTS {
            let reason = format!("sums have at most {MOST_PRODUCTS} products");
            return Err(Error::Call { call: "Cuda::modular_sums", reason });
        }
        let bits = modmill_core::limbs::bit_length(modulus);
        let limbs = (bits + most.max(1).ilog2() as usize + 1).div_ceil(64);
        let modulus = LongModulus::padded(modulus, limbs, reciprocals)?;
        let plain = Length::new(64 * limbs, 64 * limbs, 2);
        let length = Length::for_sums(bits, bits, most.max(1));
        let longest = length.filter(|length| length.bytes() > plain.bytes()).unwrap_or(plain);
        let chunk = (CHUNK_BYTES / longest.bytes()).clamp(1, 256);
        let transforms = transforms(&longest)?;
        let stream = device.stream()?;
        let reduction =
            Reduction::new(device, &transforms, &stream, &plain, &LongModuli::One(Arc::new(modulus)), chunk)?;
        stream.synchronize()?;
        // The shorter the digits are, the more flags carries take.
        let least_bits = length.map_or(plain.digit_bits, |length| length.digit_bits.min(plain.digit_bits));
        let flags = Length { digit_bits: least_bits, ..longest };
        let workspace = transforms.workspace(&flags, chunk, reduction.words()?, false, Contents::Secret)?;
        Ok(Self { transforms, length, plain, reduction, workspace, chunk })
    }

    /// The transforms of factors; an error if no digits are short enough for the products of a sum.
    pub(crate) fn length(&self) -> Result<&Length> {
        let reason = "there are no digits for sums of so many products".to_owned();
        self.length.as_ref().ok_or(Error::Call { call: "Cuda::sum_factors", reason })
    }

    /// Sums of products of transforms in some buffers, from the beginning of `output` on.
    pub(crate) fn sums_of_products(
        &self,
        stream: &Stream,
        factors: &[&Buffer],
        lists: &Lists,
        output: Output<'_>,
    ) -> Result<()> {
        let length = self.length()?;
        let [lefts, rights, rights_ends, ends] = lists.addresses();
        self.in_chunks(stream, lists.count, output, |work, sums, products| {
            let (flags, flag_count) = self.workspace.flags(products.words, length.digit_bits, work.items)?;
            let call = SumsCall {
                results: self.workspace.points.address(),
                ends: ends + 4 * sums.start as u64,
                rights_ends,
                lefts,
                rights,
                length: word(length.shape.points())?,
                count: word(work.items)?,
                flags: flags.address(),
                flag_count,
            };
            let groups = work.items.div_ceil(BLOCK as usize / SUM_POINTS);
            let grid = word(groups * length.shape.points() / SUM_POINTS)?;
            let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
            let [kernel, _] = self.transforms.kernels.sums()?;
            let mut used = factors.to_vec();
            used.extend([&lists.limbs, &self.workspace.points, flags]);
            // SAFETY: the kernel takes this structure, reads the lists and the transforms they name, which
            // are in these buffers, and writes the points of `items` sums and the flags.
            unsafe { stream.launch(&kernel, shape, &call, &used)? };
            let work = Work { length, ..*work };
            work.passes().rows(RowTask::Back, &self.workspace.points, None)?;
            self.transforms.columns_back(&work, products)
        })
    }

    /// Sums of numbers with weights, for each sum a byte for each number, from the beginning of `output` on.
    /// The weights of a sum add up to no more than the most that this was made for.
    pub(crate) fn weighted_sums(
        &self,
        stream: &Stream,
        numbers: (Numbers, &Buffer, usize),
        weights: &[u8],
        output: Output<'_>,
    ) -> Result<()> {
        let (numbers, from, count) = numbers;
        if count > MOST_NUMBERS {
            let reason = format!("sums with weights have at most {MOST_NUMBERS} numbers");
            return Err(Error::Call { call: "Cuda::weighted_sums", reason });
        }
        let total = weights.len() / count.max(1);
        // A coefficient for each word of a sum.
        let length = (2 * self.reduction.limbs).next_multiple_of(32);
        self.in_chunks(stream, total, output, |work, sums, products| {
            let weights = packed(&weights[sums.start * count..sums.end * count], count);
            let weights = self.transforms.device.upload(&weights, Contents::Secret)?;
            let (flags, flag_count) = self.workspace.flags(products.words, WORD_BITS, work.items)?;
            let call = WeightedCall {
                numbers,
                weights: weights.address(),
                results: self.workspace.points.address(),
                count: word(count)?,
                sums: word(work.items)?,
                length: word(length)?,
                flags: flags.address(),
                flag_count,
            };
            let grid = word(work.items.div_ceil(WEIGHTED_SUMS) * length.div_ceil(BLOCK as usize))?;
            let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
            let [_, kernel] = self.transforms.kernels.sums()?;
            let used = [from, &weights, &self.workspace.points, flags];
            // SAFETY: the kernel takes this structure, reads `count` numbers and their weights, and writes
            // the coefficients of `items` sums, of which the workspace has room for as many, and the flags.
            unsafe { stream.launch(&kernel, shape, &call, &used)? };
            self.transforms.carry(work, (WORD_BITS, length), products)
        })
    }

    /// Computes whole numbers chunk by chunk with `compute`, and reduces them.
    fn in_chunks(
        &self,
        stream: &Stream,
        count: usize,
        output: Output<'_>,
        compute: impl Fn(&Work<'_>, Range<usize>, Output<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { transforms, plain, reduction, workspace, .. } = self;
        let whole = Output::all(&reduction.products, word(4 * reduction.limbs)?);
        let own = reduction.own.as_ref().expect("there is one modulus");
        let divisors = Divisors { words: numbers(own, 0, reduction.limbs, 0), buffer: own };
        for start in (0..count).step_by(self.chunk) {
            let sums = start..count.min(start + self.chunk);
            let work = Work { transforms, stream, length: plain, workspace, items: sums.len() };
            compute(&work, sums, whole)?;
            let output = Output { start: output.start + 4 * output.words as usize * start, ..output };
            reduction.reduce(
                &work,
                divisors,
                Input::plain(whole.numbers(), &[&reduction.products]),
                output,
            )?;
        }
        Ok(())
    }
}

/// Weights as the kernel reads them: for each sixteen sums, for each four numbers, for each sum four bytes.
fn packed(weights: &[u8], count: usize) -> zeroize::Zeroizing<Vec<u64>> {
    let (sums, fours) = (weights.len() / count.max(1), count.div_ceil(WEIGHTED_NUMBERS));
    let of_group = fours * WEIGHTED_SUMS / 2;
    let mut limbs = zeroize::Zeroizing::new(vec![0; of_group * sums.div_ceil(WEIGHTED_SUMS)]);
    let groups = limbs.par_chunks_mut(of_group.max(1)).zip(weights.par_chunks(WEIGHTED_SUMS * count.max(1)));
    groups.for_each(|(group, weights)| {
        for (place, weights) in weights.chunks_exact(count).enumerate() {
            let fours = group.chunks_exact_mut(WEIGHTED_SUMS / 2).zip(weights.chunks(WEIGHTED_NUMBERS));
            for (four, weights) in fours {
                let word = weights.iter().rev().fold(0, |word, &weight| word << 8 | u64::from(weight));
                four[place / 2] |= word << (32 * (place % 2));
            }
        }
    });
    limbs
}
