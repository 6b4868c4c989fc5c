//! Bundles: made with NVRTC, used without.

use modmill_core::Op;
use modmill_cuda::compiler::{self, Architecture, Compiler};
use modmill_cuda::{Chip, Error, Part, Table};
use std::path::Path;
use std::process::{Command, Output};

fn bundle(arguments: &[&str], out: &Path, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("bundle").args(arguments).arg("--out").arg(out);
    command.envs(environment.iter().copied()).output().unwrap()
}

fn message(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_goes_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bundle");
    let nowhere = [("MODMILL_NVRTC", "/nowhere/libnvrtc.so")];
    let missing = message(&bundle(&[], &out, &nowhere));
    assert!(missing.contains("/nowhere") && missing.contains("install NVRTC"), "{missing}");
    for (arguments, expected) in [
        (["--arch", "hopper"], "compute capability"),
        (["--bits", "256,1"], "2 to 32768"),
        (["--bits", "x"], "2 to 32768"),
    ] {
        let message = message(&bundle(&arguments, &out, &nowhere));
        assert!(message.contains(expected), "{message}");
    }
    assert!(!out.exists());
}

#[test]
fn a_host_without_compiler_finds_every_choice_of_the_table() {
    const ROLE: &str = "MODMILL_TEST_BUNDLE_ROLE";
    if std::env::var_os(ROLE).is_some() {
        return find_every_choice(); // the process below
    }
    if let Err(reason) = compiler::version() {
        assert!(std::env::var_os("MODMILL_REQUIRE_NVRTC").is_none_or(|value| value != "1"), "{reason}");
        return println!("skipped: {reason}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bundle");
    let made = bundle(&["--bits", "100"], &out, &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_host_without_compiler_finds_every_choice_of_the_table"]).env(ROLE, "1");
    command.env("MODMILL_NVRTC", "/nowhere").env("MODMILL_CACHE", "off").env("MODMILL_CUDA_BUNDLE", &out);
    assert!(command.status().unwrap().success());
    let unknown = message(&bundle(&["--bits", "100", "--arch", "1.0"], &out, &[("MODMILL_CACHE", "off")]));
    assert!(unknown.contains("sm_10") || unknown.contains("arch"), "{unknown}");
}

fn find_every_choice() {
    let (compiler, hopper) = (Compiler::from_environment(), Architecture { major: 9, minor: 0 });
    assert_eq!(compiler.warnings(), Vec::<String>::new());
    for bits in [2, 64, 100, 126, 127, 128] {
        for batch in [1, 1_000_000] {
            for choice in Table::shipped().choices(&Chip::H200.limits(), Op::Pow, bits, batch, bits) {
                let code = compiler.code(&choice.variant.program(Part::Power).unwrap(), hopper).unwrap();
                assert!(code.starts_with(b"\x7fELF"));
            }
        }
    }
    let choice = Table::shipped().choices(&Chip::H200.limits(), Op::Pow, 256, 1, 256)[0];
    let absent = compiler.code(&choice.variant.program(Part::Power).unwrap(), hopper);
    assert!(matches!(absent, Err(Error::NoCompiler { .. })), "{absent:?}");
}
