//! The sources of a simulation, and mutants of them.

use crate::tools::workspace;
use std::path::{Path, PathBuf};

/// One wrong line that a test has to notice.
#[derive(Clone, Copy)]
pub(crate) struct Mutant {
    /// The file, from `study/rtl/`.
    pub(crate) file: &'static str,
    /// Text that the file has exactly once.
    pub(crate) from: &'static str,
    /// The text that replaces it.
    pub(crate) to: &'static str,
}

/// The files of the multiplier and `more` in the order in which they are read, with `mutant`'s file changed
/// in a copy under `folder`.
pub(crate) fn files(more: &[&str], mutant: Option<Mutant>, folder: &Path) -> Vec<PathBuf> {
    mutated(&list(more), mutant, folder)
}

/// The files `names`, from `study/rtl/`, with `mutant`'s file changed in a copy under `folder`.
pub(crate) fn mutated(names: &[String], mutant: Option<Mutant>, folder: &Path) -> Vec<PathBuf> {
    let rtl = workspace().join("study/rtl");
    let mut used = mutant.is_none();
    let files = names
        .iter()
        .map(|name| {
            let path = rtl.join(name);
            let Some(mutant) = mutant.filter(|mutant| mutant.file == *name) else { return path };
            let text = std::fs::read_to_string(&path).expect("a source file");
            assert_eq!(text.matches(mutant.from).count(), 1, "{name} has not one `{}`", mutant.from);
            used = true;
            let copy = folder.join(path.file_name().expect("a file name"));
            std::fs::write(&copy, text.replace(mutant.from, mutant.to)).expect("a mutant");
            copy
        })
        .collect();
    assert!(used, "the mutant's file is not simulated");
    files
}

/// The files of the multiplier, which `study/rtl/modmill_multiplier.f` lists, and `more`.
fn list(more: &[&str]) -> Vec<String> {
    let path = workspace().join("study/rtl/modmill_multiplier.f");
    let text = std::fs::read_to_string(path).expect("the list of files");
    text.lines().chain(more.iter().copied()).map(str::to_owned).collect()
}

/// The sources that `unit_tb` needs besides.
pub(crate) const UNITS: &[&str] =
    &["thesis/thesis_sum16.sv", "thesis/thesis_radix16.sv", "tests/unit_wrappers.sv", "tests/unit_tb.sv"];

/// The sources that `multiplier_tb` needs besides.
pub(crate) const MULTIPLIER: &[&str] = &["tests/multiplier_tb.sv"];
