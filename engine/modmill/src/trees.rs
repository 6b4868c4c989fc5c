//! Product trees and remainder trees of public numbers
//! ([derivation](https://github.com/modmill/modmill/blob/main/docs/algorithms/trees.md)).
//!
//! A product tree has the products of ever larger groups of a column, up to the product of all. With it, one
//! number is reduced modulo every number of the column in little more time than some products of its length
//! take, and sums of fractions over the column are joined in the same way. [`batch_gcd`] finds the numbers
//! that share a factor with any other of the column.
//!
//! Every level of a tree is one batch, whose products the engine plans and computes as all others: on GPUs
//! where that is faster. The numbers are public: the time of divisors depends on their values.
//!
//! An engine that is watched ([`Engine::watched_by`]) counts the column once for every level on the way up
//! and on the way down ([`BatchGcdSteps`]), and stops between two levels.

mod fractions;
mod levels;
mod rows;
mod smooth;
mod steps;

use crate::Engine;
use crate::engine::{check_huge_widths, finish};
use crate::near::{OnHost, with_view};
use modmill_core::{Batch, BatchView, Error, ItemError, ItemErrorKind, Modulus, Operand, limbs};
use steps::Steps;

pub use smooth::smooth_parts;
pub use steps::{BatchGcdSteps, Phase};

/// The products of a column of numbers, level by level.
///
/// A number that is zero is left out, as if it were one. What is computed number by number names it as a
/// failed item.
///
/// ```
/// use modmill::trees::ProductTree;
/// use modmill::{Batch, Engine};
///
/// let engine = Engine::new()?;
/// let tree = ProductTree::new(&engine, &Batch::from_hex(["3", "5", "7"])?)?;
/// assert_eq!(tree.product().to_hex(0), "69"); // 105
/// let number = Batch::from_hex(["65"])?; // 101
/// assert_eq!(tree.remainders(&engine, number.shared(0))?.as_limbs(), [2, 1, 3]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub struct ProductTree {
    /// From the root to the leaves. Node j of a level of n nodes has the leaves whose index is j modulo n. A
    /// width is a whole number of limbs.
    levels: Vec<Batch>,
    /// The declared width of the column.
    bits: usize,
    /// The numbers that are zero, by rising index.
    zeros: Vec<ItemError>,
}

