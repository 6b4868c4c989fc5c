//! Calls: an operation with its operands. A call is computed the same way for every place of its answers.

use crate::Engine;
use crate::fixed_base::FixedBase;
use crate::modular::Modular;
use crate::prepared::Prepared;
use modmill_core::{Batch, Error, Moduli, Modulus, Operand, Resident, Step};

/// An operation with its operands.
pub enum Call<'a> {
    /// Products, squares and powers modulo numbers.
    Modular(Modular, Operand<'a>, Operand<'a>, Moduli<'a>),
    /// Full products, or squares where there is no second factor.
    Product(Operand<'a>, Option<Operand<'a>>),
    /// Full products with a factor that was transformed before.
    PreparedProduct(Operand<'a>, &'a Prepared),
    /// Sums, differences, shifts, comparisons, choices.
    Step(Step<'a>),
    /// Powers of one base.
    FixedBase(Modular, &'a FixedBase, Operand<'a>),
    /// Products of several powers.
    MultiPow(Modular, &'a [Operand<'a>], &'a [Operand<'a>], Moduli<'a>),
    /// The product of a column.
    ColumnProduct(Operand<'a>, &'a Modulus),
    /// The products of groups of a column.
    GroupProducts(Operand<'a>, usize, &'a Modulus),
    /// The product of the powers of a column.
    ColumnPowers(Modular, Operand<'a>, Operand<'a>, &'a Modulus),
    /// The sum of a column.
    ColumnSum(Operand<'a>, &'a Modulus),
    /// The sum of the products of two columns.
    SumProducts(Operand<'a>, Operand<'a>, &'a Modulus),
    /// Inverses.
    Inverse(Operand<'a>, Moduli<'a>),
    /// Greatest common divisors.
    Gcd(Operand<'a>, Operand<'a>),
}

impl Engine {
    /// Computes a call. The answers are a new batch.
    pub(crate) fn to_host(&self, call: &Call<'_>) -> Result<Batch, Error> {
        match *call {
            Call::Modular(operation, a, b, moduli) => self.modular(operation, a, b, moduli),
            Call::Product(a, b) => self.multiply(a, b),
            Call::PreparedProduct(a, b) => self.multiply_prepared(a, b),
            Call::Step(ref step) => self.step(step),
            Call::FixedBase(operation, fixed, exponents) => self.fixed_powers(operation, fixed, exponents),
            Call::MultiPow(operation, bases, exponents, moduli) => {
                self.multiply_powers(operation, bases, exponents, moduli)
            }
            Call::ColumnProduct(column, modulus) => self.multiply_column(column, modulus),
            Call::GroupProducts(column, group, modulus) => self.multiply_groups(column, group, modulus),
            Call::ColumnPowers(operation, bases, exponents, modulus) => {
                self.multiply_column_powers(operation, bases, exponents, modulus)
            }
            Call::ColumnSum(column, modulus) => self.add_column(column, modulus),
            Call::SumProducts(a, b, modulus) => self.add_products(a, b, modulus),
            Call::Inverse(a, moduli) => self.invert(a, moduli),
            Call::Gcd(a, b) => self.divisors(a, b),
        }
    }

    /// Computes a call. The answers stay on a device.
    pub(crate) fn to_device(&self, call: &Call<'_>) -> Result<Resident, Error> {
        match *call {
            Call::Modular(operation, a, b, moduli) => self.modular_resident(operation, a, b, moduli),
            Call::Product(a, b) => self.multiply_resident(a, b),
            Call::Step(ref step) => self.step_resident(step),
            Call::FixedBase(operation, fixed, exponents) => {
                self.fixed_powers_kept(operation, fixed, exponents)
            }
            Call::ColumnProduct(column, modulus) => self.multiply_column_resident(column, modulus),
            // Devices have no kernels for these. The host computes them.
            Call::PreparedProduct(..)
            | Call::MultiPow(..)
            | Call::GroupProducts(..)
            | Call::ColumnPowers(..)
            | Call::ColumnSum(..)
            | Call::SumProducts(..)
            | Call::Inverse(..)
            | Call::Gcd(..) => self.upload_answers(self.to_host(call)?),
        }
    }

    /// Computes a call. The answers go into a batch of the caller's.
    pub(crate) fn to_batch(&self, call: &Call<'_>, answers: &mut Batch) -> Result<(), Error> {
        match *call {
            Call::Modular(operation, a, b, moduli) => self.modular_into(operation, a, b, moduli, answers),
            Call::Product(a, b) => self.multiply_into(a, b, answers),
            _ => {
                let (found, error) = match self.to_host(call) {
                    Ok(found) => (found, None),
                    Err(Error::Items(partial)) => (partial.answers.try_clone()?, Some(Error::Items(partial))),
                    Err(error) => return Err(error),
                };
                check_answers(answers, found.bits(), found.len())?;
                answers.as_limbs_mut().copy_from_slice(found.as_limbs());
                error.map_or(Ok(()), Err)
            }
        }
    }
}

/// Refuses a batch for answers that does not have the width and the number of items of the answers.
pub(crate) fn check_answers(answers: &Batch, bits: usize, count: usize) -> Result<(), Error> {
    let what = "the batch for answers";
    if answers.len() != count {
        return Err(Error::LengthMismatch { what, expected: count, found: answers.len() });
    }
    match answers.bits() == bits {
        true => Ok(()),
        false => Err(Error::WidthMismatch { what, expected: bits, found: answers.bits() }),
    }
}
