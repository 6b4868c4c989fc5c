//! The constants of a size, on the device.

use super::layout::{Chunk, ResidueLayout};
use crate::device::{Buffer, Contents, Device, HostBuffer};
use crate::error::Result;
use modmill_core::rns::{Bases, Channel, Matrix, Merged, ModulusConstants, bases::powers_of_words};
use zeroize::{Zeroize, Zeroizing};

/// Bits of a digit of [`radix_square`], `STEP_BITS` of `constants.cuh`.
const STEP_BITS: usize = 28;

/// Constants on the device in one buffer: the matrices, and N parts behind them.
pub(super) struct Tables<const N: usize> {
    pub(super) buffer: Buffer,
    /// The first words of the parts; channels are the first one.
    starts: [usize; N],
}

/// The constants that depend on the size alone. Conversions, powers and cofactors follow the channels.
pub(super) type SizeTables = Tables<4>;

/// The matrices that a modulus is a part of. Roots follow the channels.
pub(super) type MergedTables = Tables<2>;

impl<const N: usize> Tables<N> {
    pub(super) fn matrices(&self) -> u64 {
        self.buffer.address()
    }

    pub(super) fn channels(&self) -> u64 {
        self.part(0)
    }

    fn part(&self, part: usize) -> u64 {
        self.buffer.address() + 4 * self.starts[part] as u64
    }
}

impl SizeTables {
    pub(super) fn new(device: &Device, layout: &ResidueLayout, bases: &Bases, words: usize) -> Result<Self> {
        let matrices = [bases.a_to_b(), bases.b_to_a()];
        let plain = channels(bases, matrices[0]);
        let parts = [plain, conversions(bases), powers(bases), cofactors(bases, words)];
        let (all, starts) = join(matrix_words(layout, matrices), parts);
        Ok(Self { buffer: upload(device, &all, Contents::Public)?, starts })
    }

    pub(super) fn conversions(&self) -> u64 {
        self.part(1)
    }

    pub(super) fn powers(&self) -> u64 {
        self.part(2)
    }

    pub(super) fn cofactors(&self) -> u64 {
        self.part(3)
    }
}

impl MergedTables {
    /// `None` if the modulus has a factor in common with base B, or the matrices exceed the bounds that are
    /// compiled into the kernels of this layout.
    pub(super) fn new(
        device: &Device,
        layout: &ResidueLayout,
        bases: &Bases,
        modulus: &[u64],
    ) -> Result<Option<Self>> {
        let Some(constants) = ModulusConstants::new(bases, modulus) else { return Ok(None) };
        let merged = Merged::new(bases, modulus, &constants);
        let Some(merged) = merged.filter(|merged| layout.serves(merged.bounds())) else { return Ok(None) };
        let matrices = [merged.a_to_b(), merged.b_to_a()];
        let form = |(channel, &root): (&Channel, &u32)| channel.multiply(root, channel.radix);
        let roots = bases.b().iter().zip(merged.roots()).map(form).collect();
        let own = channels(bases, matrices[0]);
        let (all, starts) = join(matrix_words(layout, matrices), [own, roots]);
        Ok(Some(Self { buffer: upload(device, &all, Contents::Secret)?, starts }))
    }

    pub(super) fn roots(&self) -> u64 {
        self.part(1)
    }
}

/// Joins the matrices and the other parts, and returns where each part begins. Structures are aligned to 16
/// bytes. A modulus may be a part of them, so every copy is zeroized.
fn join<const N: usize>(mut matrices: Vec<u32>, parts: [Vec<u32>; N]) -> (Zeroizing<Vec<u32>>, [usize; N]) {
    let words = matrices.len() + parts.iter().map(|part| part.len() + 3).sum::<usize>();
    let mut all = Zeroizing::new(Vec::with_capacity(words));
    all.extend_from_slice(&matrices);
    matrices.zeroize();
    let starts = parts.map(|mut part| {
        let start = all.len().next_multiple_of(4);
        all.resize(start, 0);
        all.extend_from_slice(&part);
        part.zeroize();
        start
    });
    (all, starts)
}

