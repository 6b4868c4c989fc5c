//! The scheme of Gentry and Halevi.