impl ProductTree {
    /// The tree of a column.
    pub fn new<'a>(engine: &Engine, column: impl Into<Operand<'a>>) -> Result<Self, Error> {
        let column = column.into();
        check_huge_widths(&[("column", column.bits())])?;
        with_view(OnHost::of(column)?.operand(), |column| {
            let (leaves, zeros) = leaves(column)?;
            let steps = Steps::new(engine, leaves.len());
            Ok(Self { levels: levels::products(&steps, leaves)?, bits: column.bits(), zeros })
        })
    }

    /// The product of the column, as a batch of one number. An empty column has the product 1.
    #[must_use]
    pub fn product(&self) -> &Batch {
        &self.levels[0]
    }

    /// The number of numbers in the column.
    #[must_use]
    pub fn len(&self) -> usize {
        self.leaves().len()
    }

    /// Whether the column is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers that are zero, by rising index. Products leave them out.
    #[must_use]
    pub fn zeros(&self) -> &[ItemError] {
        &self.zeros
    }

    /// Bytes of memory that the tree takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| 8 * level.as_limbs().len()).sum()
    }

    /// A number modulo every number of the column.
    ///
    /// # Errors
    /// [`Error::Items`] names the numbers of the column that are zero, and has the other remainders.
    pub fn remainders<'a>(&self, engine: &Engine, number: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let number = OnHost::of(number.into())?;
        if let Some(found) = number.operand().len().filter(|&found| found != 1) {
            return Err(Error::LengthMismatch { what: "the number", expected: 1, found });
        }
        match self.is_empty() {
            true => Batch::try_zeros(self.bits, 0),
            false => self.answer(self.reduce(engine, number.operand())?),
        }
    }

    /// The sum of `a_i Z / N_i` over the column N with the product Z, as a batch of one number that is below
    /// `n Z` for n numbers. Only `a_i` modulo `N_i` counts.
    ///
    /// ```
    /// use modmill::trees::ProductTree;
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let tree = ProductTree::new(&engine, &Batch::from_hex(["3", "5"])?)?;
    /// // 2 * 5 + 4 * 3
    /// assert_eq!(tree.combine(&engine, &Batch::from_hex(["2", "4"])?)?.to_hex(0), "16");
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn combine<'a>(&self, engine: &Engine, numerators: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let numerators = numerators.into();
        if let Some(found) = numerators.len().filter(|&found| found != self.len()) {
            return Err(Error::LengthMismatch { what: "numerators", expected: self.len(), found });
        }
        if self.is_empty() {
            return Batch::try_zeros(1, 1);
        }
        let numerators = engine.watched_by(None).reduce(numerators, self.leaves())?;
        levels::sums(&Steps::new(engine, self.len()), &self.levels, numerators)
    }

    /// `gcd(N_i, M Z / N_i)` for every number `N_i` of the column with the product Z: the factors that it
    /// shares with any other number of the column, or with the product M of numbers that are not in the
    /// column. It is as wide as the column.
    ///
    /// # Errors
    /// [`Error::Items`] names the numbers that are zero, and has the other divisors.
    ///
    /// ```
    /// use modmill::trees::ProductTree;
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// // 3 * 5, 5 * 7, 11 * 13, beside 3 * 13
    /// let tree = ProductTree::new(&engine, &Batch::from_hex(["f", "23", "8f"])?)?;
    /// let others = Batch::from_hex(["27"])?;
    /// assert_eq!(tree.shared_factors(&engine, &others)?.as_limbs(), [15, 5, 13]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn shared_factors<'a>(
        &self,
        engine: &Engine,
        others: impl Into<Operand<'a>>,
    ) -> Result<Batch, Error> {
        let others = OnHost::of(others.into())?;
        if let Some(found) = others.operand().len().filter(|&found| found != 1) {
            return Err(Error::LengthMismatch { what: "the product of others", expected: 1, found });
        }
        self.divisors(engine, &self.cofactors(engine, Some(others.operand()))?)
    }

    /// `gcd(N_i, a_i)` for every number `N_i` of the column.
    fn divisors(&self, engine: &Engine, numbers: &Batch) -> Result<Batch, Error> {
        self.answer(engine.gcd(numbers, self.leaves())?.into_bits(self.bits)?)
    }

    /// `M Z / N_i` modulo `N_i`, for the product M of other numbers. Without M, it is the sum of all
    /// `Z / N_i` modulo `N_i`.
    fn cofactors(&self, engine: &Engine, others: Option<Operand<'_>>) -> Result<Batch, Error> {
        if self.is_empty() {
            return Batch::try_zeros(self.bits, 0);
        }
        let mut ones = Batch::try_zeros(1, self.len())?;
        ones.as_limbs_mut().fill(1);
        let mut sum = levels::sums(&Steps::new(engine, self.len()), &self.levels, ones)?;
        if let Some(others) = others {
            let z = Modulus::new(self.product().get(0))?;
            sum = engine.watched_by(None).mul_mod(&sum, others, &z)?;
        }
        self.reduce(engine, sum.shared(0))
    }

    /// A number modulo every number of the column, those that are zero counted as one.
    fn reduce(&self, engine: &Engine, number: Operand<'_>) -> Result<Batch, Error> {
        let steps = Steps::new(engine, self.len());
        fractions::remainders(&steps, &self.levels, number)?.into_bits(self.bits)
    }

    fn leaves(&self) -> &Batch {
        self.levels.last().expect("a tree has a level")
    }

    /// Answers number by number, without those of zeros.
    fn answer(&self, mut answers: Batch) -> Result<Batch, Error> {
        self.zeros.iter().for_each(|zero| answers.get_mut(zero.index).fill(0));
        finish(answers, self.zeros.clone())
    }
}

