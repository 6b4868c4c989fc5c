//! Sums of all numbers of a column modulo one number, added before they are reduced.

use crate::Engine;
use crate::column::check_column;
use crate::engine::{check_huge_widths, common_length};
use crate::modular::Modular;
use crate::near::{OnHost, with_view};
use crate::place::{Operation, Place};
use modmill_core::{Answers, BatchView, Error, Modulus, Op, Operand, Request, limbs};
use modmill_cpu::threads::Share;
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
        P::answer(self, &Sum { column: column.into(), modulus })
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
        P::answer(self, &SumOfProducts { a: a.into(), b: b.into(), modulus })
    }
}

/// The sum of a column.
struct Sum<'a> {
    column: Operand<'a>,
    modulus: &'a Modulus,
}

impl Operation for Sum<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let count = check_column(self.column)?;
        answers.check(self.modulus.bits(), 1)?;
        let request = Request { terms: count, ..Request::new(Op::SumMod, self.column.bits(), 1) };
        let plan = engine.backends().plan_on_cpu(&request.one_modulus())?;
        if let Answers::Plan(slot) = answers {
            *slot = Some(plan);
            return Ok(());
        }
        engine.cpu().note(&plan);
        let column = OnHost::of(self.column)?;
        let sum = with_view(column.operand(), |view| Ok(engine.sum(view)))?;
        reduced(&sum, self.modulus).compute(engine, answers)
    }
}

/// The sum of the products of two columns.
struct SumOfProducts<'a> {
    a: Operand<'a>,
    b: Operand<'a>,
    modulus: &'a Modulus,
}

impl Operation for SumOfProducts<'_> {
    /// The plan is that of the products, which are added up before they are reduced.
    fn compute(&self, engine: &Engine, mut answers: Answers<'_>) -> Result<(), Error> {
        let &Self { a, b, modulus } = self;
        let count = common_length(&[("a", a.len()), ("b", b.len())])?;
        check_huge_widths(&[("a", a.bits()), ("b", b.bits())])?;
        answers.check(modulus.bits(), 1)?;
        let stride = (a.bits() + b.bits()).div_ceil(64);
        let mut total = Zeroizing::new(vec![0; stride + 1]);
        let chunk = (PRODUCT_LIMBS / stride.max(1)).max(1);
        for start in (0..count).step_by(chunk) {
            let items = start..count.min(start + chunk);
            let (a, b) = (a.slice(items.clone()), b.slice(items));
            if let Answers::Plan(slot) = &mut answers {
                **slot = Some(engine.ask().mul(a, b)?);
                return Ok(());
            }
            let products = engine.mul(a, b)?;
            limbs::add_assign(&mut total, &engine.sum(products.view()));
        }
        reduced(&total, modulus).compute(engine, answers)
    }
}

/// The remainder of a sum.
fn reduced<'a>(sum: &'a [u64], modulus: &'a Modulus) -> Modular<'a> {
    let one = Operand::Shared { bits: 1, value: &[1] };
    Modular::product(Operand::Shared { bits: 64 * sum.len(), value: sum }, one, modulus.into())
}

impl Engine {
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
        let is_long = numbers.len() > GRAIN;
        let numbers = limbs.par_chunks_exact(stride).with_min_len(GRAIN);
        self.cpu().install_if(is_long, || numbers.sum_by(zero, add, |sum, other| add(sum, &other)))
    }
}
