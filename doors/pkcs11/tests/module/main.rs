//! The module as programs use it: through its shared library and its function list.

mod common;
mod computing;
mod hostile;
mod objects;
mod operations;
mod processes;
mod raw;
mod restrictions;
mod service;
mod threads;
mod tokens;
mod wrapping;
