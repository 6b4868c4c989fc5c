//! OpenSSL's own program with the provider, held against the same program without it.

mod api;
mod common;
mod encryption;
mod hostile;
mod keys;
mod odd_calls;
mod signatures;
mod speed;
mod tls;
