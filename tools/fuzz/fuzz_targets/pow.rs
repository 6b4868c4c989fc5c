//! Powers on every path of the machine against the slow reference.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modmill_testing::fuzz_bodies::pow(data));
