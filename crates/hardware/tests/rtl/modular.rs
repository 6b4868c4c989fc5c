//! Chapter 7's modular multiplier and exponentiator beside the model, and beside num-bigint.

use crate::simulator::{Define, Simulation};
use crate::sources::{Mutant, mutated};
use crate::tools::{Tools, scratch, table, workspace};
use crate::vectors::Random;
use modmill_hardware::{Form, ModularMultiplier};
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

/// A script for `modular_tb`, and what it should answer.
#[derive(Default)]
struct Script {
    digit_bits: usize,
    text: String,
    cycles: Vec<u64>,
    results: Vec<BigUint>,
}

impl Script {
    fn write(&mut self, memory: usize, number: &BigUint) {
        let width = 32 * self.digit_bits / 4;
        let digits = format!("{number:0>width$x}", width = ROWS * width);
        for (row, chunk) in digits.as_bytes().rchunks(width).enumerate() {
            let _ = writeln!(self.text, "w {memory} {row} {}", String::from_utf8_lossy(chunk));
        }
    }

    fn operation(&mut self, operation: usize, target: usize, cycles: u64) {
        let _ = writeln!(self.text, "o {operation} {target}");
        self.cycles.push(cycles);
    }

    fn read(&mut self, expected: &[u64]) {
        (0..ROWS).for_each(|row| self.text += &format!("r {row}\n"));
        self.results.push(number(expected));
    }
}

fn number(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::default(), |sum, &limb| (sum << 64_u32) + limb)
}

/// Products in all forms, of hard and random factors, one after the other, and a power.
fn script(digit_bits: u32) -> Script {
    let bits = 512 * digit_bits as usize;
    let r = BigUint::from(1_u32) << bits;
    let mut random = Random::new(29);
    let mut draw = || BigUint::new((0..bits / 32).map(|_| random.next() as u32).collect());
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
    script.operation(0, NEGATED_INVERSE, 300);
    script.write(MODULUS, &modulus);
    script.operation(0, MODULUS, 300);
    script.write(COMPLEMENT, &(&r - &modulus));

    let most = &modulus - 1_u32;
    for (x, y) in
        [(draw() % &modulus, draw() % &modulus), (most.clone(), most.clone()), (BigUint::default(), most)]
    {
        script.write(X, &x);
        script.write(Y, &y);
        let limbs = [&x, &y].map(BigUint::to_u64_digits);
        let mut product = machine.multiply(&limbs[0], &limbs[1], Form::Number).expect("a product");
        script.operation(3, 0, product.cycles());
        script.read(&product.limbs);
        // The result is the first factor of the next product, wherever the last subtraction left it.
        for (operation, form) in [(2, Form::Same), (1, Form::Prepared)] {
            product = machine.multiply(&product.limbs, &[], form).expect("a product");
            script.operation(operation, 0, product.cycles());
            script.read(&product.limbs);
        }
    }

    let (base, exponent) = (draw() % &modulus, 0b101_1001_u64);
    let power = machine.pow_vartime(&base.to_u64_digits(), &[exponent]).expect("a power");
    assert_eq!(number(&power.limbs), base.modpow(&exponent.into(), &modulus));
    script.write(X, &(&r % &modulus));
    script.write(Y, &(base * &r % &modulus));
    let length = 64 - exponent.leading_zeros();
    let words = std::iter::once(exponent << (64 - length)).chain(vec![0; bits / 64 - 1]);
    words.for_each(|word| script.text += &format!("x {word:x}\n"));
    script.text += &format!("p {length}\n");
    script.cycles.push(300 + power.loop_cycles);
    let montgomery = number(&power.limbs) * &r % &modulus;
    script.read(&montgomery.to_u64_digits());
    script
}

/// The files of the exponentiator, which `rtl/modmill_exponentiator.f` lists, and its testbench.
fn files(mutant: Option<Mutant>, folder: &Path) -> Vec<PathBuf> {
    let list =
        std::fs::read_to_string(workspace().join("rtl/modmill_exponentiator.f")).expect("the list of files");
    let names: Vec<String> = list.lines().chain(["tests/modular_tb.sv"]).map(str::to_owned).collect();
    mutated(&names, mutant, folder)
}

/// Simulates, and compares results and cycles; `true` if all agree.
fn agrees(tools: &Tools, digit_bits: u32, embedded: u32, mutant: Option<Mutant>) -> bool {
    let folder = scratch(&format!("modular-{digit_bits}-{embedded}-{}", mutant.is_some()));
    let table = format!("\"{}\"", table().display());
    let defines: [Define; 3] =
        [("DIGIT", digit_bits.to_string()), ("EMBEDDED", embedded.to_string()), ("TABLE", table)];
    let files = files(mutant, &folder);
    let simulation = Simulation::verilator(tools, "modular_tb", &defines, &files, &folder, false);
    let script = script(digit_bits);
    let (input, output) = (folder.join("script"), folder.join("out"));
    std::fs::write(&input, &script.text).expect("a script");
    simulation
        .run(&[format!("+script={}", input.display()), format!("+out={}", output.display())], &["total"]);
    let text = std::fs::read_to_string(&output).expect("the results");
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let values = |name: &str| {
        lines.iter().filter(|(word, _)| *word == name).map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let cycles: Vec<u64> = values("cycles").iter().map(|value| value.parse().expect("cycles")).collect();
    let results: Vec<BigUint> = values("row")
        .chunks(ROWS)
        .map(|rows| {
            let digits: String = rows.iter().rev().copied().collect();
            BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default()
        })
        .collect();
    println!("digits of {digit_bits} bits: cycles {cycles:?}, in the model {:?}", script.cycles);
    cycles == script.cycles && results == script.results
}

#[test]
fn modular_products_and_powers_agree_with_the_model() {
    let Some(tools) = Tools::find() else { return };
    for digit_bits in [16, 24] {
        assert!(agrees(&tools, digit_bits, 1, None));
    }
}

const MUTANTS: [Mutant; 4] = [
    Mutant { file: "modular/modmill_modular_combine.sv", from: "6 * LANE + 48", to: "6 * LANE + 42" },
    Mutant {
        file: "modular/modmill_modular_resolver.sv",
        from: "first_y ? 2'b0 : overflow_before",
        to: "2'b0",
    },
    Mutant { file: "modular/modmill_modular.sv", from: "above || digits[0]", to: "digits[0]" },
    Mutant { file: "modular/modmill_exponentiator.sv", from: "squaring ? 2'd2 : 2'd1", to: "2'd2" },
];

#[test]
#[ignore = "takes minutes: rtl/check --full runs it"]
fn every_mutant_of_the_modular_multiplier_is_caught() {
    let Some(tools) = Tools::find() else { return };
    for mutant in MUTANTS {
        assert!(!agrees(&tools, 16, 1, Some(mutant)), "the mutant of {} was not caught", mutant.file);
    }
    // And the multipliers of logic gates serve as well.
    assert!(agrees(&tools, 16, 0, None));
}
