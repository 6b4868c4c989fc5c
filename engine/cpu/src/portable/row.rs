//! Row-oriented Montgomery products on 64-bit limbs, for any architecture.

use super::band;
use super::karatsuba;
use super::montgomery::{reduce, subtract_masked};
use super::shared_table;
use super::square::square;
use crate::kernel::{BatchKernel, Kernel};
use crate::lanes::Lanes;
use modmill_core::limbs::{add_assign, bit_length, inverse_of_odd, shift_left, sub_assign};
use modmill_core::{Family, Isa, mask};
use zeroize::Zeroizing;

/// The portable kernel: one modulus at a time, 64-bit limbs, no room above the modulus.
pub struct Row {
    modulus: Zeroizing<Vec<u64>>,
    /// `-N^-1 mod 2^64`.
    negated_inverse: u64,
    /// `R - N 2^s` for the largest shift s that keeps it positive. It is congruent to R modulo N and below
    /// R/2.
    wrap: Zeroizing<Vec<u64>>,
}

impl Lanes for Row {
    const LANES: usize = 1;
    const WIDTH: u32 = 64;
}

impl Kernel for Row {
    const ROOM: usize = 0;
    const FAMILY: Family = Family::Row;
    const ISA: Isa = Isa::Portable;
    type Token = ();

    fn new((): (), moduli: &[u64]) -> Self {
        let mut shifted = Zeroizing::new(vec![0; moduli.len()]);
        shift_left(moduli, 64 * moduli.len() - bit_length(moduli), &mut shifted);
        let mut wrap = Zeroizing::new(vec![0; moduli.len()]);
        sub_assign(&mut wrap, &shifted);
        Self {
            modulus: Zeroizing::new(moduli.to_vec()),
            negated_inverse: inverse_of_odd(moduli[0]).wrapping_neg(),
            wrap,
        }
    }

    fn blank((): (), digits: usize) -> Self {
        let limbs = || Zeroizing::new(vec![0; digits]);
        Self { modulus: limbs(), negated_inverse: 0, wrap: limbs() }
    }

    fn digits(&self) -> usize {
        self.modulus.len()
    }

    fn constants(&mut self) -> Vec<&mut [u64]> {
        let inverse = std::slice::from_mut(&mut self.negated_inverse);
        vec![&mut self.modulus[..], inverse, &mut self.wrap[..]]
    }

    fn scratch_words(digits: usize) -> usize {
        2 * digits
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        band::product(scratch, x, y);
        self.reduce(scratch, x);
    }

    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        for _ in 0..times {
            square(x, scratch);
            self.reduce(scratch, x);
        }
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        // x + y < R + R/32. After a carry the low limbs are below R/32, and `wrap` replaces R by a number
        // below R/2.
        let mask = mask::from_bit(add_assign(x, y));
        let mut carry = 0;
        for (limb, wrap) in x.iter_mut().zip(self.wrap.iter()) {
            let sum = u128::from(*limb) + u128::from(wrap & mask) + u128::from(carry);
            *limb = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        let (stride, index) = (out.len(), indices[0]);
        let rest = select_blocks::<16>(table, stride, index, out);
        let rest = select_blocks::<8>(&table[stride - rest.len()..], stride, index, rest);
        let rest = select_blocks::<4>(&table[stride - rest.len()..], stride, index, rest);
        select_blocks::<1>(&table[stride - rest.len()..], stride, index, rest);
    }
}

impl BatchKernel for Row {
    fn select_shared(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        shared_table::read(table, indices, out);
    }

    fn product((): (), x: &[u64], y: &[u64], out: &mut [u64]) {
        karatsuba::product(x, y, out);
    }
}

impl Row {
    /// Montgomery reduction of `t < R^2` to a number below R that is congruent to `t / R` modulo N.
    fn reduce(&self, t: &mut [u64], out: &mut [u64]) {
        let top = reduce(t, &self.modulus, self.negated_inverse);
        subtract_masked(&t[self.modulus.len()..], &self.modulus, mask::from_bit(top), out);
    }
}

