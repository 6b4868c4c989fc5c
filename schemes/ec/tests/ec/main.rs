//! Elliptic curves against vectors of standards and of Wycheproof, and against the program `openssl`.

mod batches;
mod keys;
mod openssl;
mod vectors;
mod wycheproof;

use modmill::Engine;
use std::sync::OnceLock;

/// The engine of all tests.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::builder().threads(2).build().unwrap())
}

/// The bytes of hexadecimal text, in which white space is ignored.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let byte = |start| u8::from_str_radix(&digits[start..start + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
