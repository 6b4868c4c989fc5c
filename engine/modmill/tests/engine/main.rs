//! The engine, from outside: answers, errors, choices and plans, on every CPU path and on emulated GPUs.

mod callers;
mod devices;
mod division;
mod division_steps;
mod here;
mod huge;
mod integers;
mod places;
mod plans;
mod properties;
mod resident;
mod residue_matrix;
mod selection;
mod semantics;
mod special;
mod suite;
mod sums;
mod trees;
mod watch;
