//! The sources of a simulation, and mutants of them.

use crate::tools::workspace;
use std::path::{Path, PathBuf};

/// One wrong line that a test has to notice.
#[derive(Clone, Copy)]
pub(crate) struct Mutant {
    /// The file, from `rtl/`.
    pub(crate) file: &'static str,
    /// Text that the file has exactly once.
    pub(crate) from: &'static str,
    /// What stands in its place.
    pub(crate) to: &'static str,
}

/// The files of a simulation in the order in which they are read, with `mutant`'s file changed in a copy under `folder`.
pub(crate) fn files(list: &[&str], mutant: Option<Mutant>, folder: &Path) -> Vec<PathBuf> {
    let rtl = workspace().join("rtl");
    let mut used = mutant.is_none();
    let files = list
        .iter()
        .map(|&name| {
            let path = rtl.join(name);
            let Some(mutant) = mutant.filter(|mutant| mutant.file == name) else { return path };
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

/// The files of the units, for `unit_tb`.
pub(crate) const UNITS: &[&str] = &[
    "units/modmill_ring.sv",
    "units/modmill_fold_last.sv",
    "units/modmill_fold.sv",
    "units/modmill_ring_compress.sv",
    "units/modmill_radix4_parts.sv",
    "units/modmill_radix16_lane.sv",
    "units/modmill_radix16.sv",
    "units/modmill_mulmod_embedded.sv",
    "units/modmill_mulmod_booth.sv",
    "units/modmill_mulmod.sv",
    "machine/modmill_twiddle.sv",
    "thesis/thesis_sum16.sv",
    "thesis/thesis_radix16.sv",
    "tests/unit_wrappers.sv",
    "tests/unit_tb.sv",
];

/// The files of the multiplier, for `multiplier_tb`.
pub(crate) const MULTIPLIER: &[&str] = &[
    "units/modmill_ring.sv",
    "units/modmill_fold_last.sv",
    "units/modmill_fold.sv",
    "units/modmill_ring_compress.sv",
    "units/modmill_radix4_parts.sv",
    "units/modmill_radix16_lane.sv",
    "units/modmill_radix16.sv",
    "units/modmill_mulmod_embedded.sv",
    "units/modmill_mulmod_booth.sv",
    "units/modmill_mulmod.sv",
    "machine/modmill_twiddle.sv",
    "machine/modmill_rotate.sv",
    "machine/modmill_bank.sv",
    "machine/modmill_memory.sv",
    "machine/modmill_group.sv",
    "machine/modmill_rows.sv",
    "machine/modmill_addresses.sv",
    "machine/modmill_exponents.sv",
    "machine/modmill_input.sv",
    "machine/modmill_lookahead.sv",
    "machine/modmill_resolver.sv",
    "machine/modmill_control.sv",
    "machine/modmill_processor.sv",
    "modmill_multiplier.sv",
    "tests/multiplier_tb.sv",
];
