//! The interface as a client sees it, request by request.

mod aliases;
mod audit;
mod bench;
mod encryption;
mod grants;
mod imports;
mod keys;
mod protocol;
mod rights;
mod signing;
mod texts;
