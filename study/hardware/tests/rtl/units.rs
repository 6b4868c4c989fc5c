//! The units compared with direct formulas: hard and random vectors, unknown values, mutants.

use crate::simulator::{Define, Simulation};
use crate::sources::{Mutant, UNITS, files};
use crate::tools::{Tools, scratch, table};
use crate::vectors::{hard_word, hex, plus, power, times};
use fastrand::Rng;
use std::fmt::Write;

const P: u64 = 0xFFFF_FFFF_0000_0001;

/// A unit under test.
pub(crate) struct Unit {
    pub(crate) module: &'static str,
    inputs: usize,
    outputs: usize,
    depth: usize,
    /// Vectors for Icarus, which takes some milliseconds for each one of the long units.
    pub(crate) vectors: usize,
    /// A line of the file of vectors: the input and the right output.
    vector: fn(&mut Rng) -> (Vec<u64>, Vec<u64>),
    mutant: Mutant,
}

/// The 16-point transform by its definition (equation 5.2); `sign` is 1, or 15 for the inverse.
fn transform(x: &[u64], sign: u64) -> Vec<u64> {
    let term = |k: u64, n: u64| times(x[n as usize] % P, power(4096, n * k * sign % 16));
    (0..16).map(|k| (0..16).fold(0, |sum, n| plus(sum, term(k, n)))).collect()
}

fn sixteen(random: &mut Rng) -> Vec<u64> {
    (0..16).map(|_| hard_word(random)).collect()
}

pub(crate) const UNIT_TESTS: [Unit; 6] = [
    Unit {
        module: "radix16_unit",
        inputs: 1024,
        outputs: 1024,
        depth: 5,
        vectors: 200,
        vector: |random| {
            let x = sixteen(random);
            let y = transform(&x, 1);
            (x, y)
        },
        mutant: Mutant {
            file: "units/modmill_radix16_lane.sv",
            from: "(24 * LANE) % 192",
            to: "(24 * LANE + 96 * (LANE == 7)) % 192",
        },
    },
    Unit {
        module: "thesis_radix16_unit",
        inputs: 1025,
        outputs: 1024,
        depth: 5,
        vectors: 40,
        // The direction of all lanes goes with the data.
        vector: |random| {
            let mut x = sixteen(random);
            let inverse = random.u64(..) & 1;
            let y = transform(&x, if inverse == 1 { 15 } else { 1 });
            x.push(inverse);
            (x, y)
        },
        mutant: Mutant { file: "thesis/thesis_sum16.sv", from: ".carry_in(z[192])", to: ".carry_in(1'b0)" },
    },
    Unit {
        module: "booth_unit",
        inputs: 128,
        outputs: 64,
        depth: 6,
        vectors: 150,
        vector: product,
        mutant: Mutant {
            file: "units/modmill_mulmod_booth.sv",
            from: "& ~once;",
            to: "& ~once & (i != 31);",
        },
    },
    Unit {
        module: "embedded_unit",
        inputs: 128,
        outputs: 64,
        depth: 6,
        vectors: 1000,
        vector: product,
        mutant: Mutant {
            file: "units/modmill_ring.sv",
            from: "save_carry = {carry[94:0], ~carry[95]};",
            to: "save_carry = {carry[94:0], carry[95]};",
        },
    },
    Unit {
        module: "fold_unit",
        inputs: 257,
        outputs: 64,
        depth: 3,
        vectors: 2000,
        vector: |random| {
            let mut x: Vec<_> = (0..4).map(|_| hard_word(random)).collect();
            x.push(random.u64(..) & 1);
            let y = x.iter().fold(P - 1, |sum, &word| plus(sum, word % P));
            (x, vec![y])
        },
        // The reduction is left out where nothing overflows: only results of p or more notice.
        mutant: Mutant {
            file: "units/modmill_fold_last.sv",
            from: "overflow = high_reduced[3]",
            to: "overflow = high_plain[3]",
        },
    },
    Unit {
        module: "twiddle_unit",
        inputs: 25,
        outputs: 64,
        depth: 5,
        vectors: 2000,
        vector: |random| {
            let (exponent, extra, scale) = (random.u64(..) % 65536, random.u64(..) % 192, random.u64(..) & 1);
            let root = 0xDC92_18A8_6D10_F3A3;
            let low = power(root, exponent % 1024);
            let y = if scale == 1 { times(low, power(2, extra)) } else { power(root, exponent) };
            (vec![exponent | extra << 16 | scale << 24], vec![y])
        },
        mutant: Mutant {
            file: "machine/modmill_twiddle.sv",
            from: "negative_2 <= negative;",
            to: "negative_2 <= 1'b0;",
        },
    },
];

