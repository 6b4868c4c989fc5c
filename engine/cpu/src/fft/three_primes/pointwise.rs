//! Pointwise products: polynomials of degree below 8 modulo `x^8 - y`, with one y per point.

use super::arithmetic::Arithmetic;
use super::field::VectorField;
use crate::fft::point::Point;
use crate::fft::primes::ShoupFactor;

impl<A: Arithmetic> VectorField<A> {
    /// `a <- a b` point by point, or `a^2` without b, divided by [`Arithmetic::DIVIDED_BY`]. Point j is a
    /// polynomial modulo `x^8 - twiddle y_j`, where y_j is the root of node `leaf + j` of the last level.
    pub(super) fn multiply_row(
        &self,
        a: &mut [Point],
        b: Option<&[Point]>,
        leaf: usize,
        twiddle: Option<&ShoupFactor>,
    ) {
        assert!(b.is_none_or(|b| b.len() == a.len()));
        self.run(
            #[inline(always)]
            |c| {
                for (index, point) in a.iter_mut().enumerate() {
                    let node = leaf + index;
                    let other = b.map_or(*point, |b| b[index]);
                    // The root of an odd node is minus the root of the even node before it.
                    c.multiply_point(point, &other, (&self.roots[node / 2], twiddle), node % 2 == 1);
                }
            },
        );
    }

    /// `a <- a + b`, where both are products.
    pub(super) fn add_points(&self, a: &mut [Point], b: &[Point]) {
        self.run(
            #[inline(always)]
            |c| {
                for (a, b) in a.iter_mut().zip(b) {
                    for vector in 0..A::VECTORS {
                        let sum = c.reduce(c.add(c.load(a, vector), c.load(b, vector)));
                        c.store(a, vector, sum);
                    }
                }
            },
        );
    }

    /// Reduces points.
    pub(super) fn reduce_points(&self, a: &mut [Point]) {
        self.run(
            #[inline(always)]
            |c| {
                for point in a {
                    for vector in 0..A::VECTORS {
                        let reduced = c.reduce(c.load(point, vector));
                        c.store(point, vector, reduced);
                    }
                }
            },
        );
    }

    /// `out <-` the sum of reduced points of the chosen transforms, each from point `first` on; reduced.
    pub(super) fn add_up_points(
        &self,
        out: &mut [Point],
        transforms: &[&[Point]],
        chosen: &[u32],
        first: usize,
    ) {
        self.run(
            #[inline(always)]
            |c| {
                for (index, out) in out.iter_mut().enumerate() {
                    let point = |&chosen: &u32| &transforms[chosen as usize][first + index];
                    for vector in 0..A::VECTORS {
                        let mut sum = c.zero();
                        // Four reduced numbers are any number: the sum is reduced after three more.
                        for three in chosen.chunks(3) {
                            for chosen in three {
                                sum = c.add(sum, c.load(point(chosen), vector));
                            }
                            sum = c.reduce(sum);
                        }
                        c.store(out, vector, sum);
                    }
                }
            },
        );
    }
}
