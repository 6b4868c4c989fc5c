//! Netlists of standard cells, which `study/rtl/synthesise` writes, compared with the formulas that the RTL
//! is compared with: mapping has kept the function.

use crate::simulator::Simulation;
use crate::tools::{Tools, scratch, workspace};
use crate::units::{UNIT_TESTS, Unit};
use std::path::{Path, PathBuf};

/// The cells' own models, from Debian's qflow-tech-osu018.
const CELLS: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.v";

/// The netlist's file, the module around it and the unit's own test.
const NETLISTS: [(&str, &str, &str); 2] = [
    ("radix-16-unit.v", "radix16_netlist", "radix16_unit"),
    ("64-bit-modular-multiplier.v", "booth_netlist", "booth_unit"),
];

/// The vectors that Icarus has run on a netlist, and the outputs that differed.
fn icarus(netlist: PathBuf, unit: &Unit, folder: &Path) -> (u64, u64) {
    let tests = workspace().join("study/rtl/tests");
    let files = [CELLS.into(), netlist, tests.join("netlist_wrappers.sv"), tests.join("unit_tb.sv")];
    let simulation = Simulation::icarus("unit_tb", &unit.defines(), &files, folder);
    let counts = simulation.run(&[unit.write_vectors(unit.vectors, folder)], &["vectors", "differences"]);
    (counts[0], counts[1])
}

/// Every netlist computes what its unit does, and a netlist with one wrong cell does not.
/// `MODMILL_RTL_NETLISTS` names the folder of `study/rtl/synthesise`.
#[test]
#[ignore = "needs netlists: study/rtl/check --full runs it"]
fn netlists_are_right() {
    if Tools::find().is_none() {
        return;
    }
    let synthesised =
        std::env::var_os("MODMILL_RTL_NETLISTS").map(PathBuf::from).expect("a folder of netlists");
    for (file, module, name) in NETLISTS {
        let unit =
            UNIT_TESTS.iter().find(|unit| unit.module == name).expect("the unit's test").mapped(module);
        let folder = scratch(module);
        let netlist = synthesised.join(file);
        let vectors = unit.vectors as u64;
        assert_eq!(icarus(netlist.clone(), &unit, &folder), (vectors, 0), "{file}");

        let text = std::fs::read_to_string(&netlist).expect("a netlist");
        let wrong = text.replacen("  XNOR2X1 ", "  XOR2X1 ", 1);
        assert!(wrong != text, "{file} has no XNOR2X1");
        let mutant = folder.join("mutant.v");
        std::fs::write(&mutant, wrong).expect("a mutant");
        let (run, differences) = icarus(mutant, &unit, &folder);
        assert!(run == vectors && differences > 0, "{file}: the wrong cell was not noticed");
    }
}
