//! Operation counts of products of 786 432 bits over the prime of \[Thesis\], as in its table 3.1. The counts
//! come from products over a field that counts instead of computing.

use super::cyclic::CyclicRings;
use super::multiplier::Multiplier;
use crate::fft::carry::Join;
use crate::fft::point::{LANES, Point};
use crate::fft::product::{SecondFactor, sum_of_products, transform};
use crate::fft::scheme::{NttScheme, PrimeField};
use crate::fft::shape::{BlockShape, DigitLayout, Ring};
use crate::fft::transform::Transform;
use crate::portable::fft::Goldilocks;
use modmill_core::transform::Digits;
use std::ops::{Add, RangeInclusive};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Multiplications and additions of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts(usize, usize);

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

#[derive(Default)]
struct Counter {
    multiplications: AtomicUsize,
    additions: AtomicUsize,
}

impl Counter {
    fn count(&self, multiplications: usize, additions: usize) {
        self.multiplications.fetch_add(multiplications, Relaxed);
        self.additions.fetch_add(additions, Relaxed);
    }

    /// The butterflies of a pass over R parts: one multiplication and two additions each.
    fn pass<const R: usize>(&self, parts: &[&mut [Point]; R]) {
        let butterflies = parts[0].len() * LANES * R / 2 * R.ilog2() as usize;
        self.count(butterflies, 2 * butterflies);
    }

    /// The short transforms down the columns.
    fn columns(&self, rows: &[&mut [Point]]) {
        if rows.len() > 1 {
            let each = rows[0].len() * LANES * rows.len() * rows.len();
            self.count(each, each);
        }
    }

    /// The pointwise products: 64 multiplications each, and 8 twiddles for the coefficients that wrap around.
    fn points(&self, points: usize) {
        self.count(points * (64 + 8), points * 64);
    }
}

macro_rules! count_passes {
    ($($name:ident $radix:literal),+) => {
        $(fn $name(&self, parts: &mut [&mut [Point]; $radix], _: usize) {
            self.pass(parts);
        })+
    };
}

impl Transform for &Counter {
    count_passes!(forward2 2, forward4 4, forward8 8, forward16 16);
    count_passes!(inverse2 2, inverse4 4, inverse8 8, inverse16 16);
}

impl PrimeField for &Counter {
    fn fill(&self, rows: &mut [&mut [Point]], _: usize, _: &Digits<'_>, _: BlockShape) {
        self.columns(rows);
    }

    fn inverse_columns(&self, rows: &mut [&mut [Point]], _: BlockShape) {
        self.columns(rows);
    }

    fn multiply(&self, a: &mut [Point], _: Option<&[Point]>, _: usize, _: usize, _: BlockShape) {
        self.points(a.len());
    }

    fn add(&self, a: &mut [Point], _: &[Point]) {
        self.count(0, LANES * a.len());
    }

    fn reduce(&self, _: &mut [Point]) {}

    fn add_up(&self, out: &mut [Point], _: &[&[Point]], chosen: &[u32], _: usize) {
        self.count(0, LANES * out.len() * chosen.len());
    }
}

impl Join<1> for &Counter {
    /// One multiplication scales each digit.
    fn carry(&self, _: [&[Point]; 1], bits: u32, _: usize, out: &mut [u64]) -> i128 {
        self.count((64 * out.len()).div_ceil(bits as usize * LANES) * LANES, 0);
        0
    }
}

impl<'a> NttScheme<1> for &'a Counter {
    type Field = &'a Counter;
    type Join = &'a Counter;

    fn fields(&self, _: BlockShape) -> [&'a Counter; 1] {
        [*self]
    }

    fn join(&self, _: BlockShape) -> &'a Counter {
        self
    }

    fn digit_lengths(&self) -> RangeInclusive<u32> {
        Goldilocks.digit_lengths()
    }

    fn most_terms(&self, digit_bits: u32, ring: Ring) -> u128 {
        Goldilocks.most_terms(digit_bits, ring)
    }
}

fn counted(work: impl Fn(&Counter) + Sync) -> Counts {
    let counter = Counter::default();
    // One thread, so that digits are counted once.
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| work(&counter));
    Counts(counter.multiplications.into_inner(), counter.additions.into_inner())
}

const LIMBS: usize = 786_432 / 64;

#[test]
fn operations_of_a_product_of_786432_bits() {
    let number = vec![1; LIMBS];
    let whole = DigitLayout::new(Goldilocks.plan(LIMBS, LIMBS).unwrap(), Ring::Cyclic);
    assert_eq!((whole.digit_bits, whole.shape.grid.points() * LANES), (24, 65_536));
    let one_transform = counted(|scheme| drop(transform(&scheme, &number, &whole)));
    assert_eq!(one_transform, Counts(425_984, 851_968));

    let run = |layout: &DigitLayout, terms: &[(&[u64], SecondFactor<'_>)], limbs: usize| {
        counted(|scheme| sum_of_products(&scheme, terms, layout, &mut vec![0; limbs], |_, _| ()))
    };
    let prepared = |layout: &DigitLayout| {
        let counter = Counter::default();
        transform(&&counter, &number, layout)
    };
    let product = run(&whole, &[(&number, SecondFactor::Number(&number))], 2 * LIMBS);
    assert_eq!(product, Counts(1_933_312, 3_080_192));

    // Barrett: a product, a product with the reciprocal, and a product with the modulus in a ring of half the
    // length.
    let kept = prepared(&whole);
    let with_kept = run(&whole, &[(&number, SecondFactor::Transformed(&kept))], 2 * LIMBS);
    let rings = CyclicRings::at_least(Multiplier::detect(None)[0], 64 * LIMBS).unwrap();
    let [minus, plus] = [Ring::Cyclic, Ring::Negacyclic].map(|ring| rings.layout(ring));
    let half = prepared(&minus);
    let kept_half = SecondFactor::Transformed(&half);
    let barrett = product + with_kept + run(&minus, &[(&number, kept_half)], rings.limbs());

    // Montgomery: a product and a product with the inverse modulo 2^n + 1, and a sum of two products modulo
    // 2^n - 1.
    let montgomery = run(&plus, &[(&number, SecondFactor::Number(&number))], rings.limbs())
        + run(&plus, &[(&number, kept_half)], rings.limbs())
        + run(&minus, &[(&number, SecondFactor::Number(&number)), (&number, kept_half)], rings.limbs());
    assert_eq!([barrett, montgomery], [Counts(4_669_440, 6_864_896), Counts(5_283_840, 6_881_280)]);

    // The interleaved Montgomery product of [Thesis]: two multiplications for each pair of limbs, and a
    // quotient per limb.
    assert_eq!(2 * LIMBS * LIMBS + LIMBS, 302_002_176);
}
