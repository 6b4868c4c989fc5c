//! Reads RSA keys from any bytes, with and without a password, and writes them back.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modmill_testing::fuzz_bodies::rsa_key(data));
