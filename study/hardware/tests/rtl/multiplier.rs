//! The whole multiplier compared with the model, cycle for cycle, and with products by num-bigint.

use crate::simulator::{Define, Simulation};
use crate::sources::{MULTIPLIER, Mutant, files};
use crate::tools::{Tools, scratch, table};
use fastrand::Rng;
use modmill_hardware::{Design, Multiplier, Ports};
use num_bigint::BigUint;
use std::fmt::Write;
use std::path::Path;

/// The depth of the RTL's pipeline.
const LATENCY: usize = 17;

/// Bits of a beat.
const BEAT: usize = 384;

/// The model of the RTL with `stages` stages.
fn design(stages: u32) -> Design {
    Design { latency: LATENCY, ..Design::improved() }.with_stages(stages)
}

/// Operands that reach every carry, and random ones.
fn operands(bits: usize, products: usize, seed: u64) -> Vec<[BigUint; 2]> {
    let mut random = Rng::with_seed(seed);
    let ones = (BigUint::from(1_u32) << bits) - 1_u32;
    let mut draw = || {
        let words = (0..bits / 32).map(|_| random.u32(..)).collect();
        BigUint::new(words)
    };
    (0..products)
        .map(|product| match product {
            0 => [draw(), draw()],
            1 => [ones.clone(), ones.clone()],
            2 => [&ones - 1_u32, BigUint::from(1_u32) << (bits - 1)],
            3 => [BigUint::from(0_u32), draw()],
            _ => [draw(), ones.clone()],
        })
        .collect()
}

/// The events at the ports in each cycle: always open, or open at random.
fn ports(open: bool) -> Vec<Ports> {
    let mut random = Rng::with_seed(5);
    let mut often = || !random.u64(..).is_multiple_of(4);
    match open {
        true => vec![Ports::OPEN],
        false => (0..997).map(|_| Ports { valid: [often(), often()], ready: often() }).collect(),
    }
}

/// The products of the model and the cycles in which their last beats leave.
fn model(design: Design, operands: &[[BigUint; 2]], ports: &[Ports]) -> Vec<(BigUint, u64)> {
    let mut machine = Multiplier::new(design).expect("a design");
    for [a, b] in operands {
        machine.offer(&a.to_u64_digits(), &b.to_u64_digits()).expect("operands that fit");
    }
    for ports in ports.iter().cycle() {
        if machine.products().len() == operands.len() {
            break;
        }
        machine.clock(*ports).expect("a schedule that keeps the rules of the memories");
    }
    let value =
        |limbs: &[u64]| limbs.iter().rev().fold(BigUint::default(), |sum, &limb| (sum << 64_u32) + limb);
    machine.products().iter().map(|product| (value(&product.limbs), product.last_cycle)).collect()
}

/// The beats of `number`, the least significant first, as lines in hexadecimal.
fn beats(number: &BigUint, count: usize) -> String {
    let digits = number.to_str_radix(16);
    let digits = "0".repeat(count * BEAT / 4 - digits.len()) + &digits;
    let lines: Vec<_> =
        digits.as_bytes().chunks(BEAT / 4).rev().map(|line| String::from_utf8_lossy(line)).collect();
    lines.join("\n") + "\n"
}

/// The program that simulates the multiplier.
fn defines(stages: u32, embedded: u32) -> [Define; 3] {
    let table = format!("\"{}\"", table().display());
    [("STAGES", stages.to_string()), ("EMBEDDED", embedded.to_string()), ("TABLE", table)]
}

/// The products of the RTL, the cycles in which their last beats leave, and broken rules of the handshake.
fn rtl(
    simulation: &Simulation,
    design: Design,
    operands: &[[BigUint; 2]],
    ports: &[Ports],
    folder: &Path,
) -> (Vec<(BigUint, u64)>, u64) {
    let count = design.load_beats();
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file for the simulation");
        format!("+{name}={}", path.display())
    };
    let port_lines = ports.iter().fold(String::new(), |mut text, ports| {
        let bits = u8::from(ports.valid[0]) | u8::from(ports.valid[1]) << 1 | u8::from(ports.ready) << 2;
        let _ = writeln!(text, "{bits}");
        text
    });
    let out = folder.join("out");
    let most = 4 * design.product_cycles() * operands.len() as u64;
    let arguments = [
        write("a", operands.iter().map(|[a, _]| beats(a, count)).collect()),
        write("b", operands.iter().map(|[_, b]| beats(b, count)).collect()),
        write("ports", port_lines),
        format!("+out={}", out.display()),
        format!("+products={}", operands.len()),
        format!("+cycles={most}"),
    ];
    let broken = simulation.run(&arguments, &["broken"])[0];
    let text = std::fs::read_to_string(&out).expect("the product");
    let lines: Vec<_> = text.lines().collect();
    let products = lines.chunks_exact(2 * count).map(|lines| {
        let split: Vec<_> = lines.iter().filter_map(|line| line.split_once(' ')).collect();
        let digits: String = split.iter().rev().map(|(_, beat)| *beat).collect();
        let last = split.last().expect("a beat").0.parse().expect("a cycle");
        (BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default(), last)
    });
    (products.collect(), broken)
}

