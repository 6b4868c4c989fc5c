//! Hexadecimal text to numbers and back.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modmill_testing::fuzz_bodies::parse(data));
