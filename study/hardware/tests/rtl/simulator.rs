//! Builds and runs simulations.

use crate::tools::{Tools, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A macro definition of a simulation.
pub(crate) type Define = (&'static str, String);

/// A program that simulates.
pub(crate) struct Simulation {
    program: PathBuf,
    first: Option<PathBuf>,
}

impl Simulation {
    /// Builds `top` with Icarus, which knows unknown values, in `folder`.
    pub(crate) fn icarus(top: &str, defines: &[Define], files: &[PathBuf], folder: &Path) -> Self {
        let out = folder.join("simulation.vvp");
        let mut command = Command::new("iverilog");
        command.args(["-g2012", "-s", top, "-o"]).arg(&out);
        command.args(defines.iter().map(|(name, value)| format!("-D{name}={value}"))).args(files);
        run(&mut command);
        Self { program: "vvp".into(), first: Some(out) }
    }

    /// Builds `top` with Verilator in `folder`. `optimise` is for long simulations: its C++ takes longer to
    /// compile.
    pub(crate) fn verilator(
        tools: &Tools,
        top: &str,
        defines: &[Define],
        files: &[PathBuf],
        folder: &Path,
        optimise: bool,
    ) -> Self {
        let mut command = Command::new(&tools.verilator);
        command.args([
            "--binary",
            "--timing",
            "-Wno-fatal",
            "-Wno-lint",
            "-Wno-style",
            "-j",
            "2",
            "--top-module",
            top,
        ]);
        command.args(["-O3", "--x-assign", "unique", "--x-initial", "unique", "--output-split", "20000"]);
        // The packaged program leaves this flag of its makefile empty.
        command.args(["-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"]);
        command
            .args(["-CFLAGS", if optimise { "-O1" } else { "-O0" }, "-o", "simulation", "--Mdir"])
            .arg(folder);
        command.args(defines.iter().map(|(name, value)| format!("-D{name}={value}"))).args(files);
        run(&mut command);
        Self { program: folder.join("simulation"), first: None }
    }

    /// Runs the simulation and returns the number after each of the words `names` in what it prints.
    pub(crate) fn run(&self, arguments: &[String], names: &[&str]) -> Vec<u64> {
        let mut command = Command::new(&self.program);
        // The example names its table from this folder.
        command.current_dir(workspace().join("study/rtl"));
        let text = run(command.args(&self.first).args(arguments));
        let words: Vec<_> = text.split_whitespace().collect();
        names
            .iter()
            .map(|name| {
                let at = words
                    .iter()
                    .rposition(|word| word == name)
                    .unwrap_or_else(|| panic!("no {name} in: {text}"));
                words[at + 1].parse().unwrap_or_else(|_| panic!("no number after {name} in: {text}"))
            })
            .collect()
    }
}

/// The output of `command`; its failure is the test's.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{text}\n{errors}");
    text
}
