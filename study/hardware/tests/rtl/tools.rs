//! The tools that simulate the RTL, and where its sources are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The simulators that are there.
pub(crate) struct Tools {
    /// Verilator's program.
    pub(crate) verilator: PathBuf,
}

impl Tools {
    /// The tools that `study/rtl/install` installs, or `None` after a line that says what is left out. With
    /// `MODMILL_REQUIRE_RTL` set, missing tools are a failure.
    pub(crate) fn find() -> Option<Self> {
        let folder = std::env::var_os("MODMILL_RTL_TOOLS")
            .map_or_else(|| workspace().join("target/rtl/tools"), PathBuf::from);
        let verilator = folder.join("venv/bin/verilator-cli");
        let mut missing = Vec::new();
        if !verilator.exists() {
            missing.push("Verilator");
        }
        if !runs("iverilog", "-V") {
            missing.push("Icarus");
        }
        if missing.is_empty() {
            return Some(Self { verilator });
        }
        let text = format!(
            "LEFT OUT: no {}: the RTL is not simulated; study/rtl/install installs them",
            missing.join(", no ")
        );
        assert!(std::env::var_os("MODMILL_REQUIRE_RTL").is_none(), "{text}");
        eprintln!("{text}");
        None
    }
}

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The table of twiddle factors, as `$readmemh` reads it.
pub(crate) fn table() -> PathBuf {
    workspace().join("study/rtl/tables/twiddles.hex")
}

/// A folder for the files of one simulation, emptied.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rtl").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the simulation");
    folder
}
