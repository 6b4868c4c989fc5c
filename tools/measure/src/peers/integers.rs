//! Libraries with an integer type, such as GMP and FLINT. Numbers are converted beforehand, and each item
//! is one call.
#![allow(unsafe_code)]

use super::peer::{About, ColumnPeer, Peer, Worker};
use crate::error::Refusal;
use crate::inputs::{Inputs, Workload, symbol_word};
use modmill::Op;
use std::ops::Range;

/// `answer = a . b`
pub(super) type Binary<N> = unsafe extern "C" fn(*mut N, *const N, *const N);
/// `answer = sqrt(a)`, rounded down
pub(super) type Unary<N> = unsafe extern "C" fn(*mut N, *const N);
/// `a = quotient b + rest`
pub(super) type Divide<N> = unsafe extern "C" fn(*mut N, *mut N, *const N, *const N);
/// The Jacobi symbol of a modulo an odd n.
pub(super) type Symbol<N> = unsafe extern "C" fn(*const N, *const N) -> std::ffi::c_int;
/// `answer = a^b mod n`
pub(super) type Power<N> = unsafe extern "C" fn(*mut N, *const N, *const N, *const N);
/// `answer = 1 / a mod n`; zero is returned where there is no inverse.
pub(super) type Invert<N> = unsafe extern "C" fn(*mut N, *const N, *const N) -> std::ffi::c_int;

/// The functions of a library. A number may be moved, and may be used by one thread at a time.
pub(super) trait Integers: Send + Sync {
    /// The library's number type.
    type Number;

    fn mul(&self) -> Binary<Self::Number>;
    fn gcd(&self) -> Binary<Self::Number>;
    fn modulo(&self) -> Binary<Self::Number>;
    fn divide(&self) -> Divide<Self::Number>;
    fn sqrt(&self) -> Unary<Self::Number>;
    fn jacobi(&self) -> Symbol<Self::Number>;
    /// `answer = answer + a b`
    fn add_mul(&self) -> Binary<Self::Number>;
    fn power(&self) -> Power<Self::Number>;
    fn invert(&self) -> Invert<Self::Number>;
    /// A number from limbs.
    fn import(&self, limbs: &[u64]) -> Self::Number;
    /// A number that `import` made, in at least `limbs` limbs.
    fn export(&self, number: &Self::Number, limbs: usize) -> Vec<u64>;
    /// Frees a number that `import` made. It must not be used again.
    fn clear(&self, number: &mut Self::Number);
    /// The function that computes remainders.
    const REMAINDER: &'static str;
    /// The function that computes an operation.
    fn function(op: Op) -> &'static str;
}

/// A library of integers.
pub(super) struct IntegerPeer<L> {
    pub(super) library: L,
    pub(super) about: About,
}

impl<L: Integers> Peer for IntegerPeer<L> {
    fn about(&self) -> &About {
        &self.about
    }

    fn function(&self, workload: &Workload) -> &'static str {
        if workload.is_remainder { L::REMAINDER } else { L::function(workload.op) }
    }

    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal> {
        let number = |limbs: &[u64]| Owned { library: &self.library, raw: self.library.import(limbs) };
        Ok(Box::new(Numbers {
            library: &self.library,
            workload: inputs.workload,
            a: items.clone().map(|item| number(inputs.a.get(item))).collect(),
            b: items.clone().map(|item| number(inputs.b.get(item))).collect(),
            moduli: items.clone().map(|item| number(inputs.modulus(item))).collect(),
            symbols: vec![0; items.len()],
            answers: items.map(|_| number(&[])).collect(),
            product: number(&[]),
        }))
    }

    fn columns(&self) -> Option<&dyn ColumnPeer> {
        Some(self)
    }
}

/// A number that is freed when dropped.
pub(super) struct Owned<'a, L: Integers> {
    pub(super) library: &'a L,
    pub(super) raw: L::Number,
}

impl<L: Integers> Drop for Owned<'_, L> {
    fn drop(&mut self) {
        self.library.clear(&mut self.raw);
    }
}

/// The numbers of some items of a batch.
struct Numbers<'a, L: Integers> {
    library: &'a L,
    workload: Workload,
    a: Vec<Owned<'a, L>>,
    b: Vec<Owned<'a, L>>,
    moduli: Vec<Owned<'a, L>>,
    answers: Vec<Owned<'a, L>>,
    symbols: Vec<i8>,
    product: Owned<'a, L>,
}

// SAFETY: a worker owns its numbers, and `Integers` lets any one thread at a time use them.
unsafe impl<L: Integers> Send for Numbers<'_, L> {}

impl<L: Integers> Worker for Numbers<'_, L> {
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
        let (mul, gcd, modulo) = (self.library.mul(), self.library.gcd(), self.library.modulo());
        let (power, invert) = (self.library.power(), self.library.invert());
        let (divide, sqrt, jacobi) = (self.library.divide(), self.library.sqrt(), self.library.jacobi());
        for item in items {
            let (a, b) = (&raw const self.a[item].raw, &raw const self.b[item].raw);
            let modulus = &raw const self.moduli[item].raw;
            let (answer, product) = (&raw mut self.answers[item].raw, &raw mut self.product.raw);
            // SAFETY: `import` made all of these numbers. The two that are written to are not shared, and
            // moduli are not zero.
            unsafe {
                match self.workload.op {
                    Op::MulMod if self.workload.is_remainder => modulo(answer, a, modulus),
                    Op::Div => divide(answer, product, a, modulus),
                    Op::Isqrt => sqrt(answer, a),
                    Op::Jacobi => self.symbols[item] = jacobi(a, modulus) as i8,
                    Op::Mul => mul(answer, a, b),
                    Op::Square => mul(answer, a, a),
                    Op::Gcd => gcd(answer, a, b),
                    Op::MulMod => {
                        mul(product, a, b);
                        modulo(answer, product, modulus);
                    }
                    Op::SquareMod => {
                        mul(product, a, a);
                        modulo(answer, product, modulus);
                    }
                    Op::Inv => {
                        if invert(answer, a, modulus) == 0 {
                            let what = format!("numbers of {} bits", self.workload.bits);
                            return Err(Refusal { function: L::function(self.workload.op), what });
                        }
                    }
                    _ => power(answer, a, b, modulus),
                }
            }
        }
        Ok(())
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        match self.workload.op {
            Op::Jacobi => vec![symbol_word(self.symbols[item])],
            _ => self.library.export(&self.answers[item].raw, limbs),
        }
    }
}
