//! Sums of all numbers of a column modulo one number, added before they are reduced.

use crate::Engine;
use crate::call::Call;
use crate::engine::{check_huge_widths, common_length};
use crate::on_host::{OnHost, with_view};
use crate::place::Place;
use modmill_core::{Batch, BatchView, Error, Modulus, Operand, limbs};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Limbs of products that are computed before they are added up, about.
const PRODUCT_LIMBS: usize = 1 << 22;

/// Numbers that a thread adds up, at least.
const GRAIN: usize = 256;

impl<P: Place> Engine<P> {
    /// The sum of all numbers of `column` modulo one number, as a batch of one number. An empty column
    /// gives 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let column = Batch::from_hex(["3", "5", "fffffffa"])?;
    /// let sum = Engine::new()?.sum_mod(&column, &Modulus::from_hex("fffffffb")?)?;
    /// assert_eq!(sum.as_limbs(), [7]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn sum_mod<'a>(
        &self,
        column: impl Into<Operand<'a>>,
        modulus: &'a Modulus,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Call::ColumnSum(column.into(), modulus))
    }

    /// The sum of the products `a_i b_i` modulo one number, as a batch of one number. An empty column
    /// gives 0. The time depends on the declared widths and on the number of items alone.
    ///
    /// The products are added before they are reduced, so that the sum is divided once.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (a, b) = (Batch::from_hex(["3", "5"])?, Batch::from_hex(["fffffffa", "2"])?);
    /// let sum = Engine::new()?.sum_products(&a, &b, &Modulus::from_hex("fffffffb")?)?;
    /// assert_eq!(sum.as_limbs(), [7]); // 10 - 3
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn sum_products<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        modulus: &'a Modulus,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Call::SumProducts(a.into(), b.into(), modulus))
    }
}

impl Engine {
    pub(crate) fn add_column(&self, column: Operand<'_>, modulus: &Modulus) -> Result<Batch, Error> {
        self.check_column(column)?;
        let column = OnHost::of(column)?;
        let sum = with_view(column.operand(), |view| Ok(self.sum(view)))?;
        self.reduce_sum(&sum, modulus)
    }

    pub(crate) fn add_products(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<Batch, Error> {
        let count = common_length(&[("a", a.len()), ("b", b.len())])?;
        check_huge_widths(&[("a", a.bits()), ("b", b.bits())])?;
        let stride = (a.bits() + b.bits()).div_ceil(64);
        let mut total = Zeroizing::new(vec![0; stride + 1]);
        let chunk = (PRODUCT_LIMBS / stride.max(1)).max(1);
        for start in (0..count).step_by(chunk) {
            let items = start..count.min(start + chunk);
            let products = self.mul(a.slice(items.clone()), b.slice(items))?;
            limbs::add_assign(&mut total, &self.sum(products.view()));
        }
        self.reduce_sum(&total, modulus)
    }

    /// The sum of all numbers, with a limb more than they have.
    fn sum(&self, numbers: BatchView<'_>) -> Zeroizing<Vec<u64>> {
        let stride = numbers.bits().div_ceil(64);
        let zero = || Zeroizing::new(vec![0; stride + 1]);
        if stride == 0 {
            return zero();
        }
        let add = |mut sum: Zeroizing<Vec<u64>>, number: &[u64]| {
            limbs::add_assign(&mut sum, number);
            sum
        };
        let limbs = numbers.as_limbs();
        if numbers.len() <= GRAIN {
            return limbs.chunks_exact(stride).fold(zero(), add);
        }
        let numbers = limbs.par_chunks_exact(stride).with_min_len(GRAIN);
        self.install(|| numbers.fold(zero, add).reduce(zero, |sum, other| add(sum, &other)))
    }

    fn reduce_sum(&self, sum: &[u64], modulus: &Modulus) -> Result<Batch, Error> {
        self.reduce(Operand::Shared { bits: 64 * sum.len(), value: sum }, modulus)
    }
}
