//! Machine code for a GPU: from a bundle, from NVRTC where there is one, and through the cache.

use modmill_cuda::bundle::{self, Bundle};
use modmill_cuda::cache::Cache;
use modmill_cuda::compiler::{self, Architecture, Compiler, code_key};
use modmill_cuda::{Error, Program, Source};
use std::fs;

const HOPPER: Architecture = Architecture { major: 9, minor: 0 };

fn program(main: &str) -> Program {
    Program {
        name: "add".to_owned(),
        main: main.to_owned(),
        files: &[
            Source { name: "emulator.hpp", text: "#error this is not for a GPU" },
            Source { name: "call.cuh", text: "struct Call { unsigned* words; unsigned count; };\n" },
        ],
        defines: vec![("SUMMAND".to_owned(), "7".to_owned())],
        options: Vec::new(),
        specific: false,
    }
}

const ADD: &str = r#"
#include "call.cuh"
unsigned sum(unsigned x) { return x + SUMMAND; }
extern "C" __global__ void add(const Call call) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < call.count) call.words[i] = sum(call.words[i]);
}"#;

/// Whether there is a compiler; says so where there is not.
fn has_compiler() -> bool {
    match compiler::version() {
        Ok(version) => println!("NVRTC {version}"),
        Err(ref reason) => println!("skipped: {reason}"),
    }
    compiler::version().is_ok()
}

#[test]
fn a_bundle_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(bundle::FILE);
    let entries: Vec<_> = [b"one".to_vec(), Vec::new(), vec![3; 100]]
        .into_iter()
        .enumerate()
        .map(|(number, code)| (code_key(&program(&number.to_string()), HOPPER), code))
        .collect();
    bundle::write(&path, &entries).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    for (key, code) in &entries {
        assert_eq!(bundle.get(key).as_ref(), Some(code));
    }
    assert_eq!(bundle.get(&code_key(&program("another"), HOPPER)), None);

    let good = fs::read(&path).unwrap();
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        assert!(Bundle::open(&path).is_err(), "cut to {length} bytes");
    }
    // A changed byte costs that entry at most.
    for byte in 0..good.len() {
        let mut bytes = good.clone();
        bytes[byte] ^= 0x80;
        fs::write(&path, &bytes).unwrap();
        let Ok(bundle) = Bundle::open(&path) else { continue };
        for (key, code) in &entries {
            assert!(bundle.get(key).is_none_or(|got| got == *code), "byte {byte}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_bundle_that_anybody_may_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(bundle::FILE);
    bundle::write(&path, &[]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(Bundle::open(&path).unwrap_err().to_string().contains("anybody"));
}

#[test]
fn a_bundle_serves_without_a_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(bundle::FILE);
    let program = program("this is not C++");
    bundle::write(&path, &[(code_key(&program, HOPPER), b"code".to_vec())]).unwrap();
    let with = Compiler::new(Cache::off(), Some(Bundle::open(&path).unwrap()));
    assert_eq!(with.code(&program, HOPPER), Ok(b"code".to_vec()));
    let without = Compiler::new(Cache::off(), None).code(&program, HOPPER).unwrap_err();
    match has_compiler() {
        true => assert!(matches!(without, Error::Compile { .. }), "{without}"),
        false => assert!(matches!(without, Error::NoCompiler { .. }), "{without}"),
    }
}

#[test]
fn a_program_becomes_machine_code_and_is_kept() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let compiler = Compiler::new(Cache::at(folder.path().join("cache")), None);
    let code = compiler.code(&program(ADD), HOPPER).unwrap();
    assert!(code.starts_with(b"\x7fELF"), "machine code is an ELF file");
    assert!(code.windows(4).any(|bytes| bytes == b"add\0"), "with the kernel's name in it");
    let entries = || fs::read_dir(folder.path().join("cache")).unwrap();
    assert_eq!(entries().count(), 1);
    assert_eq!(compiler.code(&program(ADD), HOPPER), Ok(code.clone()));
    assert_eq!(entries().count(), 1);

    // A damaged entry is compiled again.
    let entry = entries().next().unwrap().unwrap().path();
    fs::write(&entry, "garbage").unwrap();
    assert_eq!(compiler.code(&program(ADD), HOPPER), Ok(code.clone()));
    assert!(fs::read(&entry).unwrap().ends_with(&code));

    let specific = Program { specific: true, ..program(ADD) };
    assert!(compiler.code(&specific, HOPPER).unwrap().starts_with(b"\x7fELF"));
    assert_eq!(entries().count(), 2);
    assert_eq!(compiler.warnings(), Vec::<String>::new());
}

#[test]
fn errors_carry_what_the_compiler_wrote() {
    if !has_compiler() {
        return;
    }
    let compiler = Compiler::new(Cache::off(), None);
    let error = compiler.code(&program("int x = undefined_name;"), HOPPER).unwrap_err();
    let Error::Compile { program: name, log } = &error else { panic!("{error}") };
    assert!(name == "add" && log.contains("undefined_name") && log.contains("add.cu"), "{error}");
    let nowhere = compiler.code(&program(ADD), Architecture { major: 1, minor: 0 }).unwrap_err();
    assert!(matches!(&nowhere, Error::Compile { log, .. } if log.contains("arch")), "{nowhere}");
}
