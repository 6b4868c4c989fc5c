//! Plain Rust, any architecture.

mod band;
mod montgomery;
pub mod row;
mod square;
