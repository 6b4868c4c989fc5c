//! Audits of planted collections, whose findings are known, by every way that an audit goes.

mod common;
mod corpus;
mod formats;
mod planted;