/// Copies words to the device.
pub(super) fn upload(device: &Device, words: &[u32], contents: Contents) -> Result<Buffer> {
    let fill = |staging: &mut HostBuffer| staging.words_mut()[..words.len()].copy_from_slice(words);
    device.upload_with(4 * words.len(), contents, fill)
}

/// The words of the matrices to base B and to base A.
fn matrix_words(layout: &ResidueLayout, matrices: [&Matrix; 2]) -> Vec<u32> {
    let mut words = Vec::with_capacity(layout.matrices_bytes() as usize / 4);
    for (base, matrix) in matrices.into_iter().enumerate() {
        for chunk in layout.chunks(base) {
            let bytes = chunk_bytes(matrix, chunk);
            words.extend(
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])),
            );
        }
    }
    words
}

/// A chunk of a matrix as the tensor cores read it: step by step of 32 rows, in a step two blocks of eight
/// columns for every group, in a block two cores of 8 columns by 16 rows. Columns of a group stand in the
/// order of digit pairs, lanes and digits. In the step of own words every two groups have rows of their own.
fn chunk_bytes(matrix: &Matrix, chunk: Chunk) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0u8; chunk.bytes() as usize]);
    // The quotient has a row of the matrix if the last step has room.
    let with_quotient = matrix.has_quotient() && !matrix.words().is_multiple_of(8);
    let rows = matrix.words() * 4 + if with_quotient { 2 } else { 0 };
    let mut write = |channel: usize, row: usize, entry: u32| {
        for (digit, byte) in entry.to_le_bytes().into_iter().enumerate() {
            let column = 16 * (channel / 4) + digit / 2 * 8 + channel % 4 * 2 + digit % 2;
            let block = row / 32 * 2 * chunk.count as usize + column / 8;
            bytes[block * 256 + row % 32 / 16 * 128 + column % 8 * 16 + row % 16] = byte;
        }
    };
    // Both bases have as many channels as the matrix has words.
    let channels = (4 * chunk.count as usize).min(matrix.words() - 4 * chunk.first as usize);
    for channel in 0..channels {
        let column = matrix.column(4 * chunk.first as usize + channel);
        column[..rows].iter().enumerate().for_each(|(row, &entry)| write(channel, row, entry));
        if chunk.has_own_words {
            let first = 32 * chunk.steps as usize + 4 * (channel % 8);
            let own = &column[4 * matrix.words()..];
            own.iter().enumerate().for_each(|(byte, &entry)| write(channel, first + byte, entry));
        }
    }
    bytes
}

/// `Channel` of `rns.cuh`, for base A and then for base B, where it has the quotient's row of the first
/// matrix.
fn channels(bases: &Bases, a_to_b: &Matrix) -> Vec<u32> {
    let h = |channel: &Channel| (channel.p >> 16) + 1;
    let (weights, factors) = (&bases.quotient().weights, bases.combine());
    let a = bases.a().iter().enumerate();
    let a = a.flat_map(|(place, channel)| [h(channel), weights[place], factors[place], 0]);
    let b = bases.b().iter().enumerate();
    let b = b.flat_map(|(place, channel)| [h(channel), a_to_b.entry(bases.channels(), 0, place), 0, 0]);
    a.chain(b).collect()
}

/// `Conversion` of `rns_convert.cuh`, for base A and then for base B.
fn conversions(bases: &Bases) -> Vec<u32> {
    let high = |channel: Channel| channel.power(2, 48);
    let mut words = Vec::new();
    for (place, &channel) in bases.a().iter().enumerate() {
        let inverse = bases.cofactor_inverses()[place];
        let to_xi = channel.multiply(inverse, channel.radix_squared);
        let modulus = channel.multiply(bases.modulus_factors()[place], channel.radix_squared);
        // The entry of 1: xi C / 2^32.
        let one = channel.reduce_once(channel.redc(u64::from(inverse) * u64::from(bases.combine()[place])));
        words.extend([high(channel), to_xi, modulus, one, inverse, 0, 0, 0]);
    }
    for (place, &channel) in bases.b().iter().enumerate() {
        // 1 / B_i, from which the factor 2^64 is taken.
        let inverse =
            channel.multiply(bases.quotient_factors()[place], channel.invert(channel.radix_squared));
        words.extend([high(channel), channel.radix_squared, channel.p - inverse, 0, 0, 0, 0, 0]);
    }
    words
}

