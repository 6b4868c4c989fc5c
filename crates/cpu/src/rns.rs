#![doc = include_str!("../../../docs/algorithms/rns.md")]

mod batch;
mod domain;
mod power;
#[cfg(test)]
mod tests;

pub(crate) use batch::run;
