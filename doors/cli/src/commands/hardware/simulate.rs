//! `modmill hardware simulate`.

use super::numbers::{parse_bits, parse_clock, random_number, read_number, shortened, time};
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::progress::Bar;
use modmill::{hex, number};
use modmill_hardware::{Design, Kind, Multiplier, Part, draw};
use modmill_measure::table::beside;
use serde_json::json;

const LONG_ABOUT: &str = "\
Multiplies two numbers on the model of a hardware multiplier, cycle by cycle, and compares the
product with the library's own.

The multiplier is the one of chapter 5 of the thesis on FHE accelerators, or with --improved one
with the same two radix-16 units that keeps both of them busy. Without --a and --b two random
numbers are multiplied. --bits 768K is the multiplier of the thesis; 3K and 48K are the same
machine with transforms of 256 and 4096 points, for quick trials.

Time is cycles divided by the clock, and 200 MHz is the clock of the thesis at 90 nm.";

const EXAMPLES: &str = "\
Examples:
  modmill hardware simulate --bits 768K
  modmill hardware simulate --improved --products 3 --svg schedule.svg
  modmill hardware simulate --a @a.hex --b @b.hex --improved --json";

/// Multiplies numbers on the model of a multiplier
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Simulate {
    /// First factor: hexadecimal digits, or @ and the name of a file that holds them
    #[arg(long, value_name = "HEX|@FILE", requires = "b")]
    a: Option<String>,
    /// Second factor
    #[arg(long, value_name = "HEX|@FILE", requires = "a")]
    b: Option<String>,
    /// Longest factor of the multiplier: 3K, 48K or 768K
    #[arg(long, value_name = "BITS", default_value = "768K", value_parser = parse_bits)]
    bits: usize,
    /// The improved multiplier instead of the thesis's
    #[arg(long)]
    improved: bool,
    /// Products in a stream, one after the other; the numbers are the same for each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    products: u16,
    /// Clock in MHz
    #[arg(long, value_name = "MHZ", default_value = "200", value_parser = parse_clock)]
    clock: f64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write a plot of what each part did in which cycles to this file as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    /// Print JSON, with the product
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// Width of the column of names.
const NAMES: usize = 16;

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let kind = if self.improved { Kind::Improved } else { Kind::Thesis };
        let design = Design::for_bits(kind, self.bits)?;
        let svg = self.svg.as_deref().map(Output::create).transpose()?;
        let factor = |option: &str, text: &Option<String>, seed: u64| match text {
            Some(text) => read_number(option, text),
            None => Ok(random_number(self.bits, seed)),
        };
        let a = factor("--a", &self.a, self.seed)?;
        let b = factor("--b", &self.b, !self.seed)?;
        let mut machine = Multiplier::new(design)?;
        for _ in 0..self.products {
            machine.offer(&a, &b)?;
        }
        self.clock_through(&mut machine, design)?;
        let product = number::mul(&a, &b);
        if machine.products().iter().any(|other| !number::equal(&other.limbs, &product)) {
            return Err(Failure::Items(
                "the model's product is not the product of the two numbers".to_owned(),
            ));
        }
        if let Some(mut output) = svg {
            let name = if self.improved { "The improved multiplier" } else { "The thesis's multiplier" };
            output.write(&draw::schedule(&format!("{name}: parts at work"), machine.activities()))?;
            output.finish()?;
        }
        io::print(&match self.json {
            true => self.to_json(design, &machine),
            false => self.to_text(design, &machine),
        })
    }

    /// Clocks the machine until all products have left, with a bar of cycles.
    fn clock_through(&self, machine: &mut Multiplier, design: Design) -> Result<(), Failure> {
        let rest = u64::from(self.products - 1) * design.interval_cycles();
        let bar = Bar::new(Some(design.product_cycles() + rest), self.quiet, "cycles");
        let mut shown = 0;
        let result = machine.run(self.products.into(), |cycle| {
            bar.advance(cycle - shown);
            bar.message(format!("{} cycles", cycle));
            shown = cycle;
        });
        bar.finish();
        Ok(result?)
    }

    fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (1e6 * self.clock)
    }

    /// The cycles between the last two products, if there are two.
    fn interval(machine: &Multiplier) -> Option<u64> {
        let [.., before, last] = machine.products() else { return None };
        Some(last.last_cycle - before.last_cycle)
    }

    fn to_json(&self, design: Design, machine: &Multiplier) -> String {
        let first = &machine.products()[0];
        let interval = Self::interval(machine);
        let parts: Vec<_> = machine
            .activities()
            .iter()
            .map(|activity| {
                json!({
                    "part": activity.part.to_string(),
                    "work": activity.work,
                    "product": activity.product,
                    "from": activity.from,
                    "to": activity.to,
                })
            })
            .collect();
        let answer = json!({
            "multiplier": if self.improved { "improved" } else { "thesis" },
            "bits": self.bits,
            "points": design.points(),
            "product": hex::format(&first.limbs),
            "cycles": first.cycles(),
            "interval_cycles": interval,
            "clock_mhz": self.clock,
            "seconds": self.seconds(first.cycles()),
            "interval_seconds": interval.map(|cycles| self.seconds(cycles)),
            "activities": parts,
        });
        format!("{answer:#}\n")
    }

    fn to_text(&self, design: Design, machine: &Multiplier) -> String {
        let first = &machine.products()[0];
        let name = if self.improved { "improved" } else { "thesis, chapter 5" };
        let cycles =
            |cycles: u64| format!("{cycles} cycles, {} at {} MHz", time(self.seconds(cycles)), self.clock);
        let mut facts = vec![
            (
                "multiplier",
                format!("{name}, {} points, digits of {} bits", design.points(), design.digit_bits),
            ),
            ("product", format!("{}, equal to the library's", shortened(&first.limbs))),
            ("one product", cycles(first.cycles())),
        ];
        if let Some(interval) = Self::interval(machine) {
            facts.push(("in a stream", format!("a product each {}", cycles(interval))));
        }
        for part in [Part::Load, Part::Unit(0), Part::Unit(1), Part::Resolver] {
            let spans = machine.activities().iter().filter(|activity| activity.part == part);
            let busy: u64 = spans.map(|activity| activity.to - activity.from).sum();
            let share = 100.0 * busy as f64 / machine.cycle() as f64;
            facts.push(("", format!("{part}: busy in {busy} of {} cycles, {share:.1} %", machine.cycle())));
        }
        facts.iter().map(|(name, value)| beside(name, NAMES, value)).collect()
    }
}
