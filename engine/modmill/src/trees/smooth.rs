//! The parts of numbers that are made of given primes (Bernstein, "How to find smooth parts of integers",
//! 2004).

use super::ProductTree;
use crate::Engine;
use modmill_core::{Batch, Error, Operand};

/// The largest divisor of each number of a column that is a product of the primes of a tree, as a batch as
/// wide as the column. Each prime may divide a number more than once.
///
/// The product of the primes is reduced modulo every number by a tree of the numbers, and squared modulo each
/// until every prime is there more often than it can divide: a number of b bits takes `log2(b)` squares.
///
/// # Errors
/// [`Error::Items`] names the numbers that are zero, and has the other parts.
///
/// ```
/// use modmill::trees::{ProductTree, smooth_parts};
/// use modmill::{Batch, Engine};
///
/// let engine = Engine::new()?;
/// let primes = ProductTree::new(&engine, &Batch::from_hex(["2", "3", "5", "7"])?)?;
/// // 2^3 * 11, 3^2 * 7, 13
/// let numbers = Batch::from_hex(["58", "3f", "d"])?;
/// assert_eq!(smooth_parts(&engine, &numbers, &primes)?.as_limbs(), [8, 63, 1]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn smooth_parts<'a>(
    engine: &Engine,
    numbers: impl Into<Operand<'a>>,
    primes: &ProductTree,
) -> Result<Batch, Error> {
    let tree = ProductTree::new(engine, numbers)?;
    if tree.is_empty() {
        return tree.answer(Batch::try_zeros(tree.bits, 0)?);
    }
    let mut powers = tree.reduce(engine, primes.product().shared(0))?;
    // A number below `2^b` has no prime more than b - 1 times. The power has each prime `2^e` times.
    for _ in 0..tree.bits.next_power_of_two().trailing_zeros() {
        powers = engine.watched_by(None).square_mod(&powers, tree.leaves())?;
    }
    tree.divisors(engine, &powers)
}
