//! What blocks are: their shape, and what products in them wrap around at.

use modmill_core::transform::{Plan, Shape};

/// Products of n bits are modulo `2^n - 1` or `2^n + 1`, where n is the bits of all digits of a block. What is
/// shorter than n bits does not notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ring {
    /// Cyclic: polynomials modulo `y^len - 1`.
    Cyclic,
    /// Negacyclic: modulo `y^len + 1`.
    Negacyclic,
}

/// The shape of a block and its ring.
///
/// Node 0 of the tree of transforms is a polynomial modulo `y^len - 1` and node 1 one modulo `y^len + 1`: the ring
/// is where a transform starts. With an odd number o of rows of M columns, `y = c z` with `c^o = 1` and
/// `z^M = -1` gives `y^(oM) = -1`: point v is `c^(v mod o) z^(v mod 2M)`, its place that of a cyclic block and
/// its sign minus where `v mod 2M` is not below M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub(crate) grid: Shape,
    pub(crate) ring: Ring,
}

impl BlockShape {
    /// The node of the tree that a row is.
    pub(crate) fn node(self) -> usize {
        match self.ring {
            Ring::Cyclic => 0,
            Ring::Negacyclic => 1,
        }
    }

    /// The node of the last level that the first point of a transformed row is.
    pub(crate) fn first_leaf(self) -> usize {
        self.node() * self.grid.columns
    }

    /// Nodes whose roots transforms and products of rows need.
    pub(crate) fn nodes(self) -> usize {
        (self.first_leaf() + self.grid.columns).div_ceil(2)
    }

    /// Whether a point stands with the opposite sign.
    #[inline(always)]
    pub(crate) fn is_negated(self, point: usize) -> bool {
        self.ring == Ring::Negacyclic && point & self.grid.columns != 0
    }
}

/// How numbers are multiplied: as a plan says, in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigitLayout {
    pub(crate) digit_bits: u32,
    pub(crate) shape: BlockShape,
}

impl DigitLayout {
    pub(crate) fn new(plan: Plan, ring: Ring) -> Self {
        Self { digit_bits: plan.digit_bits, shape: BlockShape { grid: plan.shape, ring } }
    }
}