/// Reads one entry of a table whose entries are `stride` limbs apart. A block of C limbs stays in registers
/// while all entries pass through it. Returns the limbs of `out` that are not filled yet.
fn select_blocks<'a, const C: usize>(
    table: &[u64],
    stride: usize,
    index: u64,
    out: &'a mut [u64],
) -> &'a mut [u64] {
    let (blocks, rest) = out.as_chunks_mut::<C>();
    for (place, block) in blocks.iter_mut().enumerate() {
        let mut limbs = [0; C];
        for (entry, row) in table[place * C..].chunks(stride).enumerate() {
            let mask = mask::equal(entry as u64, index);
            for (to, from) in limbs.iter_mut().zip(&row[..C]) {
                *to |= from & mask;
            }
        }
        *block = limbs;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Workspace};
    use crate::pow::pow;
    use crate::test_support::Random;
    use modmill_core::reference::Natural;

    fn natural(limbs: &[u64]) -> Natural {
        Natural::from_limbs(limbs)
    }

    /// Numbers of `count` limbs with long carry chains: zeros, ones, single bits, runs, and two random
    /// numbers.
    fn hard(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
        let bit = |place: usize| {
            let mut number = vec![0; count];
            number[place / 64] = 1 << (place % 64);
            number
        };
        let mut numbers = vec![vec![0; count], vec![u64::MAX; count], bit(0), bit(64 * count - 1)];
        for place in [1, 63, 64 * count / 2, 64 * count - 1] {
            let mut run = bit(place);
            sub_assign(&mut run, &[1]);
            numbers.push(run.iter().map(|limb| !limb).collect());
            numbers.push(run);
        }
        numbers.push((0..count as u64).map(|i| (i % 2).wrapping_neg()).collect());
        numbers.push(random.limbs(count));
        numbers.push(random.limbs(count));
        numbers
    }

    #[test]
    fn products_of_all_shapes() {
        let mut random = Random::new(3);
        for (x_len, y_len) in
            [(1, 1), (1, 5), (2, 3), (3, 3), (4, 4), (4, 3), (5, 4), (7, 7), (8, 8), (9, 17)]
        {
            for x in hard(x_len, &mut random) {
                for y in hard(y_len, &mut random) {
                    let mut out = vec![1; x_len + y_len];
                    Row::product((), &x, &y, &mut out);
                    assert_eq!(natural(&out), natural(&x).times(&natural(&y)), "{x:x?} {y:x?}");
                }
            }
        }
        for (x_len, y_len) in [
            (16, 16),
            (32, 32),
            (47, 47),
            (48, 48),
            (49, 49),
            (64, 64),
            (65, 63),
            (64, 20),
            (97, 97),
            (150, 130),
        ] {
            for x in [vec![u64::MAX; x_len], random.limbs(x_len)] {
                for y in [vec![u64::MAX; y_len], random.limbs(y_len)] {
                    let mut out = vec![1; x_len + y_len];
                    Row::product((), &x, &y, &mut out);
                    assert_eq!(natural(&out), natural(&x).times(&natural(&y)), "{x_len} by {y_len} limbs");
                }
            }
        }
    }

    #[test]
    fn squares_are_products() {
        let mut random = Random::new(4);
        for count in 1..=34 {
            for x in hard(count, &mut random) {
                let mut expected = vec![0; 2 * count];
                Row::product((), &x, &x, &mut expected);
                let mut out = vec![1; 2 * count];
                square(&x, &mut out);
                assert_eq!(out, expected, "{x:x?}");
            }
        }
    }

    /// Odd moduli of `count` limbs: the largest, the smallest, a random one, and one just above half the
    /// range.
    fn moduli(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
        let mut above = vec![0; count];
        above[count - 1] = 1;
        above[0] |= if count == 1 { 3 } else { 1 };
        let mut middle = random.limbs(count);
        middle[0] |= 1;
        let mut half = vec![0; count];
        half[count - 1] = 1 << 63;
        half[0] |= 1;
        vec![vec![u64::MAX; count], above, middle, half]
    }

    #[test]
    fn montgomery_products_of_any_numbers_below_r() {
        let mut random = Random::new(8);
        for count in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17] {
            let mut r = vec![0; count + 1];
            r[count] = 1;
            for modulus in moduli(count, &mut random) {
                let n = natural(&modulus);
                let row = Row::new((), &modulus);
                let mut scratch = vec![1; Row::scratch_words(count)];
                for x in hard(count, &mut random) {
                    for y in hard(count, &mut random) {
                        let mut z = x.clone();
                        row.multiply(&mut z, &y, &mut scratch);
                        let back = natural(&z).times(&natural(&r)).modulo(&n);
                        assert_eq!(
                            back,
                            natural(&x).times(&natural(&y)).modulo(&n),
                            "{x:x?} {y:x?} {modulus:x?}"
                        );
                    }
                    let (mut squared, mut product) = (x.clone(), x.clone());
                    row.square(&mut squared, 1, &mut scratch);
                    row.multiply(&mut product, &x, &mut scratch);
                    assert_eq!(squared, product);
                }
            }
        }
    }

    #[test]
    fn sums_wrap_modulo_the_modulus() {
        let mut random = Random::new(6);
        for modulus in [1, 3, 8].iter().flat_map(|&count| moduli(count, &mut Random::new(9))) {
            let n = natural(&modulus);
            let row = Row::new((), &modulus);
            for x in hard(modulus.len(), &mut random) {
                let mut y = vec![u64::MAX; modulus.len()];
                y[modulus.len() - 1] >>= 5;
                let mut sum = x.clone();
                row.add(&mut sum, &y);
                let (mut wide, mut y_wide) = (x.clone(), y.clone());
                wide.push(0);
                y_wide.push(0);
                add_assign(&mut wide, &y_wide);
                assert_eq!(natural(&sum).modulo(&n), natural(&wide).modulo(&n));
            }
        }
    }

    #[test]
    fn selection_reads_every_entry() {
        let mut random = Random::new(2);
        for (entries, count) in [(1, 1), (2, 3), (16, 5), (64, 16), (32, 29), (8, 61)] {
            let row = Row::new((), &vec![u64::MAX; count]);
            let table = random.limbs(entries * count);
            for (index, entry) in table.chunks_exact(count).enumerate() {
                let mut out = vec![7; count];
                row.select(&table, &[index as u64], &mut out);
                assert_eq!(out, entry);
            }
        }
    }

    #[test]
    fn powers_at_every_size() {
        let mut random = Random::new(1);
        for bits in (2..=66).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1024, 2048, 3072, 4096]) {
            let count = usize::div_ceil(bits, 64);
            let mut modulus = random.limbs(count);
            modulus[count - 1] = modulus[count - 1] >> (63 - (bits - 1) % 64) | 1 << ((bits - 1) % 64);
            modulus[0] |= 1;
            let domain = Domain::<Row>::new((), bits, &[&modulus]);
            let mut work = Workspace::new::<Row>(bits);
            let (n, exponent) = (natural(&modulus), random.limbs(1));
            let mut less = modulus.clone();
            less[0] -= 1;
            for a in [
                vec![0; count],
                less,
                vec![u64::MAX; count],
                random.limbs(count),
                random.limbs(2 * count + 1),
            ] {
                let mut x = vec![0; count];
                domain.enter(&[&a], 64 * a.len(), &mut x, &mut work);
                let mut trip = x.clone();
                domain.leave(&mut trip, &mut work);
                let mut out = vec![0; count];
                domain.store(&mut trip, &mut out, count, &mut work);
                assert_eq!(natural(&out), natural(&a).modulo(&n), "{bits} bits");
                // The reference divides bit by bit, so long numbers get short exponents.
                let exponent_bits = if bits > 1024 { 5 } else { 64 };
                let exponent = [exponent[0] >> (64 - exponent_bits)];
                pow(&domain, &mut x, &[&exponent], exponent_bits, 4, &mut work);
                domain.leave(&mut x, &mut work);
                domain.store(&mut x, &mut out, count, &mut work);
                assert_eq!(
                    natural(&out),
                    natural(&a).modulo(&n).power(&natural(&exponent), &n),
                    "{bits} bits"
                );
            }
        }
    }
}