/// Compares products and cycles; `true` if all agree.
fn agrees(simulation: &Simulation, stages: u32, products: usize, open: bool, folder: &Path) -> bool {
    let design = design(stages);
    let operands = operands(design.operand_bits(), products, 11);
    let ports = ports(open);
    let expected = model(design, &operands, &ports);
    let (got, broken) = rtl(simulation, design, &operands, &ports, folder);
    let right = operands.iter().zip(&expected).all(|([a, b], (product, _))| a * b == *product);
    assert!(right, "the model's products are wrong");
    let cycles: Vec<_> = got.iter().map(|(_, cycle)| cycle).collect();
    let model_cycles: Vec<_> = expected.iter().map(|(_, cycle)| cycle).collect();
    println!(
        "{stages} stages: last beats in cycles {cycles:?}, in the model {model_cycles:?}; {broken} broken handshakes"
    );
    broken == 0 && got == expected
}

fn verilated(
    tools: &Tools,
    name: &str,
    stages: u32,
    embedded: u32,
    optimise: bool,
) -> (Simulation, std::path::PathBuf) {
    let folder = scratch(name);
    let files = files(MULTIPLIER, None, &folder);
    let defines = defines(stages, embedded);
    (Simulation::verilator(tools, "multiplier_tb", &defines, &files, &folder, optimise), folder)
}

/// A stream of products of 3 Kbit, with open ports and with ports that open at random, in a simulator that
/// knows unknown values.
#[test]
fn small_products_agree_in_every_cycle() {
    if Tools::find().is_none() {
        return;
    }
    let folder = scratch("multiplier-2");
    let files = files(MULTIPLIER, None, &folder);
    let simulation = Simulation::icarus("multiplier_tb", &defines(2, 1), &files, &folder);
    assert!(agrees(&simulation, 2, 5, true, &folder));
    assert!(agrees(&simulation, 2, 5, false, &folder));
}

/// The example of `study/rtl/README.md`.
#[test]
fn the_example_runs() {
    if Tools::find().is_none() {
        return;
    }
    let folder = scratch("example");
    let files = files(&["tests/example_tb.sv"], None, &folder);
    let simulation = Simulation::icarus("example_tb", &[], &files, &folder);
    assert_eq!(simulation.run(&[], &["right"]), [1]);
}

/// Mutants of every part of the machine, which the test above has to catch.
const MUTANTS: [Mutant; 9] = [
    Mutant {
        file: "machine/modmill_group.sv",
        from: "others1[STEP-1] = 1'b1;",
        to: "others1[STEP-1] = 1'b0;",
    },
    Mutant { file: "machine/modmill_rows.sv", from: "{1'(MEMORY), i[2:0]}", to: "{1'b0, i[2:0]}" },
    Mutant {
        file: "machine/modmill_exponent_lines.sv",
        from: "times(2'(j / 4), ",
        to: "times(2'(j / 4 ^ 1), ",
    },
    Mutant { file: "machine/modmill_input.sv", from: ".amount(4'd0 - top)", to: ".amount(4'd0)" },
    Mutant { file: "machine/modmill_resolver.sv", from: "(carry_before && !first_y)", to: "(1'b0)" },
    Mutant { file: "machine/modmill_sequence.sv", from: "LAST_FORWARD >> 1", to: "LAST_FORWARD" },
    Mutant { file: "machine/modmill_control.sv", from: ".FIRST(AHEAD)", to: ".FIRST(AHEAD - 1)" },
    Mutant { file: "machine/modmill_processor.sv", from: "inverse ? transform", to: "1'b0 ? transform" },
    Mutant { file: "modmill_multiplier.sv", from: "!(m_axis_tvalid && !m_axis_tready)", to: "1'b1" },
];

#[test]
fn every_mutant_of_the_machine_is_caught() {
    if Tools::find().is_none() {
        return;
    }
    for mutant in MUTANTS {
        let folder = scratch("multiplier-mutant");
        let files = files(MULTIPLIER, Some(mutant), &folder);
        let simulation = Simulation::icarus("multiplier_tb", &defines(2, 1), &files, &folder);
        assert!(!agrees(&simulation, 2, 2, false, &folder), "the mutant of {} was not caught", mutant.file);
    }
}

/// Products of 48 Kbit, whose rows the next product overwrites while they are read: the rows of every second
/// product are in the opposite order.
#[test]
#[ignore = "takes a minute: study/rtl/check --full runs it"]
fn the_order_of_rows_is_needed() {
    if Tools::find().is_none() {
        return;
    }
    let always =
        Mutant { file: "machine/modmill_sequence.sv", from: "parity <= !parity;", to: "parity <= parity;" };
    for mutant in [None, Some(always)] {
        let folder = scratch("multiplier-3");
        let files = files(MULTIPLIER, mutant, &folder);
        let simulation = Simulation::icarus("multiplier_tb", &defines(3, 1), &files, &folder);
        assert_eq!(agrees(&simulation, 3, 2, true, &folder), mutant.is_none());
    }
}

/// Whole products of 768 Kbit, one after the other. The second takes the steady stream's cycles.
#[test]
fn whole_products_agree_in_every_cycle() {
    let Some(tools) = Tools::find() else { return };
    let (simulation, folder) = verilated(&tools, "multiplier-4", 4, 1, false);
    assert!(agrees(&simulation, 4, 2, true, &folder));
}

/// With the multipliers of logic gates, 4096 and 65 536 points, and ports that open at random.
#[test]
#[ignore = "takes minutes: study/rtl/check --full runs it"]
fn whole_products_agree_with_booth_multipliers_and_waiting_ports() {
    let Some(tools) = Tools::find() else { return };
    for stages in [3, 4] {
        let (simulation, folder) = verilated(&tools, &format!("multiplier-booth-{stages}"), stages, 0, true);
        assert!(agrees(&simulation, stages, 3, false, &folder));
    }
}
