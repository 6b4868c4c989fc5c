//! `modmill hardware modular`.

use super::numbers::{parse_bits, parse_clock, random_number, read_number, shortened, time};
use crate::failure::Failure;
use crate::io;
use modmill::{hex, number};
use modmill_hardware::{Form, ModularMultiplier};
use modmill_measure::table::beside;
use serde_json::json;

const LONG_ABOUT: &str = "\
Multiplies two numbers modulo an odd number on the model of chapter 7's modular multiplier:
Montgomery's product a b R^-1 mod N with R = 2^8192 or R = 2^12288. The product is compared with
the library's own.

The full product transforms both factors. The fast one knows the transform of b already, as in a
power, where b is the base. Without --a, --b and --mod random numbers of full length are taken.";

const EXAMPLES: &str = "\
Examples:
  modmill hardware modular --bits 8K
  modmill hardware modular --bits 12K --fast --json
  modmill hardware modular --a 1234 --b 5678 --mod fffffffb";

/// Multiplies numbers on the model of chapter 7's modular multiplier
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Modular {
    /// First factor, below the modulus: hexadecimal digits, or @ and the name of a file that holds them
    #[arg(long, value_name = "HEX|@FILE", requires_all = ["b", "modulus"])]
    a: Option<String>,
    /// Second factor, below the modulus
    #[arg(long, value_name = "HEX|@FILE", requires_all = ["a", "modulus"])]
    b: Option<String>,
    /// Modulus, odd
    #[arg(long = "mod", value_name = "HEX|@FILE", requires_all = ["a", "b"])]
    modulus: Option<String>,
    /// Longest modulus: 8K (digits of 16 bits) or 12K (digits of 24 bits)
    #[arg(long, value_name = "BITS", default_value = "8K", value_parser = parse_bits)]
    bits: usize,
    /// The transform of the second factor is known
    #[arg(long)]
    fast: bool,
    /// Clock in MHz
    #[arg(long, value_name = "MHZ", default_value = "320", value_parser = parse_clock)]
    clock: f64,
    /// Print JSON, with the product
    #[arg(long)]
    json: bool,
}

/// Width of the column of names.
const NAMES: usize = 16;

impl Modular {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let digit_bits = match self.bits {
            8_192 => 16,
            12_288 => 24,
            other => {
                return Err(Failure::Usage(format!(
                    "there is no modular multiplier of {other} bits: there are 8K and 12K"
                )));
            }
        };
        let [a, b, modulus] = self.numbers()?;
        let mut machine = ModularMultiplier::new(digit_bits, &modulus)?;
        let product = match self.fast {
            true => {
                machine.prepare(&b)?;
                machine.multiply(&a, &[], Form::Prepared)?
            }
            false => machine.multiply(&a, &b, Form::Number)?,
        };
        self.check(&a, &b, &modulus, &product.limbs)?;
        let (cycles, seconds) = (product.cycles(), product.cycles() as f64 / (1e6 * self.clock));
        if self.json {
            let phases: Vec<_> = product
                .phases
                .iter()
                .map(|phase| json!({"phase": phase.name, "cycles": phase.cycles}))
                .collect();
            let answer = json!({
                "bits": self.bits,
                "product": hex::format(&product.limbs),
                "cycles": cycles,
                "clock_mhz": self.clock,
                "seconds": seconds,
                "phases": phases,
            });
            return io::print(&format!("{answer:#}\n"));
        }
        let kind = if self.fast { "fast" } else { "full" };
        let mut facts = vec![
            ("multiplier", format!("thesis, chapter 7: {} bits, {kind} product", self.bits)),
            ("product", format!("{}, equal to the library's", shortened(&product.limbs))),
            ("cycles", format!("{cycles}, {} at {} MHz", time(seconds), self.clock)),
        ];
        facts.extend(
            product.phases.iter().map(|phase| ("", format!("{}: {} cycles", phase.name, phase.cycles))),
        );
        io::print(&facts.iter().map(|(name, value)| beside(name, NAMES, value)).collect::<String>())
    }

    /// The factors and the modulus, without leading zero limbs.
    fn numbers(&self) -> Result<[Vec<u64>; 3], Failure> {
        let read = |option: &str, text: &Option<String>| {
            text.as_ref().map(|text| read_number(option, text)).transpose()
        };
        if let (Some(a), Some(b), Some(mut modulus)) =
            (read("--a", &self.a)?, read("--b", &self.b)?, read("--mod", &self.modulus)?)
        {
            modulus.truncate(number::bit_length(&modulus).div_ceil(64));
            return Ok([a, b, modulus]);
        }
        let mut modulus = random_number(self.bits, 3);
        modulus[0] |= 1;
        Ok([random_number(self.bits - 1, 1), random_number(self.bits - 1, 2), modulus])
    }

    /// Checks that `product R = a b` modulo the modulus.
    fn check(&self, a: &[u64], b: &[u64], modulus: &[u64], product: &[u64]) -> Result<(), Failure> {
        let mut r = vec![0; self.bits / 64 + 1];
        r[self.bits / 64] = 1;
        let left = number::mul_mod(product, &r, modulus);
        let right = number::mul_mod(a, b, modulus);
        match number::equal(&left, &right) {
            true => Ok(()),
            false => Err(Failure::Items(
                "the model's product is not Montgomery's product of the two numbers".to_owned(),
            )),
        }
    }
}
