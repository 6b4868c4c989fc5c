//! What transforms work on: eight words side by side, one vector register.

use zeroize::Zeroize;

/// Words in a point.
pub(crate) const LANES: usize = 8;

/// Eight coefficients of `x^0 .. x^7`; a block of points is a polynomial in `y = x^8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Point(pub(crate) [u64; LANES]);

impl Point {
    pub(crate) const ZERO: Self = Self([0; LANES]);
}

/// Points in memory, zeroized when dropped: operands may be secret.
pub(crate) struct Points(Vec<Point>);

impl Points {
    pub(crate) fn zeros(len: usize) -> Self {
        Self(vec![Point::ZERO; len])
    }
}

impl std::ops::Deref for Points {
    type Target = [Point];

    fn deref(&self) -> &[Point] {
        &self.0
    }
}

impl std::ops::DerefMut for Points {
    fn deref_mut(&mut self) -> &mut [Point] {
        &mut self.0
    }
}

impl Drop for Points {
    fn drop(&mut self) {
        for point in &mut self.0 {
            point.0.zeroize();
        }
    }
}
