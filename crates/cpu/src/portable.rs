//! Plain Rust, any architecture.

mod band;
mod karatsuba;
mod montgomery;
pub mod row;
mod square;
