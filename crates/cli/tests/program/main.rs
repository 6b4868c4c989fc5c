//! The program as users call it.

mod bench;
mod common;
mod other;
mod powm;
