//! Lists the kernels' sources: every file of the folder `kernels`, by its name.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=kernels");
    let variable = |name| env::var(name).expect("cargo sets it");
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")).join("kernels");
    let files = fs::read_dir(&folder).expect("the folder is a part of the package");
    let mut names: Vec<_> =
        files.map(|file| file.expect("the folder can be read").file_name().into_string()).collect();
    names.sort();
    let sources = names.into_iter().map(|name| {
        let name = name.expect("names are plain text");
        format!("Source {{ name: {name:?}, text: include_str!({:?}) }},\n", folder.join(&name))
    });
    let list = format!("&[\n{}]\n", sources.collect::<String>());
    fs::write(Path::new(&variable("OUT_DIR")).join("sources.rs"), list).expect("cargo made the folder");
}
