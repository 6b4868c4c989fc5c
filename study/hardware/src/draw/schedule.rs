//! The activities of a machine's parts, against cycles.

use super::canvas::{Anchor, COLOURS, Canvas, GRID, INK, MUTED};
use crate::record::{Activity, Part};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const ROW: f64 = 34.0;
const BAR: f64 = 24.0;

/// A step between ticks that gives at most eight of them.
fn tick_step(cycles: u64) -> u64 {
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)));
    steps.take(50).find(|step| cycles / step <= 8).unwrap_or(cycles.max(1))
}

/// A plot of activities: a row for each part, a bar for each activity, with the colour of its product.
#[must_use]
pub fn schedule(title: &str, activities: &[Activity]) -> String {
    let mut parts: Vec<Part> = activities.iter().map(|activity| activity.part).collect();
    parts.sort();
    parts.dedup();
    let cycles = activities.iter().map(|activity| activity.to).max().unwrap_or(1);
    let height = TOP + ROW * parts.len() as f64 + 44.0;
    let place = |cycle: u64| LEFT + (WIDTH - LEFT - RIGHT) * cycle as f64 / cycles as f64;
    let mut canvas = Canvas::new(WIDTH, height, title);
    canvas.text(LEFT, 20.0, Anchor::Start, 14.0, INK, title);
    let bottom = TOP + ROW * parts.len() as f64;
    for tick in (0..=cycles).step_by(tick_step(cycles) as usize) {
        canvas.line((place(tick), TOP), (place(tick), bottom), GRID);
        canvas.text(place(tick), bottom + 16.0, Anchor::Middle, 11.5, MUTED, &tick.to_string());
    }
    canvas.text((LEFT + WIDTH - RIGHT) / 2.0, bottom + 34.0, Anchor::Middle, 12.0, MUTED, "cycle");
    for (row, part) in parts.iter().enumerate() {
        let y = TOP + ROW * row as f64 + (ROW - BAR) / 2.0;
        let busy: u64 = activities
            .iter()
            .filter(|activity| activity.part == *part)
            .map(|activity| activity.to - activity.from)
            .sum();
        let share = format!("{:.0} %", 100.0 * busy as f64 / cycles as f64);
        canvas.text(LEFT - 8.0, y + 11.0, Anchor::End, 12.5, INK, &part.to_string());
        canvas.text(LEFT - 8.0, y + 23.0, Anchor::End, 10.0, MUTED, &share);
        for activity in activities.iter().filter(|activity| activity.part == *part) {
            draw(&mut canvas, activity, place(activity.from), place(activity.to), y);
        }
    }
    canvas.finish()
}

fn draw(canvas: &mut Canvas, activity: &Activity, from: f64, to: f64, y: f64) {
    let hint = format!(
        "{} of product {}: cycles {} to {}",
        activity.work,
        activity.product,
        activity.from,
        activity.to - 1
    );
    canvas.bar(from, y, (to - from - 0.8).max(0.6), BAR, COLOURS[activity.product % COLOURS.len()], &hint);
    if to - from > 8.0 * activity.work.len() as f64 {
        canvas.text((from + to) / 2.0, y + 16.0, Anchor::Middle, 12.0, "#ffffff", &activity.work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, Multiplier};

    #[test]
    fn every_activity_is_a_bar() {
        let mut machine = Multiplier::new(Design::improved().with_stages(2)).unwrap();
        machine.offer(&[1], &[2]).unwrap();
        machine.run(1, |_| ()).unwrap();
        let picture = schedule("a & b", machine.activities());
        assert_eq!(picture.matches("<rect").count(), 1 + machine.activities().len());
        assert!(picture.contains("a &amp; b") && picture.contains("F1 of product 0"));
    }
}
