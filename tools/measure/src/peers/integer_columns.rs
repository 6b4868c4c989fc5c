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
            ColumnOp::BatchGcd => "fastgcd: mul, mod squares, gcd",
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
            compared: items.compared(),
            answers: match items.workload.op {
                ColumnOp::BatchGcd => numbers.clone().map(|_| number(&[])).collect(),
                _ => part.map(|_| number(&[])).collect(),
            },
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
    /// The items of a batch gcd whose answers are compared.
    compared: Vec<usize>,
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

impl<'a, L: Integers> Columns<'a, L> {
    /// The method of fastgcd: a product tree, the product of all modulo the square of every node on the way
    /// down, a division, and a gcd.
    fn batch_gcd(&mut self) {
        let library = self.library;
        let (mul, modulo, gcd, divide) = (library.mul(), library.modulo(), library.gcd(), library.divide());
        let new = || Owned { library, raw: library.import(&[]) };
        // Products of neighbours; a last one without a partner goes up as it is.
        let mut levels: Vec<Vec<Owned<'a, L>>> = Vec::new();
        loop {
            let below = levels.last().unwrap_or(&self.a);
            if below.len() < 2 {
                break;
            }
            let one = Owned { library, raw: library.import(&[1]) };
            let join = |pair: &[Owned<'a, L>]| {
                let mut product = new();
                let second = pair.get(1).unwrap_or(&one);
                // SAFETY: `import` made all of these numbers, and the one that is written to is not shared.
                unsafe { mul(&raw mut product.raw, &raw const pair[0].raw, &raw const second.raw) };
                product
            };
            let level = below.chunks(2).map(join).collect();
            levels.push(level);
        }
        let mut rests = levels.pop().unwrap_or_default();
        let mut square = new();
        for below in (0..=levels.len()).rev() {
            let nodes = below.checked_sub(1).map_or(&self.a, |level| &levels[level]);
            let reduce = |(index, node): (usize, &Owned<'a, L>)| {
                let mut rest = new();
                let above = rests.get(index / 2).unwrap_or(node);
                // SAFETY: as above; no number is zero.
                unsafe {
                    mul(&raw mut square.raw, &raw const node.raw, &raw const node.raw);
                    modulo(&raw mut rest.raw, &raw const above.raw, &raw const square.raw);
                }
                rest
            };
            rests = nodes.iter().enumerate().map(reduce).collect();
        }
        for ((answer, rest), number) in self.answers.iter_mut().zip(&rests).zip(&self.a) {
            // SAFETY: as above.
            unsafe {
                divide(
                    &raw mut self.product.raw,
                    &raw mut self.other.raw,
                    &raw const rest.raw,
                    &raw const number.raw,
                );
                gcd(&raw mut answer.raw, &raw const self.product.raw, &raw const number.raw);
            }
        }
    }
}

impl<L: Integers> Worker for Columns<'_, L> {
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
        let (mul, modulo) = (self.library.mul(), self.library.modulo());
        let (power, add_mul) = (self.library.power(), self.library.add_mul());
        let modulus = &raw const self.modulus.raw;
        if self.op == ColumnOp::BatchGcd {
            self.batch_gcd();
            return Ok(());
        }
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
                    ColumnOp::BatchGcd => {}
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
        match self.op {
            ColumnOp::BatchGcd => self
                .compared
                .iter()
                .flat_map(|&item| self.library.export(&self.answers[item].raw, limbs))
                .collect(),
            _ => self.library.export(&self.answers[item].raw, limbs),
        }
    }
}
