//! What libraries with integers of their own have in common: numbers converted beforehand, and a call an item.
#![allow(unsafe_code)]

use super::{About, Peer, Worker};
use crate::bench::inputs::Inputs;
use modmill::Op;
use std::ops::Range;

/// `answer = a . b`
pub(super) type Binary<N> = unsafe extern "C" fn(*mut N, *const N, *const N);
/// `answer = a^b mod n`
pub(super) type Power<N> = unsafe extern "C" fn(*mut N, *const N, *const N, *const N);
/// `answer = 1 / a mod n`, if that is not zero.
pub(super) type Invert<N> = unsafe extern "C" fn(*mut N, *const N, *const N) -> std::ffi::c_int;

/// The functions of a library. Numbers may be moved, and used by any one thread at a time.
pub(super) trait Integers: Send + Sync {
    /// A number, as the library lays it out.
    type Number;

    fn mul(&self) -> Binary<Self::Number>;
    fn gcd(&self) -> Binary<Self::Number>;
    fn modulo(&self) -> Binary<Self::Number>;
    fn power(&self) -> Power<Self::Number>;
    fn invert(&self) -> Invert<Self::Number>;
    /// A number from limbs.
    fn import(&self, limbs: &[u64]) -> Self::Number;
    /// At least so many limbs of a number that `import` made.
    fn export(&self, number: &Self::Number, limbs: usize) -> Vec<u64>;
    /// Frees a number that `import` made, and that nobody uses again.
    fn clear(&self, number: &mut Self::Number);
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

    fn function(&self, op: Op) -> &'static str {
        L::function(op)
    }

    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Box<dyn Worker + 'a> {
        let number = |limbs: &[u64]| Owned { library: &self.library, raw: self.library.import(limbs) };
        Box::new(Numbers {
            library: &self.library,
            op: inputs.shape.op,
            a: items.clone().map(|item| number(inputs.a.get(item))).collect(),
            b: items.clone().map(|item| number(inputs.b.get(item))).collect(),
            moduli: items.clone().map(|item| number(inputs.modulus(item))).collect(),
            answers: items.map(|_| number(&[])).collect(),
            product: number(&[]),
        })
    }
}

/// A number, freed when dropped.
struct Owned<'a, L: Integers> {
    library: &'a L,
    raw: L::Number,
}

impl<L: Integers> Drop for Owned<'_, L> {
    fn drop(&mut self) {
        self.library.clear(&mut self.raw);
    }
}

/// Some items of a batch.
struct Numbers<'a, L: Integers> {
    library: &'a L,
    op: Op,
    a: Vec<Owned<'a, L>>,
    b: Vec<Owned<'a, L>>,
    moduli: Vec<Owned<'a, L>>,
    answers: Vec<Owned<'a, L>>,
    product: Owned<'a, L>,
}

// SAFETY: a worker owns its numbers, and libraries promise that any one thread may use them.
unsafe impl<L: Integers> Send for Numbers<'_, L> {}

impl<L: Integers> Worker for Numbers<'_, L> {
    fn run(&mut self, items: Range<usize>) {
        let (mul, gcd, modulo) = (self.library.mul(), self.library.gcd(), self.library.modulo());
        let (power, invert) = (self.library.power(), self.library.invert());
        for item in items {
            let (a, b) = (&raw const self.a[item].raw, &raw const self.b[item].raw);
            let modulus = &raw const self.moduli[item].raw;
            let (answer, product) = (&raw mut self.answers[item].raw, &raw mut self.product.raw);
            // SAFETY: all are numbers that `import` made, those written to are not shared, and moduli are not zero.
            unsafe {
                match self.op {
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
                        invert(answer, a, modulus);
                    }
                    _ => power(answer, a, b, modulus),
                }
            }
        }
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        self.library.export(&self.answers[item].raw, limbs)
    }
}
