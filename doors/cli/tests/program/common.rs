//! Helpers of the program's tests.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The program on the CPU, with an environment that changes nothing else.
pub(crate) fn modmill(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_modmill"));
    command.args(arguments).env("MODMILL_BACKEND", "cpu");
    for name in ["MODMILL_CPU", "MODMILL_CUDA_DEVICES", "MODMILL_REQUIRE_GPU", "MODMILL_TUNE"] {
        command.env_remove(name);
    }
    command
}

/// The program on the emulated device; `None` if there is no C++ compiler to make its kernels. All test
/// programs share the compiled kernels, in the user's cache.
pub(crate) fn on_emulator(arguments: &[&str]) -> Option<Command> {
    let compiler = std::env::var("CXX").unwrap_or("c++".to_owned());
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: no C++ compiler");
        return None;
    }
    let mut command = modmill(arguments);
    command.env("MODMILL_BACKEND", "cuda").env("MODMILL_CUDA_DEVICES", "emulator");
    Some(command)
}

/// Runs the program on some input.
pub(crate) fn run(arguments: &[&str], input: &str) -> Output {
    run_command(&mut modmill(arguments), input)
}

pub(crate) fn run_command(command: &mut Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_bytes().to_vec();
    let writer = std::thread::spawn(move || {
        // A program that stops early closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs the program with a reader of its output that reads a few bytes and leaves. The program ends quietly.
pub(crate) fn ends_quietly_without_a_reader(arguments: &[&str]) {
    let mut child = modmill(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0u8; 10];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.success(), stderr(&output).as_str()), (true, ""));
}

/// A path for a test's own file.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}