/// `gcd(N_i, Z / N_i)` for every number `N_i` of a column with the product Z: the factors that it shares with
/// any other number of the column, as a batch as wide as the column. Two equal numbers share all of their
/// factors.
///
/// # Errors
/// [`Error::Items`] names the numbers that are zero, and has the other divisors.
///
/// ```
/// use modmill::{Batch, Engine, trees};
///
/// // 3 * 5, 5 * 7, 11 * 13
/// let moduli = Batch::from_hex(["f", "23", "8f"])?;
/// assert_eq!(trees::batch_gcd(&Engine::new()?, &moduli)?.as_limbs(), [5, 5, 1]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn batch_gcd<'a>(engine: &Engine, moduli: impl Into<Operand<'a>>) -> Result<Batch, Error> {
    let tree = ProductTree::new(engine, moduli)?;
    tree.divisors(engine, &tree.cofactors(engine, None)?)
}

/// The product of a column, as a batch of one number. An empty column has the product 1.
///
/// # Errors
/// [`Error::Items`] names the numbers that are zero, and has the product of the others.
///
/// ```
/// use modmill::{Batch, Engine, trees};
///
/// let column = Batch::from_hex(["3", "5", "7"])?;
/// assert_eq!(trees::product(&Engine::new()?, &column)?.to_hex(0), "69"); // 105
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn product<'a>(engine: &Engine, column: impl Into<Operand<'a>>) -> Result<Batch, Error> {
    let ProductTree { mut levels, zeros, .. } = ProductTree::new(engine, column)?;
    finish(levels.swap_remove(0), zeros)
}

/// The number x below the product Z of the moduli with `x = r_i` modulo every `N_i`, as a batch of one
/// number. The moduli are coprime to each other.
///
/// # Errors
/// [`Error::Items`] names the moduli that are zero or share a factor with another one. It has no answer.
///
/// ```
/// use modmill::{Batch, Engine, trees};
///
/// let (residues, moduli) = (Batch::from_hex(["2", "3", "2"])?, Batch::from_hex(["3", "5", "7"])?);
/// assert_eq!(trees::crt(&Engine::new()?, &residues, &moduli)?.as_limbs(), [23]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn crt<'a>(
    engine: &Engine,
    residues: impl Into<Operand<'a>>,
    moduli: impl Into<Operand<'a>>,
) -> Result<Batch, Error> {
    let (residues, tree) = (residues.into(), ProductTree::new(engine, moduli)?);
    let nothing = |failed| Error::items(Batch::zeros(tree.product().bits(), 1), failed);
    if !tree.zeros.is_empty() {
        return Err(nothing(tree.zeros.clone()));
    }
    if tree.is_empty() {
        return Batch::try_zeros(1, 1);
    }
    let inverses = match engine.inv(&tree.cofactors(engine, None)?, tree.leaves()) {
        Err(Error::Items(mut partial)) => {
            partial.failed.iter_mut().for_each(|item| item.kind = ItemErrorKind::NotCoprime);
            return Err(nothing(partial.failed));
        }
        inverses => inverses?,
    };
    let numerators = engine.mul_mod(residues, &inverses, tree.leaves())?;
    let sum = tree.combine(engine, &numerators)?;
    engine.reduce(&sum, &Modulus::new(tree.product().get(0))?)
}

/// The leaves of a tree: numbers of whole limbs, with ones instead of zeros, and the items that are zero.
fn leaves(column: BatchView<'_>) -> Result<(Batch, Vec<ItemError>), Error> {
    let mut leaves = Batch::try_zeros(64 * column.bits().div_ceil(64).max(1), column.len())?;
    let mut zeros = Vec::new();
    for (index, number) in column.iter().enumerate() {
        let leaf = leaves.get_mut(index);
        leaf[..number.len()].copy_from_slice(number);
        if limbs::bit_length(number) == 0 {
            leaf[0] = 1;
            zeros.push(ItemError { index, kind: ItemErrorKind::ZeroModulus });
        }
    }
    Ok((leaves, zeros))
}
