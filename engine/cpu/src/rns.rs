//! Modular products in residue number systems. The derivation is in `docs/algorithms/rns.md`.

mod batch;
mod domain;
mod power;
#[cfg(test)]
mod tests;

pub(crate) use batch::run;
