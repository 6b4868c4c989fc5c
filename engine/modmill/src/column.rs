//! Products of all numbers of a column modulo one number.

use crate::Engine;
use crate::engine::{check_huge_widths, common_length};
use crate::modular::Modular;
use crate::multi_pow::ProductOfPowers;
use crate::place::{Operation, Place};
use crate::sort::is_for_kernels;
use modmill_core::{
    Answers, Backend, Batch, Call, ColumnProducts, Error, Exponent, Modulus, Operand, Resident,
};
use std::ops::Range;

/// Powers whose squarings are shared in products of powers of a column.
const TOGETHER: usize = 16;

impl<P: Place> Engine<P> {
    /// The product of all numbers of `column` modulo one number, as a batch of one number. An empty column
    /// gives 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let column = Batch::from_hex(["3", "5", "fffffffa", "2"])?;
    /// let product = Engine::new()?.product_mod(&column, &Modulus::from_hex("fffffffb")?)?;
    /// assert_eq!(product.as_limbs(), [0xffff_fffb - 30]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn product_mod<'a>(
        &self,
        column: impl Into<Operand<'a>>,
        modulus: &'a Modulus,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Products { column: column.into(), group: None, modulus })
    }

    /// The products of consecutive groups of `group` numbers of `column` modulo one number. The last group
    /// may be smaller.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let column = Batch::from_hex(["3", "5", "7", "9", "b"])?;
    /// let products = Engine::new()?.products_mod(&column, 2, &Modulus::from_hex("fffffffb")?)?;
    /// assert_eq!(products.as_limbs(), [15, 63, 11]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn products_mod<'a>(
        &self,
        column: impl Into<Operand<'a>>,
        group: usize,
        modulus: &'a Modulus,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Products { column: column.into(), group: Some(group), modulus })
    }

    /// The product of the powers `base_i^exponent_i` over all items modulo one number, as a batch of one
    /// number. Constant-time in bases and exponents. Without items the answer is 1.
    ///
    /// Sixteen items share their squarings ([`Engine::multi_pow`]), and the products of all sixteens are
    /// multiplied ([`Engine::product_mod`]).
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (bases, exponents) = (Batch::from_hex(["3", "5", "7"])?, Batch::from_hex(["4", "2", "1"])?);
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let product = Engine::new()?.product_of_powers(&bases, &exponents, &modulus)?;
    /// assert_eq!(product.as_limbs(), [81 * 25 * 7]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn product_of_powers<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Exponent<'a>>,
        modulus: &'a Modulus,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &ColumnPowers { bases: bases.into(), exponents: exponents.into(), modulus })
    }
}

/// Products of a column's groups, or of the whole column.
struct Products<'a> {
    column: Operand<'a>,
    /// Numbers of a group; all of the column if there is none.
    group: Option<usize>,
    modulus: &'a Modulus,
}

impl Operation for Products<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let &Self { column, group, modulus } = self;
        let count = check_column(column)?;
        if group == Some(0) {
            let what = "the size of a group";
            return Err(Error::OutOfRange { what, value: 0, least: 1, most: usize::MAX });
        }
        let products = ColumnProducts { column, group: group.unwrap_or(count).max(1), modulus };
        let groups = group.map_or(1, |_| products.count());
        answers.check(modulus.bits(), groups)?;
        let call = Call::Products(&products);
        let plan = match count > 0 && is_for_kernels(modulus) {
            true => engine.backends().choose(&call.request()?),
            false => None,
        };
        match (plan, answers) {
            (Some(plan), Answers::Plan(slot)) => {
                *slot = Some(plan);
                Ok(())
            }
            (Some(plan), answers) if plan.backend() == Backend::Cpu => {
                engine.backends().run_on_cpu(&plan, call, answers)
            }
            (_, answers) if group.is_none() => engine.product_tree(column, count, modulus, answers),
            (_, answers) => {
                let product = |place: usize| {
                    let start = place * products.group;
                    let part = column.slice(start..count.min(start + products.group));
                    engine.on_host(&Products { column: part, group: None, modulus })
                };
                let found =
                    (0..groups).try_fold(Batch::try_zeros(modulus.bits(), groups)?, |mut all, place| {
                        all.get_mut(place).copy_from_slice(product(place)?.get(0));
                        Ok(all)
                    });
                engine.backends().put(found, answers)
            }
        }
    }
}

