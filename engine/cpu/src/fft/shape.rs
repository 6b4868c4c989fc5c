//! The shape of blocks, and the ring of the products in them.

use modmill_core::transform::{DigitPlan, PointShape};

/// The ring of a product. With n the total number of bits of all digits of a block, products are modulo
/// `2^n - 1` or `2^n + 1`. A product of fewer than n bits is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ring {
    /// Polynomials modulo `y^len - 1`.
    Cyclic,
    /// Polynomials modulo `y^len + 1`.
    Negacyclic,
}

/// The rows and columns of a block, and its ring.
///
/// Node 0 of the transform tree is a polynomial modulo `y^len - 1`, and node 1 is a polynomial modulo
/// `y^len + 1`, so the ring determines where a transform starts. Let the block have an odd number o of rows
/// of M columns. Then `y = c z` with `c^o = 1` and `z^M = -1` gives `y^(oM) = -1`. Point v is
/// `c^(v mod o) z^(v mod 2M)`. Its place is that of a cyclic block, and its sign is negative if `v mod 2M` is
/// at least M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub(crate) grid: PointShape,
    pub(crate) ring: Ring,
}

impl BlockShape {
    /// The node of the transform tree for a whole row.
    pub(crate) fn node(self) -> usize {
        match self.ring {
            Ring::Cyclic => 0,
            Ring::Negacyclic => 1,
        }
    }

    /// The node of the last level for the first point of a transformed row.
    pub(crate) fn first_leaf(self) -> usize {
        self.node() * self.grid.columns
    }

    /// The number of nodes whose roots the transforms and products of rows need.
    pub(crate) fn nodes(self) -> usize {
        (self.first_leaf() + self.grid.columns).div_ceil(2)
    }

    /// Whether a point is stored with the opposite sign.
    #[inline(always)]
    pub(crate) fn is_negated(self, point: usize) -> bool {
        self.ring == Ring::Negacyclic && point & self.grid.columns != 0
    }
}

/// The digits of a number in a block: their length and the shape of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigitLayout {
    pub(crate) digit_bits: u32,
    pub(crate) shape: BlockShape,
}

impl DigitLayout {
    pub(crate) fn new(plan: DigitPlan, ring: Ring) -> Self {
        Self { digit_bits: plan.digit_bits, shape: BlockShape { grid: plan.shape, ring } }
    }

    /// The number of digits of a number.
    pub(crate) fn digits(&self, number: &[u64]) -> usize {
        (64 * number.len()).div_ceil(self.digit_bits as usize)
    }
}
