//! Words of gates: sums, products, comparisons and choices.

mod add;
mod bitwise;
mod compare;
mod count;
mod multiply;
mod table;

#[cfg(test)]
pub(super) mod tests;
