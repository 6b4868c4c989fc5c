//! The factors that moduli share, found in subsets that fit in memory.
//!
//! Let R_j be the product of subset j, and S_j the sum of `R_j / N_i` over its moduli. Modulo R_j the sum
//! over all moduli of `Z / N_i` is `S_j W_j`, where W_j is the product of all other R. So each subset is a
//! tree of its own, to which the other products come modulo R_j, and nothing is larger than a tree.

use crate::Error;
use crate::base::value;
use crate::progress::{Progress, Stage};
use crate::scratch::Scratch;
use crate::widths::{Subset, subsets};
use modmill::trees::ProductTree;
use modmill::{Batch, Engine, Modulus};

/// The most limbs of a subset's product. Products of two of them, and what a division adds, are within the
/// engine's limit.
const MOST_LIMBS: usize = 1 << 26;

/// A comparison of moduli with each other: the engine, and the limits.
pub(crate) struct Forest<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) progress: &'a Progress,
    /// Bytes of memory for trees.
    pub(crate) memory: Option<u64>,
    pub(crate) scratch: Option<&'a Scratch>,
}

/// Products of moduli, one number each, read when they are needed.
pub(crate) trait Roots {
    fn len(&self) -> usize;
    fn root(&self, index: usize) -> Result<Batch, Error>;
}

impl Roots for () {
    fn len(&self) -> usize {
        0
    }

    fn root(&self, _: usize) -> Result<Batch, Error> {
        Ok(Batch::try_zeros(1, 1)?)
    }
}

/// The products of the subsets, in memory or in a scratch folder.
enum Root {
    Here(Batch),
    There,
}

/// The factors that moduli share, and the products of their subsets.
pub(crate) struct Shared {
    /// The moduli that share a factor with any other one, by rising index, and their factors in common with
    /// the product of all others.
    pub(crate) divisors: Vec<(usize, Vec<u64>)>,
    /// The product of each subset.
    pub(crate) roots: Vec<Batch>,
}

impl Forest<'_> {
    /// The most limbs of a subset.
    fn most_limbs(&self) -> usize {
        // A tree has a level for each doubling, at most 2^5 of them; the sums, the fractions and the
        // transforms of the level that is computed take some ten times its length.
        const TIMES: u64 = 40;
        let within = self.memory.map(|bytes| usize::try_from(bytes / 8 / TIMES).unwrap_or(usize::MAX));
        within.unwrap_or(MOST_LIMBS).clamp(1, MOST_LIMBS)
    }

    /// The factors that `count` moduli share with each other and with numbers outside, whose products
    /// `outside` has. `keeps_roots` says whether the products of the subsets are wanted.
    pub(crate) fn shared<'a>(
        &self,
        modulus: impl Fn(usize) -> &'a [u64] + Copy,
        count: usize,
        outside: &impl Roots,
        keeps_roots: bool,
    ) -> Result<Shared, Error> {
        let subsets = subsets((0..count).map(|index| modulus(index).len()), self.most_limbs());
        let mut kept = None;
        let mut roots = Vec::with_capacity(subsets.len());
        for (index, subset) in subsets.iter().enumerate() {
            let stage = (index, subsets.len());
            if let Some(scratch) = self.scratch {
                if !scratch.has_root(subset, modulus)? {
                    let tree = self.tree(subset, modulus, stage)?;
                    scratch.write_root(subset, modulus, tree.product())?;
                }
                roots.push(Root::There);
            } else {
                let tree = self.tree(subset, modulus, stage)?;
                roots.push(Root::Here(tree.product().try_clone()?));
                // A tree that is the only one need not be made twice.
                kept = (subsets.len() == 1).then_some(tree);
            }
        }
        let read = |index: usize| match (&roots[index], self.scratch) {
            (Root::Here(root), _) => Ok(root.try_clone()?),
            (Root::There, Some(scratch)) => scratch.read_root(&subsets[index], modulus),
            (Root::There, None) => Ok(Batch::try_zeros(1, 1)?),
        };
        let mut divisors = Vec::new();
        for (index, subset) in subsets.iter().enumerate() {
            let found = match self
                .scratch
                .map(|scratch| scratch.read_divisors(subset, modulus))
                .transpose()?
                .flatten()
            {
                Some(divisors) => divisors,
                None => {
                    let stage = (index, subsets.len());
                    let tree = kept.take().map_or_else(|| self.tree(subset, modulus, stage), Ok)?;
                    let count = subset.indices.len();
                    self.progress.begin(Stage::Factors { subset: index, subsets: subsets.len(), count });
                    let inside = (0..subsets.len()).filter(|&other| other != index).map(read);
                    let outside = (0..outside.len()).map(|index| outside.root(index));
                    let others = self.product_modulo(&tree, inside.chain(outside))?;
                    let divisors = tree.shared_factors(self.engine, &others)?;
                    self.scratch
                        .map(|scratch| scratch.write_divisors(subset, modulus, &divisors))
                        .transpose()?;
                    divisors
                }
            };
            let above_one = subset.indices.iter().enumerate().filter_map(|(item, &index)| {
                let divisor = value(&found, item);
                (divisor != [1]).then_some((index, divisor))
            });
            divisors.extend(above_one);
        }
        divisors.sort_by_key(|(index, _)| *index);
        let roots =
            if keeps_roots { (0..subsets.len()).map(read).collect::<Result<_, _>>()? } else { Vec::new() };
        Ok(Shared { divisors, roots })
    }

    fn tree<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
        (index, subsets): (usize, usize),
    ) -> Result<ProductTree, Error> {
        self.progress.begin(Stage::Products { subset: index, subsets, count: subset.indices.len() });
        Ok(ProductTree::new(self.engine, &subset.batch(modulus)?)?)
    }

    /// The product of other numbers modulo the product of a tree, as a batch of one number.
    fn product_modulo(
        &self,
        tree: &ProductTree,
        others: impl Iterator<Item = Result<Batch, Error>>,
    ) -> Result<Batch, Error> {
        // These are steps of the tree's root, and not items of their own.
        let engine = self.engine.watched_by(None);
        let mut product = Batch::from_values([[1]]);
        let mut modulus = None;
        for other in others {
            if self.progress.watch().is_stopped() {
                return Err(modmill::Error::Interrupted.into());
            }
            let root = tree.product();
            let modulus = modulus.get_or_insert(Modulus::new(&value(root, 0))?);
            let other = engine.reduce(&other?, &*modulus)?;
            product = engine.mul_mod(&product, &other, &*modulus)?;
        }
        Ok(product)
    }
}
