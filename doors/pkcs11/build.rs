//! Marks the shared library so that it stays in memory once it is loaded. Threads of the engine may still be
//! ending when a program closes the library, and would otherwise return into memory that is gone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
