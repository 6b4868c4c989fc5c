//! Designs compared with each other: cycles, memories, multipliers, estimated area and time.
//!
//! A design is a number of points, a radix, a number of units and a digit. Its cycles are those of the
//! improved schedule. Its area is estimated from the thesis's figures for 90 nm (section 5.6), before layout.

use modmill_core::goldilocks::digit_bits;

/// Square millimetres of a dual-port bank of 4096 words of 64 bits (section 5.6).
const RAM_BANK: f64 = 1.07;
/// Square millimetres of a read-only table of 4096 words of 64 bits (section 5.6).
const ROM_BANK: f64 = 0.154;
/// Bits of either.
const BANK_BITS: f64 = 4096.0 * 64.0;
/// Square millimetres of a radix-16 unit (table 5.1).
const RADIX16_UNIT: f64 = 2.2;
/// Square millimetres of a modular multiplier with its share of control: what table 5.1's processor of 20.7
/// has besides the unit and 16 banks, divided among 16.
const MULTIPLIER: f64 = (20.7 - RADIX16_UNIT - 16.0 * RAM_BANK) / 16.0;

/// Cycles of the resolver's pipeline and of the controller's start (`DESIGN.md`).
const ENDS: u64 = 6;

/// The designs that are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The length of an operand in bits.
    pub operand_bits: usize,
    /// Numbers of points, powers of two; those that fit the operands best if empty.
    pub points: Vec<usize>,
    /// Radices, powers of two from 2 to 64: powers of 8 are roots of order up to 64.
    pub radices: Vec<usize>,
    /// Numbers of units, powers of two.
    pub units: Vec<usize>,
    /// Banks of a memory; the radix if empty.
    pub banks: Vec<usize>,
    /// Bits of a digit; the most that the number of points allows if empty.
    pub digit_bits: Vec<u32>,
    /// The clock in MHz.
    pub clock: f64,
}

impl Query {
    /// Designs around the thesis's: 768-Kbit operands, radices 4 to 64, 1 to 8 units, 200 MHz.
    #[must_use]
    pub fn new(operand_bits: usize) -> Self {
        Self {
            operand_bits,
            points: Vec::new(),
            radices: vec![4, 8, 16, 32, 64],
            units: vec![1, 2, 4, 8],
            banks: Vec::new(),
            digit_bits: Vec::new(),
            clock: 200.0,
        }
    }
}

/// A design and its estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Points of a transform.
    pub points: usize,
    /// The radix of all stages but perhaps the last, which has the rest.
    pub radix: usize,
    /// The radices of the stages in order.
    pub stages: Vec<usize>,
    /// Radix units.
    pub units: usize,
    /// Banks of each memory. There is one memory for each unit, and at least two.
    pub banks: usize,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Cycles of one product alone.
    pub product_cycles: u64,
    /// Cycles from one product to the next in a steady stream.
    pub interval_cycles: u64,
    /// Bits of memories that are read and written.
    pub memory_bits: u64,
    /// Ports of all those banks: one that reads and one that writes, or a single one in the input buffers.
    pub memory_ports: usize,
    /// Bits of twiddle tables.
    pub table_bits: u64,
    /// Modular multipliers of 64 bits.
    pub multipliers: usize,
    /// Estimated area in square millimetres at 90 nm.
    pub area: f64,
    /// Seconds of one product alone.
    pub product_seconds: f64,
    /// Seconds from one product to the next.
    pub interval_seconds: f64,
    /// Whether no other design of the answer is at least as good in area and interval, and better in one.
    pub is_best: bool,
}

/// The radices of the stages of `points` points: as many of `radix` as there are, and the rest.
fn stages(points: usize, radix: usize) -> Vec<usize> {
    let (bits, step) = (points.ilog2(), radix.ilog2());
    let whole = std::iter::repeat_n(radix, (bits / step) as usize);
    whole.chain((bits % step != 0).then(|| 1 << (bits % step))).collect()
}

/// Cycles of a stage: groups of `radix` points, one group for each unit and cycle, if the banks can serve it.
/// Fewer banks than the radix give that many words a cycle.
fn stage_cycles(points: usize, radix: usize, units: usize, banks: usize) -> u64 {
    // A stage of a smaller radix takes several groups side by side in one unit.
    let words = banks.min(radix) * units;
    points.div_ceil(words) as u64
}

fn estimate(query: &Query, points: usize, radix: usize, units: usize, banks: usize, bits: u32) -> Estimate {
    let stages = stages(points, radix);
    // Three transforms of `points` points on all units together.
    let transform = stage_cycles(points, radix, units, banks) * stages.len() as u64;
    let interval_cycles = 3 * transform;
    let words = banks.min(radix) as u64;
    let (load, unload) = (points as u64 / 2 / words, points as u64 / words);
    let memories = units.max(2);
    let memory_bits = 2 * points as u64 * 64 + points as u64 * u64::from(bits);
    // A lane's table has the powers that a rotation by powers of 8 does not give.
    let table_words = (points / 64).max(1) as u64;
    let multipliers = units * radix;
    let table_bits = 64 * table_words * multipliers as u64;
    // Each of r outputs of a unit is a sum of r rotated words.
    let unit = RADIX16_UNIT * (radix * radix) as f64 / 256.0;
    let area = memory_bits as f64 / BANK_BITS * RAM_BANK
        + table_bits as f64 / BANK_BITS * ROM_BANK
        + units as f64 * unit
        + multipliers as f64 * MULTIPLIER;
    let product_cycles = load + interval_cycles + unload + ENDS;
    let seconds = |cycles: u64| cycles as f64 / (query.clock * 1e6);
    Estimate {
        points,
        radix,
        stages,
        units,
        banks,
        digit_bits: bits,
        product_cycles,
        interval_cycles,
        memory_bits,
        // Two for each bank of the memories, one for each of the two input buffers' banks.
        memory_ports: 2 * memories * banks + 2 * banks,
        table_bits,
        multipliers,
        area,
        product_seconds: seconds(product_cycles),
        interval_seconds: seconds(interval_cycles),
        is_best: false,
    }
}

