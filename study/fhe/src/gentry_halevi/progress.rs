//! The progress of key generation.

/// The stage that key generation has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The determinant of a random lattice. It starts again with another lattice if one does not have the
    /// right form.
    Lattice,
    /// The inverse of a coefficient, which gives the root.
    Inverse,
    /// The noise of recrypted ciphertexts.
    Noise,
    /// Powers of the root.
    Powers,
    /// The encrypted selectors.
    Selectors,
}

/// How far key generation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The stage.
    pub stage: Stage,
    /// Steps of the stage that are done.
    pub done: usize,
    /// All steps of the stage.
    pub total: usize,
}