/// The product of the powers of a column.
struct ColumnPowers<'a> {
    bases: Operand<'a>,
    exponents: Exponent<'a>,
    modulus: &'a Modulus,
}

impl Operation for ColumnPowers<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let &Self { bases, exponents: Exponent { numbers: exponents, secrecy }, modulus } = self;
        let count = common_length(&[("bases", bases.len()), ("exponents", exponents.len())])?;
        check_huge_widths(&[("bases", bases.bits()), ("exponents", exponents.bits())])?;
        answers.check(modulus.bits(), 1)?;
        // Power k of product i belongs to item `k rows + i`.
        let rows = count / TOGETHER;
        let powers = |items: Range<usize>, rows: usize, answers: Answers<'_>| {
            let (bases, exponents) = (parts(bases, items.clone(), rows), parts(exponents, items, rows));
            let moduli = modulus.into();
            ProductOfPowers { bases: &bases, exponents: &exponents, secrecy, moduli }.compute(engine, answers)
        };
        let (most, left_over) = (0..rows * TOGETHER, rows * TOGETHER..count);
        // The items that are left over are one product.
        match (rows, answers) {
            (0, answers) => powers(left_over, 1, answers),
            (_, answers @ Answers::Plan(_)) => powers(most, rows, answers),
            (_, answers) => {
                let (mut products, mut last) = (Batch::zeros(0, 0), Batch::zeros(0, 0));
                powers(most, rows, Answers::New(&mut products))?;
                powers(left_over, 1, Answers::New(&mut last))?;
                let product = engine.product_mod(&products, modulus)?;
                Modular::product((&last).into(), (&product).into(), modulus.into()).compute(engine, answers)
            }
        }
    }
}

/// The number of a column's items.
pub(crate) fn check_column(column: Operand<'_>) -> Result<usize, Error> {
    check_huge_widths(&[("column", column.bits())])?;
    Ok(column.len().unwrap_or(1))
}

impl Engine {
    /// The product of a column by a tree of batches, each half as long, which stay where the column is.
    fn product_tree(
        &self,
        column: Operand<'_>,
        count: usize,
        modulus: &Modulus,
        answers: Answers<'_>,
    ) -> Result<(), Error> {
        let product = |a: Operand<'_>, b: Operand<'_>, answers: Answers<'_>| {
            Modular::product(a, b, modulus.into()).compute(self, answers)
        };
        let index = if let Answers::Device(_, index) = &answers { *index } else { None };
        let multiply =
            |a: Operand<'_>, b: Operand<'_>| self.kept(&Modular::product(a, b, modulus.into()), index);
        let one = Operand::Shared { bits: 1, value: &[1] };
        if count <= 1 || matches!(answers, Answers::Plan(_)) {
            return product(if count == 0 { one } else { column }, one, answers);
        }
        // The numbers without a partner, one for each odd level at most.
        let mut alone: Vec<Resident> = Vec::new();
        let (mut level, mut len): (Option<Resident>, usize) = (None, count);
        while len > 1 {
            let numbers = level.as_ref().map_or(column, Operand::from);
            if len % 2 == 1 {
                alone.push(multiply(numbers.slice(len - 1..len), one)?);
            }
            len /= 2;
            level = Some(multiply(numbers.slice(0..len), numbers.slice(len..2 * len))?);
        }
        for number in &alone {
            let numbers = level.as_ref().map_or(one, Operand::from);
            level = Some(multiply(numbers, number.into())?);
        }
        match (level, answers) {
            (Some(product), Answers::Device(slot, _)) => *slot = Some(product),
            (product, answers) => {
                let product = product.ok_or(Error::Unavailable("a column without numbers".to_owned()))?;
                self.backends().put(product.download(), answers)?;
            }
        }
        Ok(())
    }
}

/// Some items of an operand in parts of `size` items, which divides their number.
fn parts(operand: Operand<'_>, items: Range<usize>, size: usize) -> Vec<Operand<'_>> {
    items.step_by(size.max(1)).map(|start| operand.slice(start..start + size)).collect()
}