/// 2^(32 i) modulo every prime, for every word i of the longest number that kernels take as it is.
fn powers(bases: &Bases) -> Vec<u32> {
    let count = bases.capacity_bits().div_ceil(32) + 2;
    let columns: Vec<Vec<u32>> =
        bases.a().iter().chain(bases.b()).map(|&channel| powers_of_words(channel, count)).collect();
    (0..count).flat_map(|word| columns.iter().map(move |column| column[word]).collect::<Vec<_>>()).collect()
}

/// The words of every `A_j` and of A, four at a time, up to one more word than numbers have.
fn cofactors(bases: &Bases, words: usize) -> Vec<u32> {
    let numbers: Vec<Vec<u32>> = (0..bases.channels())
        .map(|channel| bases.cofactor_a(channel))
        .chain([bases.product_a().to_vec()])
        .collect();
    let mut quads = Vec::new();
    for first in (0..=words).step_by(4) {
        for number in &numbers {
            quads.extend((first..first + 4).map(|place| number.get(place).copied().unwrap_or(0)));
        }
    }
    quads
}

/// B^2 as its leading words, which are below every modulus of `limbs` limbs, as digits for the steps of a
/// remainder, and as the number of bits of the first digit, which may be shorter.
pub(super) fn radix_square(product: &[u32], limbs: usize) -> (Vec<u32>, Vec<u32>, u32) {
    let mut square = vec![0u32; 2 * product.len()];
    for (place, &factor) in product.iter().enumerate() {
        let mut carry = 0;
        for (word, &other) in square[place..].iter_mut().zip(product.iter().chain(std::iter::repeat(&0))) {
            let sum = u64::from(factor) * u64::from(other) + u64::from(*word) + carry;
            *word = sum as u32;
            carry = sum >> 32;
        }
    }
    let bits = 32 * square.len() - square.iter().rev().take_while(|&&word| word == 0).count() * 32;
    let bits = bits - square[bits / 32 - 1].leading_zeros() as usize;
    let bits_at = |place: usize, count: usize| {
        let word = |index: usize| u64::from(square.get(index).copied().unwrap_or(0));
        let pair = word(place / 32) | word(place / 32 + 1) << 32;
        (pair >> (place % 32) & ((1 << count) - 1)) as u32
    };
    // Below 2^(64 (limbs - 1)), which is below every modulus.
    let leading_bits = (64 * (limbs - 1)).min(bits);
    let rest = bits - leading_bits;
    let leading = (0..2 * (limbs - 1)).map(|word| {
        let place = rest + 32 * word;
        if 32 * word < leading_bits { bits_at(place, 32) } else { 0 }
    });
    let first_bits = match rest % STEP_BITS {
        0 => STEP_BITS,
        bits => bits,
    };
    let mut digits = Vec::new();
    let mut place = rest;
    let mut count = first_bits;
    while place > 0 {
        place -= count.min(place);
        digits.push(bits_at(place, count));
        count = STEP_BITS;
    }
    (leading.collect(), digits, first_bits as u32)
}

#[cfg(test)]
mod tests {
    use super::super::Rns;
    use super::*;
    use crate::variant::Variant;
    use modmill_core::Family;

    /// Moduli of the usual lengths are merged, and a modulus that shares a prime with the radix is not.
    #[test]
    fn usual_moduli_are_merged() {
        let device = Device::emulator();
        for bits in [512, 1024, 1536, 2048, 3072, 4096] {
            for variant in Variant::candidates(Family::Rns, bits, device.limits()) {
                let Rns { residues: layout, bases } = variant.rns().unwrap();
                let mut modulus = vec![0x9e37_79b9_7f4a_7c15; bits / 64];
                modulus[bits / 64 - 1] |= 1 << 63;
                assert!(MergedTables::new(&device, &layout, &bases, &modulus).unwrap().is_some());
                let mut prime = vec![0; bits / 64];
                prime[0] = u64::from(bases.b()[3].p);
                assert!(MergedTables::new(&device, &layout, &bases, &prime).unwrap().is_none());
            }
        }
    }
}
