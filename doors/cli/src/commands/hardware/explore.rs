//! `modmill hardware explore`.

use super::numbers::{parse_bits, parse_clock, time};
use crate::failure::Failure;
use crate::io::{self, Output};
use modmill_hardware::explore::{Estimate, Query, explore, thesis_area};
use modmill_hardware::{Design, draw};
use serde_json::json;

const LONG_ABOUT: &str = "\
Compares designs of multipliers by transforms modulo 2^64 - 2^32 + 1: points, radix, units, banks
and digits. Cycles are those of the improved schedule, which is simulated for two units of radix 16;
other designs are assumed to reach the same schedule. Area is estimated from the thesis's figures at
90 nm before layout: memory by its bits, a unit by the square of its radix, and multipliers by their
number. An asterisk marks designs that no other one beats in both area and interval.";

const EXAMPLES: &str = "\
Examples:
  modmill hardware explore --bits 768K
  modmill hardware explore --bits 768K --radix 16 --units 1,2,4 --banks 8,16
  modmill hardware explore --bits 3M --svg designs.svg --json";

/// Compares designs of multipliers
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Explore {
    /// Longest factor
    #[arg(long, value_name = "BITS", default_value = "768K", value_parser = parse_bits)]
    bits: usize,
    /// Points of a transform, powers of two; the fewest that fit the factors by default
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = parse_bits)]
    points: Vec<usize>,
    /// Radices: powers of two from 2 to 64
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "4,8,16,32,64")]
    radix: Vec<usize>,
    /// Numbers of units, powers of two up to 64
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,8")]
    units: Vec<usize>,
    /// Banks of a memory, powers of two up to 64; as many as the radix by default
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    banks: Vec<usize>,
    /// Bits of a digit; 24, or the most that the points allow, by default
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    base: Vec<u32>,
    /// Clock in MHz
    #[arg(long, value_name = "MHZ", default_value = "200", value_parser = parse_clock)]
    clock: f64,
    /// Write a plot of area and time to this file as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explore {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.check()?;
        let svg = self.svg.as_deref().map(Output::create).transpose()?;
        let query = Query {
            operand_bits: self.bits,
            points: self.points,
            radices: self.radix,
            units: self.units,
            banks: self.banks,
            digit_bits: self.base,
            clock: self.clock,
        };
        let designs = explore(&query);
        if designs.is_empty() {
            return Err(Failure::Usage(format!(
                "no such design multiplies factors of {} bits",
                query.operand_bits
            )));
        }
        if let Some(mut output) = svg {
            output.write(&draw::pareto(&format!("Multipliers for {} bits", query.operand_bits), &designs))?;
            output.finish()?;
        }
        io::print(&if self.json { to_json(&designs) } else { to_text(&designs) })
    }

    fn check(&self) -> Result<(), Failure> {
        let lists = [
            ("--points", &self.points, 64, 1 << 26),
            ("--radix", &self.radix, 2, 64),
            ("--units", &self.units, 1, 64),
            ("--banks", &self.banks, 1, 64),
        ];
        for (option, values, low, high) in lists {
            if let Some(wrong) =
                values.iter().find(|value| !value.is_power_of_two() || !(low..=high).contains(*value))
            {
                let text = format!("{option}: {wrong} is not a power of two from {low} to {high}");
                return Err(Failure::Usage(text));
            }
        }
        match self.base.iter().find(|bits| !(8..=31).contains(*bits)) {
            Some(wrong) => Err(Failure::Usage(format!("--base: {wrong} is not from 8 to 31"))),
            None => Ok(()),
        }
    }
}

fn to_json(designs: &[Estimate]) -> String {
    let designs: Vec<_> = designs
        .iter()
        .map(|design| {
            json!({
                "points": design.points,
                "radix": design.radix,
                "stages": design.stages,
                "units": design.units,
                "banks": design.banks,
                "base": design.digit_bits,
                "cycles": design.product_cycles,
                "interval_cycles": design.interval_cycles,
                "memory_bits": design.memory_bits,
                "memory_ports": design.memory_ports,
                "table_bits": design.table_bits,
                "multipliers": design.multipliers,
                "area_mm2": design.area,
                "seconds": design.product_seconds,
                "interval_seconds": design.interval_seconds,
                "pareto": design.is_best,
            })
        })
        .collect();
    format!("{:#}\n", json!(designs))
}

fn to_text(designs: &[Estimate]) -> String {
    let mut text = format!(
        "{:>2}{:>9}{:>7}{:>7}{:>7}{:>6}{:>10}{:>10}{:>12}{:>7}{:>11}{:>12}{:>9}{:>12}{:>12}\n",
        "",
        "points",
        "radix",
        "units",
        "banks",
        "base",
        "cycles",
        "interval",
        "memory",
        "ports",
        "tables",
        "multipliers",
        "mm2",
        "product",
        "interval"
    );
    for design in designs {
        text += &format!(
            "{:>2}{:>9}{:>7}{:>7}{:>7}{:>6}{:>10}{:>10}{:>12}{:>7}{:>11}{:>12}{:>9.1}{:>12}{:>12}\n",
            if design.is_best { "*" } else { "" },
            design.points,
            design.radix,
            design.units,
            design.banks,
            design.digit_bits,
            design.product_cycles,
            design.interval_cycles,
            design.memory_bits,
            design.memory_ports,
            design.table_bits,
            design.multipliers,
            design.area,
            time(design.product_seconds),
            time(design.interval_seconds),
        );
    }
    let thesis = Design::thesis();
    text += &format!(
        "The thesis's multiplier for {} bits: {} cycles, {:.1} mm2 by the same estimate.\n",
        thesis.operand_bits(),
        thesis.product_cycles(),
        thesis_area()
    );
    text
}
