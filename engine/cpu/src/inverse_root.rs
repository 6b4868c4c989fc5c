//! A polynomial that inverse square roots start from.

/// Coefficients of `3.498 - 8.985 x + 14.658 x^2 - 11.973 x^3 + 3.804 x^4`. For x from 1/4 to 1 it is
/// `1 / sqrt(x)` with a relative error of at most 0.0022.
pub(crate) const START: [f64; 5] =
    [3.498030274822993, 8.984586186502709, 14.657674131608392, 11.973430658086555, 3.8044301568127366];