fn product(random: &mut Rng) -> (Vec<u64>, Vec<u64>) {
    let (a, b) = (hard_word(random), hard_word(random));
    (vec![b, a], vec![times(a % P, b % P)])
}

impl Unit {
    /// This unit as a netlist in `module`: the tops for synthesis have a register before the unit.
    pub(crate) fn mapped(&self, module: &'static str) -> Self {
        Self { module, depth: self.depth + 1, ..*self }
    }

    pub(crate) fn defines(&self) -> [Define; 5] {
        [
            ("DUT", self.module.to_owned()),
            ("IN", self.inputs.to_string()),
            ("OUT", self.outputs.to_string()),
            ("DEPTH", self.depth.to_string()),
            ("TABLE", format!("\"{}\"", table().display())),
        ]
    }

    /// A file of `count` vectors.
    pub(crate) fn write_vectors(&self, count: usize, folder: &std::path::Path) -> String {
        let mut random = Rng::with_seed(self.module.len() as u64);
        let mut text = String::new();
        for _ in 0..count {
            let (x, y) = (self.vector)(&mut random);
            let _ = writeln!(text, "{} {}", hex(&x), hex(&y));
        }
        let path = folder.join("vectors");
        std::fs::write(&path, text).expect("vectors");
        format!("+vectors={}", path.display())
    }

    /// The vectors that Icarus has run, and the outputs that differed.
    fn icarus(&self, mutant: Option<Mutant>) -> (u64, u64) {
        let folder =
            scratch(&format!("{}-{}", self.module, if mutant.is_some() { "mutant" } else { "icarus" }));
        let files = files(UNITS, mutant, &folder);
        let simulation = Simulation::icarus("unit_tb", &self.defines(), &files, &folder);
        let counts =
            simulation.run(&[self.write_vectors(self.vectors, &folder)], &["vectors", "differences"]);
        (counts[0], counts[1])
    }
}

/// Every unit in a four-state simulator, in which an unknown bit at an output is a difference.
#[test]
fn units_are_right_and_let_no_unknown_value_through() {
    if Tools::find().is_none() {
        return;
    }
    for unit in &UNIT_TESTS {
        assert_eq!(unit.icarus(None), (unit.vectors as u64, 0), "{}", unit.module);
    }
}

/// Every unit's test notices a wrong unit.
#[test]
fn every_mutant_of_a_unit_is_caught() {
    if Tools::find().is_none() {
        return;
    }
    for unit in &UNIT_TESTS {
        let (vectors, differences) = unit.icarus(Some(unit.mutant));
        assert!(
            vectors == unit.vectors as u64 && differences > 0,
            "{}: the mutant was not caught",
            unit.module
        );
    }
}

/// Many more vectors, compiled.
#[test]
#[ignore = "takes minutes: study/rtl/check --full runs it"]
fn units_are_right_on_many_vectors() {
    let Some(tools) = Tools::find() else { return };
    for unit in &UNIT_TESTS {
        let folder = scratch(&format!("{}-verilator", unit.module));
        let files = files(UNITS, None, &folder);
        let simulation = Simulation::verilator(&tools, "unit_tb", &unit.defines(), &files, &folder, false);
        let counts = simulation.run(&[unit.write_vectors(20_000, &folder)], &["vectors", "differences"]);
        assert_eq!(counts, [20_000, 0], "{}", unit.module);
    }
}

/// The formulas of these tests agree with the model.
#[test]
fn the_model_transforms_alike() {
    let mut random = Rng::with_seed(3);
    for _ in 0..50 {
        let x = sixteen(&mut random).iter().map(|&word| word % P).collect::<Vec<_>>();
        let fixed: [u64; 16] = x.clone().try_into().expect("16 words");
        let forward = modmill_hardware::radix16(&fixed, modmill_hardware::Direction::Forward);
        assert_eq!(forward.to_vec(), transform(&x, 1));
    }
}
