//! Operations on one modulus with a library of integers, as well as its functions allow.
#![allow(unsafe_code)]

use super::integers::{IntegerPeer, Integers, Owned};
use super::peer::{ColumnPeer, Worker};
use crate::column_items::{BLOCK, ColumnItems};
use crate::error::Refusal;
use crate::op::ColumnOp;
use modmill_core::limbs::bits_at;
use std::ops::Range;

/// The most bytes of a table of powers, as for ours.
const MOST_BYTES: usize = 64 << 20;

impl<L: Integers> ColumnPeer for IntegerPeer<L> {
    fn function(&self, op: ColumnOp) -> &'static str {
        match op {
            ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime => "a table, mul, mod",
            ColumnOp::MultiPow => "powm twice, mul, mod",
            ColumnOp::ProductMod => "mul, mod",
            ColumnOp::SumProducts => "addmul, mod at the end",
        }
    }

    fn worker<'a>(
        &'a self,
        items: &'a ColumnItems,
        part: Range<usize>,
    ) -> Result<Box<dyn Worker + 'a>, Refusal> {
        let library = &self.library;
        let number = |limbs: &[u64]| Owned { library, raw: library.import(limbs) };
        let block = items.block();
        let numbers = part.start * block..items.workload.count.min(part.end * block);
        let mut columns = Columns {
            library,
            op: items.workload.op,
            modulus: number(items.first.modulus(0)),
            a: numbers.clone().map(|item| number(items.first.a.get(item))).collect(),
            b: numbers.clone().map(|item| number(items.first.b.get(item))).collect(),
            second: (numbers.clone())
                .map(|item| [number(items.second.a.get(item)), number(items.second.b.get(item))])
                .collect(),
            table: Vec::new(),
            digits: Vec::new(),
            answers: part.map(|_| number(&[])).collect(),
            product: number(&[]),
            other: number(&[]),
        };
        if matches!(columns.op, ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime) {
            let bits = items.workload.exponent_bits;
            let places = |window: usize| bits.div_ceil(window);
            let fits =
                |window: &usize| (places(*window) * (items.workload.bits / 8)) << *window <= MOST_BYTES;
            let window = (1..=10).filter(fits).min_by_key(|&window| places(window)).unwrap_or(1);
            let digit = |exponent: &[u64], place: usize| bits_at(exponent, place * window, window as u32);
            let digits = |item: usize| {
                (0..places(window)).map(|place| digit(items.first.b.get(item), place) as usize).collect()
            };
            columns.digits = numbers.map(digits).collect();
            columns.fill_table(number(items.first.a.get(0)), places(window), 1 << window);
        }
        Ok(Box::new(columns))
    }
}

/// The numbers of some items.
struct Columns<'a, L: Integers> {
    library: &'a L,
    op: ColumnOp,
    modulus: Owned<'a, L>,
    a: Vec<Owned<'a, L>>,
    b: Vec<Owned<'a, L>>,
    second: Vec<[Owned<'a, L>; 2]>,
    /// The powers of a fixed base: for each place of a window those of all digits.
    table: Vec<Vec<Owned<'a, L>>>,
    /// The digits of each exponent, the lowest first.
    digits: Vec<Vec<usize>>,
    answers: Vec<Owned<'a, L>>,
    product: Owned<'a, L>,
    other: Owned<'a, L>,
}

// SAFETY: a worker owns its numbers, and `Integers` lets any one thread at a time use them.
unsafe impl<L: Integers> Send for Columns<'_, L> {}

impl<'a, L: Integers> Columns<'a, L> {
    /// `base^(d entries^place)` for all digits d of all places.
    fn fill_table(&mut self, base: Owned<'a, L>, places: usize, entries: usize) {
        let (library, modulus) = (self.library, &raw const self.modulus.raw);
        let mut base = base;
        for _ in 0..places {
            let mut powers = vec![Owned { library, raw: library.import(&[1]) }];
            for entry in 0..entries {
                let mut next = Owned { library, raw: library.import(&[]) };
                // SAFETY: `import` made all of these numbers, and the modulus is not zero.
                unsafe {
                    library.mul()(
                        &raw mut self.product.raw,
                        &raw const powers[entry].raw,
                        &raw const base.raw,
                    );
                    library.modulo()(&raw mut next.raw, &raw const self.product.raw, modulus);
                }
                powers.push(next);
            }
            // The power of `entries` is the base of the next place.
            base = powers.pop().expect("there is at least the number one");
            self.table.push(powers);
        }
    }
}

impl<L: Integers> Worker for Columns<'_, L> {
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
        let (mul, modulo) = (self.library.mul(), self.library.modulo());
        let (power, add_mul) = (self.library.power(), self.library.add_mul());
        let modulus = &raw const self.modulus.raw;
        for item in items {
            let (answer, product) = (&raw mut self.answers[item].raw, &raw mut self.product.raw);
            let numbers = item * BLOCK..self.a.len().min((item + 1) * BLOCK);
            // SAFETY: `import` made all of these numbers. Those that are written to are not shared, and the
            // modulus is not zero.
            unsafe {
                match self.op {
                    ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime => {
                        let places = self.table.iter().zip(&self.digits[item]);
                        for (place, (entries, &digit)) in places.enumerate() {
                            let entry = &raw const entries[digit].raw;
                            if place == 0 {
                                modulo(answer, entry, modulus);
                            } else {
                                mul(product, answer, entry);
                                modulo(answer, product, modulus);
                            }
                        }
                    }
                    ColumnOp::MultiPow => {
                        let [base, exponent] = &self.second[item];
                        power(answer, &raw const self.a[item].raw, &raw const self.b[item].raw, modulus);
                        power(&raw mut self.other.raw, &raw const base.raw, &raw const exponent.raw, modulus);
                        mul(product, answer, &raw const self.other.raw);
                        modulo(answer, product, modulus);
                    }
                    ColumnOp::ProductMod => {
                        for number in numbers {
                            let factor = &raw const self.a[number].raw;
                            if number == item * BLOCK {
                                modulo(answer, factor, modulus);
                            } else {
                                mul(product, answer, factor);
                                modulo(answer, product, modulus);
                            }
                        }
                    }
                    ColumnOp::SumProducts => {
                        for number in numbers {
                            let (a, b) = (&raw const self.a[number].raw, &raw const self.b[number].raw);
                            if number == item * BLOCK { mul(product, a, b) } else { add_mul(product, a, b) }
                        }
                        modulo(answer, product, modulus);
                    }
                }
            }
        }
        Ok(())
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        self.library.export(&self.answers[item].raw, limbs)
    }
}
