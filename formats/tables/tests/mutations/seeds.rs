//! The seeds of the fuzz target `arrow`:
//! `cargo test -p modmill-tables --features parquet --test mutations -- --ignored` writes them.

use crate::{PROGRAM, rows, samples};
use modmill_tables::ipc;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/fuzz/corpus/arrow")
}

#[test]
#[ignore = "it writes files"]
fn write_seeds() {
    fs::create_dir_all(folder()).unwrap();
    for (name, stream) in ["plain", "zstd", "lz4"].iter().zip(samples::streams()) {
        fs::write(folder().join(name), stream).unwrap();
    }
    fs::write(folder().join("digests"), samples::digests()).unwrap();
}

#[test]
fn seeds_are_streams() {
    let seeds: Vec<_> = fs::read_dir(folder()).unwrap().map(|seed| seed.unwrap().path()).collect();
    assert_eq!(seeds.len(), 4);
    for seed in seeds {
        let bytes = fs::read(&seed).unwrap();
        let found = ipc::Stream::open(&bytes[..], PROGRAM).and_then(rows);
        assert!(found.is_ok_and(|rows| rows > 0), "{}", seed.display());
    }
}
