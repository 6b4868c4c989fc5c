//! Streams of Arrow, with the limits of the bulk endpoint and with those of a program that takes compressed
//! batches.
#![no_main]

use modmill_tables::ipc::{Limits, Stream};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let program = Limits { body: u64::MAX, expanded: 16 << 20, dictionaries: 16 << 20 };
    let bulk = Limits { body: 1 << 20, expanded: 0, dictionaries: 0 };
    for limits in [program, bulk] {
        if let Ok(stream) = Stream::open(data, limits) {
            for batch in stream.flatten() {
                assert!(batch.columns().iter().all(|column| column.len() == batch.num_rows()));
            }
        }
    }
});
