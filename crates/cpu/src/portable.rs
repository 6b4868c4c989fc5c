//! Plain Rust, any architecture.

pub mod row;
