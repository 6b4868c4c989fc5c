//! Designs by area and interval.

use super::canvas::{Anchor, COLOURS, Canvas, GRID, INK, MUTED};
use crate::explore::Estimate;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min) / 1.2;
        Self { low, high: values.fold(0.0, f64::max) * 1.2, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (value / self.low).ln() / (self.high / self.low).ln() * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let all = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }
}

/// A plot of designs: area against the time from one product to the next, both logarithmic. A colour is a
/// radix. Designs that no other one dominates are joined by a line and labelled with their number of units.
#[must_use]
pub fn pareto(title: &str, designs: &[Estimate]) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, title);
    canvas.text(LEFT, 20.0, Anchor::Start, 14.0, INK, title);
    if designs.is_empty() {
        return canvas.finish();
    }
    let microseconds = |design: &Estimate| 1e6 * design.interval_seconds;
    let x = Axis::around(designs.iter().map(|design| design.area), LEFT, WIDTH - RIGHT);
    let y = Axis::around(designs.iter().map(microseconds), HEIGHT - BOTTOM, TOP);
    for tick in x.ticks() {
        canvas.line((x.place(tick), TOP), (x.place(tick), HEIGHT - BOTTOM), GRID);
        canvas.text(x.place(tick), HEIGHT - BOTTOM + 16.0, Anchor::Middle, 11.5, MUTED, &tick.to_string());
    }
    for tick in y.ticks() {
        canvas.line((LEFT, y.place(tick)), (WIDTH - RIGHT, y.place(tick)), GRID);
        canvas.text(LEFT - 6.0, y.place(tick) + 4.0, Anchor::End, 11.5, MUTED, &tick.to_string());
    }
    let below = "estimated area in mm2 at 90 nm, before layout";
    canvas.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0, Anchor::Middle, 12.0, MUTED, below);
    canvas.text(8.0, TOP - 6.0, Anchor::Start, 12.0, MUTED, "microseconds a product in a stream");
    let mut best: Vec<&Estimate> = designs.iter().filter(|design| design.is_best).collect();
    best.sort_by(|a, b| a.area.total_cmp(&b.area));
    let line: Vec<_> =
        best.iter().map(|design| (x.place(design.area), y.place(microseconds(design)))).collect();
    canvas.path(&line, MUTED);
    let mut radices: Vec<usize> = designs.iter().map(|design| design.radix).collect();
    radices.sort_unstable();
    radices.dedup();
    let colour =
        |radix: usize| COLOURS[radices.iter().position(|&other| other == radix).unwrap_or(0) % COLOURS.len()];
    for design in designs {
        let (at, hint) = ((x.place(design.area), y.place(microseconds(design))), label(design));
        canvas.dot(at.0, at.1, if design.is_best { 5.0 } else { 3.0 }, colour(design.radix), &hint);
    }
    for design in best {
        let units = format!("{} x {}", design.units, design.radix);
        canvas.text(
            x.place(design.area) + 7.0,
            y.place(microseconds(design)) - 5.0,
            Anchor::Start,
            10.5,
            INK,
            &units,
        );
    }
    for (index, &radix) in radices.iter().enumerate() {
        let at = (WIDTH - RIGHT + 24.0, TOP + 10.0 + 20.0 * index as f64);
        canvas.dot(at.0, at.1, 5.0, colour(radix), "");
        canvas.text(at.0 + 12.0, at.1 + 4.0, Anchor::Start, 12.0, INK, &format!("radix {radix}"));
    }
    canvas.finish()
}

fn label(design: &Estimate) -> String {
    let Estimate { points, radix, units, banks, digit_bits, interval_cycles, area, .. } = design;
    format!(
        "{points} points, {units} units of radix {radix}, {banks} banks, digits of {digit_bits} bits: {interval_cycles} cycles, {area:.1} mm2"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Query, explore};

    #[test]
    fn every_design_is_a_dot() {
        let designs = explore(&Query::new(786_432));
        let picture = pareto("designs", &designs);
        assert_eq!(picture.matches("<circle").count(), designs.len() + 5);
        assert!(pareto("none", &[]).ends_with("</svg>\n"));
    }
}
