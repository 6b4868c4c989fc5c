//! Chapter 7's modular multiplier and exponentiator, compared with the model and with num-bigint.

use crate::simulator::{Define, Simulation};
use crate::sources::{Mutant, mutated};
use crate::tools::{Tools, scratch, table, workspace};
use fastrand::Rng;
use modmill_hardware::{Form, ModularMultiplier, ModularProduct};
use num_bigint::BigUint;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Rows of 32 digits of a number.
const ROWS: usize = 16;

/// Numbers of the machine's host port.
const X: usize = 0;
const Y: usize = 1;
const NEGATED_INVERSE: usize = 2;
const MODULUS: usize = 3;
const COMPLEMENT: usize = 4;

/// Contents of a packet behind its header, besides the numbers above.
const EXPONENT: usize = 5;
const OPERATION: usize = 6;
const POWER: usize = 7;

/// The bit of a header that wants the result.
const SEND: usize = 1 << 7;

/// Packets for `modular_tb`, and what it should answer.
#[derive(Default)]
struct Script {
    digit_bits: usize,
    text: String,
    cycles: Vec<u64>,
    results: Vec<BigUint>,
}

impl Script {
    fn header(&mut self, header: usize) {
        let last = u8::from(header & 7 >= OPERATION);
        let _ = writeln!(self.text, "{last} {header:x}");
    }

    fn write(&mut self, memory: usize, number: &BigUint) {
        self.header(memory);
        let width = 32 * self.digit_bits / 4;
        let digits = format!("{number:0>width$x}", width = ROWS * width);
        for (row, chunk) in digits.as_bytes().rchunks(width).enumerate() {
            let last = u8::from(row == ROWS - 1);
            let _ = writeln!(self.text, "{last} {}", String::from_utf8_lossy(chunk));
        }
    }

    fn transform(&mut self, target: usize) {
        self.header(OPERATION | target << 5);
        self.cycles.push(300);
    }

    fn multiply(&mut self, operation: usize, product: &ModularProduct) {
        self.header(OPERATION | operation << 3 | SEND);
        self.cycles.push(product.cycles());
        self.results.push(number(&product.limbs));
    }
}

fn number(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::default(), |sum, &limb| (sum << 64_u32) + limb)
}

/// Products in all forms, of hard and random factors, one after the other, and a power.
fn script(digit_bits: u32) -> Script {
    let bits = 512 * digit_bits as usize;
    let r = BigUint::from(1_u32) << bits;
    let mut random = Rng::with_seed(29);
    let mut draw = || BigUint::new((0..bits / 32).map(|_| random.u32(..)).collect());
    let modulus = draw() | BigUint::from(1_u32) | (&r >> 1_u32);
    let mut machine = ModularMultiplier::new(digit_bits, &modulus.to_u64_digits()).expect("a modulus");
    let mut script = Script { digit_bits: digit_bits as usize, ..Script::default() };
    // -M^-1 mod R: M' M + 1 is a multiple of R, by Newton's iteration for M^-1.
    let two = BigUint::from(2_u32);
    let inverse = (0..14).fold(BigUint::from(1_u32), |x, _| {
        let correction = (&two + &r - &modulus * &x % &r) % &r;
        x * correction % &r
    });
    assert_eq!(&inverse * &modulus % &r, BigUint::from(1_u32));
    script.write(NEGATED_INVERSE, &(&r - inverse));
    script.transform(NEGATED_INVERSE);
    script.write(MODULUS, &modulus);
    script.transform(MODULUS);
    script.write(COMPLEMENT, &(&r - &modulus));

    let most = &modulus - 1_u32;
    for (x, y) in
        [(draw() % &modulus, draw() % &modulus), (most.clone(), most.clone()), (BigUint::default(), most)]
    {
        script.write(X, &x);
        script.write(Y, &y);
        let limbs = [&x, &y].map(BigUint::to_u64_digits);
        let mut product = machine.multiply(&limbs[0], &limbs[1], Form::Number).expect("a product");
        script.multiply(3, &product);
        // The result is the first factor of the next product, wherever the last subtraction left it.
        for (operation, form) in [(2, Form::Same), (1, Form::Prepared)] {
            product = machine.multiply(&product.limbs, &[], form).expect("a product");
            script.multiply(operation, &product);
        }
    }

    let (base, exponent) = (draw() % &modulus, 0b101_1001_u64);
    let power = machine.pow_vartime(&base.to_u64_digits(), &[exponent]).expect("a power");
    assert_eq!(number(&power.limbs), base.modpow(&exponent.into(), &modulus));
    script.write(X, &(&r % &modulus));
    script.write(Y, &(base * &r % &modulus));
    let length = 64 - exponent.leading_zeros() as usize;
    script.write(EXPONENT, &(BigUint::from(exponent) << (bits - length)));
    script.header(POWER | length << 8 | SEND);
    script.cycles.push(300 + power.loop_cycles);
    script.results.push(number(&power.limbs) * &r % &modulus);
    script
}