/// Square millimetres of the thesis's multiplier by the same estimate; table 5.1 has 45.3.
#[must_use]
pub fn thesis_area() -> f64 {
    2.0 * (RADIX16_UNIT + 16.0 * RAM_BANK + 16.0 * MULTIPLIER) + 30.0 * ROM_BANK
}

/// All designs of the query that can multiply its operands, by interval and area. Designs whose points or
/// digits are too few for the operands are left out.
///
/// ```
/// use modmill_hardware::explore::{Query, explore};
/// let designs = explore(&Query::new(786_432));
/// assert!(designs.iter().any(|design| design.interval_cycles == 24_576));
/// ```
#[must_use]
pub fn explore(query: &Query) -> Vec<Estimate> {
    let points = match query.points.is_empty() {
        true => smallest_points(query.operand_bits).into_iter().collect(),
        false => query.points.clone(),
    };
    let mut found = Vec::new();
    for &points in &points {
        let most = digit_bits(points / 2);
        let bits = if query.digit_bits.is_empty() { vec![most.min(24)] } else { query.digit_bits.clone() };
        let fits = |bits: u32| bits <= most && points / 2 * bits as usize >= query.operand_bits;
        for bits in bits.into_iter().filter(|&bits| fits(bits)) {
            for &radix in &query.radices {
                let banks = if query.banks.is_empty() { vec![radix] } else { query.banks.clone() };
                for &units in &query.units {
                    found.extend(
                        banks.iter().map(|&banks| estimate(query, points, radix, units, banks, bits)),
                    );
                }
            }
        }
    }
    mark_best(&mut found);
    found.sort_by(|a, b| {
        (a.interval_cycles, a.area)
            .partial_cmp(&(b.interval_cycles, b.area))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    found
}

/// The smallest power of two of points whose digits hold operands of `operand_bits` bits.
fn smallest_points(operand_bits: usize) -> Option<usize> {
    let sizes = (6..=26).map(|bits| 1usize << bits);
    sizes.into_iter().find(|&points| points / 2 * digit_bits(points / 2).min(24) as usize >= operand_bits)
}

/// Marks the designs that no other one dominates (Pareto).
fn mark_best(found: &mut [Estimate]) {
    let values: Vec<(u64, f64)> = found.iter().map(|design| (design.interval_cycles, design.area)).collect();
    for (design, &(cycles, area)) in found.iter_mut().zip(&values) {
        design.is_best = !values.iter().any(|&(c, a)| c <= cycles && a <= area && (c < cycles || a < area));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    #[test]
    fn the_improved_design_is_among_them_with_its_own_cycles() {
        let designs = explore(&Query::new(786_432));
        let ours = designs.iter().find(|design| design.radix == 16 && design.units == 2).unwrap();
        let model = Design::improved();
        assert_eq!((ours.points, ours.digit_bits, &ours.stages), (65_536, 24, &vec![16; 4]));
        assert_eq!(ours.interval_cycles, model.interval_cycles());
        assert_eq!(ours.product_cycles, model.product_cycles());
        assert_eq!((ours.table_bits, ours.multipliers, ours.memory_ports), (1 << 21, 32, 96));
    }

    /// The areas that the estimate is made of give the thesis's multiplier again, within 2 %.
    #[test]
    fn the_thesis_s_area_comes_out() {
        assert!((thesis_area() / 45.3 - 1.0).abs() < 0.02, "{}", thesis_area());
    }

    #[test]
    fn best_designs_are_dominated_by_none() {
        let designs = explore(&Query { banks: vec![8, 16], ..Query::new(100_000) });
        assert!(designs.iter().any(|design| design.is_best));
        for a in designs.iter().filter(|design| design.is_best) {
            assert!(!designs.iter().any(|b| b.interval_cycles < a.interval_cycles && b.area < a.area));
        }
        for a in designs.iter().filter(|design| !design.is_best) {
            assert!(
                designs
                    .iter()
                    .any(|b| b.interval_cycles <= a.interval_cycles && b.area <= a.area && b.is_best)
            );
        }
    }

    #[test]
    fn stages_multiply_to_the_points() {
        for radix in [2, 4, 8, 16, 32, 64] {
            for points in [256, 1024, 65_536, 1 << 17] {
                assert_eq!(stages(points, radix).iter().product::<usize>(), points);
            }
        }
        assert_eq!(stages(65_536, 32), [32, 32, 32, 2]);
        assert!(explore(&Query { points: vec![1024], ..Query::new(786_432) }).is_empty());
        assert!(explore(&Query { digit_bits: vec![28], ..Query::new(786_432) }).is_empty());
    }
}
