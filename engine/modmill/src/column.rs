//! Products of all numbers of a column modulo one number.

use crate::Engine;
use crate::call::Call;
use crate::engine::{check_huge_widths, common_length};
use crate::modular::Modular;
use crate::on_host::{OnHost, with_view};
use crate::place::Place;
use crate::sort::is_for_kernels;
use modmill_core::{Batch, BatchView, Error, Exponent, Modulus, Op, Operand, Request, Resident};
use std::ops::Range;

/// The least number of factors that a lane multiplies.
const LEAST_FACTORS: usize = 8;

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
        P::answer(self, &Call::ColumnProduct(column.into(), modulus))
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
        P::answer(self, &Call::GroupProducts(column.into(), group, modulus))
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
        let exponents = exponents.into();
        let power = Modular::power(exponents.secrecy);
        P::answer(self, &Call::ColumnPowers(power, bases.into(), exponents.numbers, modulus))
    }
}

impl Engine {
    pub(crate) fn multiply_column(&self, column: Operand<'_>, modulus: &Modulus) -> Result<Batch, Error> {
        let count = self.check_column(column)?;
        if !self.has_lanes(column, count, modulus) {
            return self.product_tree(column, count, modulus)?.download();
        }
        let column = OnHost::of(column)?;
        with_view(column.operand(), |view| match self.product_in_lanes(view, modulus)? {
            Some(product) => Ok(product),
            None => self.product_tree(view.into(), count, modulus)?.download(),
        })
    }

    pub(crate) fn multiply_column_resident(
        &self,
        column: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<Resident, Error> {
        let count = self.check_column(column)?;
        match self.has_lanes(column, count, modulus) {
            true => self.upload_answers(self.multiply_column(column, modulus)?),
            false => self.product_tree(column, count, modulus),
        }
    }

    pub(crate) fn multiply_groups(
        &self,
        column: Operand<'_>,
        group: usize,
        modulus: &Modulus,
    ) -> Result<Batch, Error> {
        let count = self.check_column(column)?;
        if group == 0 {
            let what = "the size of a group";
            return Err(Error::OutOfRange { what, value: group, least: 1, most: usize::MAX });
        }
        let groups = count.div_ceil(group);
        // A few long groups would leave lanes and threads without work.
        let fills_lanes = groups >= self.cpu().lanes() * self.threads() || group <= LEAST_FACTORS;
        if fills_lanes && self.has_lanes(column, count, modulus) {
            let column = OnHost::of(column)?;
            let products =
                with_view(column.operand(), |view| self.cpu().products_of_groups(view, group, modulus))?;
            if let Some(products) = products {
                return Ok(products);
            }
        }
        let mut products = Batch::try_zeros(modulus.bits(), groups)?;
        for place in 0..groups {
            let part = column.slice(place * group..count.min((place + 1) * group));
            products.get_mut(place).copy_from_slice(self.multiply_column(part, modulus)?.get(0));
        }
        Ok(products)
    }

    pub(crate) fn multiply_column_powers(
        &self,
        operation: Modular,
        bases: Operand<'_>,
        exponents: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<Batch, Error> {
        let count = common_length(&[("bases", bases.len()), ("exponents", exponents.len())])?;
        check_huge_widths(&[("bases", bases.bits()), ("exponents", exponents.bits())])?;
        // Power k of product i belongs to item `k rows + i`.
        let rows = count / TOGETHER;
        let powers = |items: Range<usize>, rows: usize| {
            let (bases, exponents) = (parts(bases, items.clone(), rows), parts(exponents, items, rows));
            self.multiply_powers(operation, &bases, &exponents, modulus.into())
        };
        // The items that are left over are one product.
        let left_over = powers(rows * TOGETHER..count, 1)?;
        if rows == 0 {
            return Ok(left_over);
        }
        let product = self.product_mod(&powers(0..rows * TOGETHER, rows)?, modulus)?;
        self.mul_mod(&left_over, &product, modulus)
    }

    pub(crate) fn check_column(&self, column: Operand<'_>) -> Result<usize, Error> {
        check_huge_widths(&[("column", column.bits())])?;
        Ok(column.len().unwrap_or(1))
    }

    /// Whether the CPU multiplies a column in lanes: modulo an odd number that kernels take, unless GPUs are
    /// sooner or have the numbers.
    fn has_lanes(&self, column: Operand<'_>, count: usize, modulus: &Modulus) -> bool {
        if count == 0 || !is_for_kernels(modulus) {
            return false;
        }
        if column.resident().is_some_and(|view| self.cuda().is_some_and(|cuda| cuda.holds(view))) {
            return false;
        }
        let request = Request::new(Op::MulMod, modulus.bits(), count).one_modulus();
        // A modular product is two products of the kernel.
        let seconds = self.cpu().plan(&request).map_or(0.0, |plan| plan.seconds / 2.0);
        !self.backends().prefers_gpus(&request, 1, seconds)
    }

    /// The product of a column by lanes that each multiply a part of it.
    fn product_in_lanes(&self, column: BatchView<'_>, modulus: &Modulus) -> Result<Option<Batch>, Error> {
        // Some parts for each lane of each thread, so that threads that are late leave parts to others.
        let parts = 4 * self.cpu().lanes() * self.threads();
        let product = |column: BatchView<'_>| {
            let part = column.len().div_ceil(parts).max(LEAST_FACTORS);
            self.cpu().products_of_groups(column, part, modulus)
        };
        let mut products = product(column)?;
        while let Some(several) = products.as_ref().filter(|products| products.len() > 1) {
            products = product(several.view())?;
        }
        Ok(products)
    }

    /// The product of a column by a tree of batches, each half as long, which stay where the column is.
    fn product_tree(&self, column: Operand<'_>, count: usize, modulus: &Modulus) -> Result<Resident, Error> {
        let multiply =
            |a: Operand<'_>, b: Operand<'_>| self.modular_resident(Modular::Multiply, a, b, modulus.into());
        let one = Operand::Shared { bits: 1, value: &[1] };
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
        let mut product = match level {
            Some(product) => product,
            None => multiply(if count == 0 { one } else { column }, one)?,
        };
        for number in &alone {
            product = multiply((&product).into(), number.into())?;
        }
        Ok(product)
    }
}

/// Some items of an operand in parts of `size` items, which divides their number.
fn parts(operand: Operand<'_>, items: Range<usize>, size: usize) -> Vec<Operand<'_>> {
    items.step_by(size.max(1)).map(|start| operand.slice(start..start + size)).collect()
}