/// The files of the exponentiator, which `study/rtl/modmill_exponentiator.f` lists, and its testbench.
fn files(mutant: Option<Mutant>, folder: &Path) -> Vec<PathBuf> {
    let list = std::fs::read_to_string(workspace().join("study/rtl/modmill_exponentiator.f"))
        .expect("the list of files");
    let names: Vec<String> = list.lines().chain(["tests/modular_tb.sv"]).map(str::to_owned).collect();
    mutated(&names, mutant, folder)
}

/// The program that simulates the machine, and its folder.
fn verilated(tools: &Tools, digit_bits: u32, embedded: u32, mutant: Option<Mutant>) -> (Simulation, PathBuf) {
    let folder = scratch(&format!("modular-{digit_bits}-{embedded}-{}", mutant.is_some()));
    let table = format!("\"{}\"", table().display());
    let defines: [Define; 3] =
        [("DIGIT", digit_bits.to_string()), ("EMBEDDED", embedded.to_string()), ("TABLE", table)];
    let files = files(mutant, &folder);
    (Simulation::verilator(tools, "modular_tb", &defines, &files, &folder, false), folder)
}

/// Runs the script with ports that are always open or open at random, and compares results and cycles; `true`
/// if all agree.
fn agrees(simulation: &Simulation, digit_bits: u32, open: bool, folder: &Path) -> bool {
    let script = script(digit_bits);
    let mut random = Rng::with_seed(31);
    let ports: String = match open {
        true => "3\n".to_owned(),
        false => (0..997).map(|_| format!("{}\n", random.u64(..) & 3)).collect(),
    };
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file for the simulation");
        format!("+{name}={}", path.display())
    };
    let out = folder.join("out");
    let most = 2 * script.cycles.iter().sum::<u64>() + 10_000;
    let arguments = [
        write("packets", &script.text),
        write("ports", &ports),
        format!("+out={}", out.display()),
        format!("+cycles={most}"),
    ];
    let broken = simulation.run(&arguments, &["broken"])[0];
    let text = std::fs::read_to_string(&out).expect("the results");
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let values = |name: &str| {
        lines.iter().filter(|(word, _)| *word == name).map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let cycles: Vec<u64> = values("cycles").iter().map(|value| value.parse().expect("cycles")).collect();
    let results: Vec<BigUint> = values("beat")
        .chunks(ROWS)
        .map(|rows| {
            let digits: String = rows.iter().rev().copied().collect();
            BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default()
        })
        .collect();
    println!(
        "digits of {digit_bits} bits: cycles {cycles:?}, in the model {:?}; {broken} broken handshakes",
        script.cycles
    );
    broken == 0 && cycles == script.cycles && results == script.results
}

/// Moduli of 8192 bits, with ports that open at random.
#[test]
fn modular_products_and_powers_agree_with_the_model() {
    let Some(tools) = Tools::find() else { return };
    let (simulation, folder) = verilated(&tools, 16, 1, None);
    assert!(agrees(&simulation, 16, false, &folder));
}

/// Moduli of 12 288 bits; multipliers of logic gates; ports that are always open.
#[test]
#[ignore = "takes minutes: study/rtl/check --full runs it"]
fn longer_moduli_and_other_multipliers_agree_with_the_model() {
    let Some(tools) = Tools::find() else { return };
    for (digit_bits, embedded) in [(24, 1), (16, 0)] {
        let (simulation, folder) = verilated(&tools, digit_bits, embedded, None);
        assert!(agrees(&simulation, digit_bits, true, &folder));
        assert!(agrees(&simulation, digit_bits, false, &folder));
    }
}

/// Mutants of every part of the machine, which the test above has to catch.
const MUTANTS: [Mutant; 8] = [
    Mutant { file: "modular/modmill_modular_combine.sv", from: "6 * LANE + 48", to: "6 * LANE + 42" },
    Mutant {
        file: "modular/modmill_modular_resolver.sv",
        from: "first_y ? 2'b0 : overflow_before",
        to: "2'b0",
    },
    Mutant { file: "modular/modmill_modular.sv", from: "above || digits[0]", to: "digits[0]" },
    Mutant { file: "modular/modmill_modular_control.sv", from: "8'd149 : 8'd45", to: "8'd149 : 8'd46" },
    Mutant { file: "modular/modmill_modular_transform.sv", from: "8'd182", to: "8'd181" },
    Mutant { file: "modular/modmill_modular_rotate.sv", from: "amount[3] ?", to: "amount[2] ?" },
    Mutant { file: "modular/modmill_exponentiator.sv", from: "squaring ? 2'd2 : 2'd1", to: "2'd2" },
    Mutant { file: "modular/modmill_stream_control.sv", from: "default: if (m_axis_tready)", to: "default:" },
];

#[test]
#[ignore = "takes minutes: study/rtl/check --full runs it"]
fn every_mutant_of_the_modular_multiplier_is_caught() {
    let Some(tools) = Tools::find() else { return };
    for mutant in MUTANTS {
        let (simulation, folder) = verilated(&tools, 16, 1, Some(mutant));
        assert!(!agrees(&simulation, 16, false, &folder), "the mutant of {} was not caught", mutant.file);
    }
}
