#![doc = include_str!("../docs/rns.md")]

mod batch;
mod domain;
mod power;
#[cfg(test)]
mod tests;

pub use batch::run;
pub use domain::{Domain, Factor, State};
