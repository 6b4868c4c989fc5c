//! Lists the kernels' sources: every file of the folder `kernels` and of the folders in it, by its name.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=kernels");
    let variable = |name| env::var(name).expect("cargo sets it");
    let mut files = files_below(&Path::new(&variable("CARGO_MANIFEST_DIR")).join("kernels"));
    files.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    // Sources include each other by their names alone.
    let twice = files.windows(2).find(|pair| pair[0].file_name() == pair[1].file_name());
    assert!(twice.is_none(), "two kernels have one name: {twice:?}");
    let sources = files.into_iter().map(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are plain text");
        format!("Source {{ name: {name:?}, text: include_str!({file:?}) }},\n")
    });
    let list = format!("&[\n{}]\n", sources.collect::<String>());
    fs::write(Path::new(&variable("OUT_DIR")).join("sources.rs"), list).expect("cargo made the folder");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is a part of the package");
    let below = |entry: PathBuf| if entry.is_dir() { files_below(&entry) } else { vec![entry] };
    entries.flat_map(|entry| below(entry.expect("the folder can be read").path())).collect()
}
