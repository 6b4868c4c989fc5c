//! The module as programs use it: through its shared library and its function list.

mod common;
mod computing;
mod hostile;
mod objects;
mod processes;
mod service;
mod threads;
mod tokens;
mod wrapping;
