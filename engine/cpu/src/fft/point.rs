//! The unit of a transform: eight words side by side, one vector register.

pub(crate) use modmill_core::transform::LANES;

/// Eight coefficients of `x^0 .. x^7`. A block of points is a polynomial in `y = x^8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Point(pub(crate) [u64; LANES]);

impl Point {
    pub(crate) const ZERO: Self = Self([0; LANES]);
}
