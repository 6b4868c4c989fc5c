//! Plots as SVG: lines on logarithmic axes, and bars.

use super::escape::escape;
use crate::table::number;

/// Colours that people with any kind of colour vision can tell apart (M. Okabe, K. Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a00"];
const GRID: &str = "#e3e7ee";
const AXIS: &str = "#8d97a8";

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 42.0;

/// A line of a plot.
pub(super) struct Series {
    pub(super) name: String,
    /// The index of its colour.
    pub(super) colour: usize,
    pub(super) dashed: bool,
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines on two logarithmic axes.
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) y_label: String,
    /// The unit behind a value: `/s` or ` ms`.
    pub(super) unit: &'static str,
    pub(super) series: Vec<Series>,
}

/// A logarithmic axis between two coordinates of the picture.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that holds all values, with some space at both ends.
    fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        let room = (high / low).powf(0.06).max(1.25);
        Self { low: low / room, high: high * room, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + part * (self.to - self.from)
    }

    /// The round values at which grid lines are drawn; few enough to read.
    fn ticks(&self) -> Vec<f64> {
        let steps: &[f64] = match (self.high / self.low).log10() {
            decades if decades > 4.0 => &[1.0],
            decades if decades > 1.6 => &[1.0, 3.0],
            decades if decades > 0.6 => &[1.0, 2.0, 5.0],
            _ => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let all = (first..=last).flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }
}

/// A short number for an axis: 1500000 is 1.5M.
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e4 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let text = format!("{scaled:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

impl Lines {
    /// A figure of HTML; nothing if there are no points.
    pub(super) fn draw(&self) -> String {
        let inside = self.inside();
        if inside.is_empty() {
            return inside;
        }
        let mut svg = frame(&self.title, HEIGHT) + &inside + "</svg>\n<ul class=\"legend\">\n";
        for series in &self.series {
            let class = if series.dashed { " class=\"dash\"" } else { "" };
            let colour = COLOURS[series.colour % COLOURS.len()];
            svg +=
                &format!("<li><i{class} style=\"border-color:{colour}\"></i>{}</li>\n", escape(&series.name));
        }
        svg + "</ul>\n</figure>\n"
    }

    /// The axes and lines.
    fn inside(&self) -> String {
        let usable = |points: &[(f64, f64)]| {
            points.iter().copied().filter(|p| p.0 > 0.0 && p.1 > 0.0).collect::<Vec<_>>()
        };
        let all: Vec<(f64, f64)> = self.series.iter().flat_map(|series| usable(&series.points)).collect();
        if all.is_empty() {
            return String::new();
        }
        let x = Axis::around(all.iter().map(|point| point.0), LEFT, WIDTH - RIGHT);
        let y = Axis::around(all.iter().map(|point| point.1), HEIGHT - BOTTOM, TOP);
        let mut svg = String::new();
        for tick in y.ticks() {
            let at = y.place(tick);
            svg += &line(LEFT, at, WIDTH - RIGHT, at, GRID);
            svg += &text(LEFT - 7.0, at + 4.0, "end", &short(tick));
        }
        let mut values: Vec<f64> = all.iter().map(|point| point.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut last = f64::NEG_INFINITY;
        for value in values {
            let at = x.place(value);
            svg += &line(at, TOP, at, HEIGHT - BOTTOM, GRID);
            if at - last > 36.0 {
                svg += &text(at, HEIGHT - BOTTOM + 17.0, "middle", &value.to_string());
                last = at;
            }
        }
        svg += &line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, AXIS);
        svg += &text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0, "middle", &self.x_label);
        svg += &text(4.0, 12.0, "start", &self.y_label);
        for series in &self.series {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let points = usable(&series.points);
            let path: Vec<String> =
                points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x.place(a), y.place(b))).collect();
            let dash = if series.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            svg += &format!(
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>\n",
                path.join(" ")
            );
            for &(a, b) in &points {
                svg += &format!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.4\" fill=\"{colour}\"><title>{} at {a}: {}{}</title></circle>\n",
                    x.place(a),
                    y.place(b),
                    escape(&series.name),
                    number(b),
                    self.unit
                );
            }
        }
        svg
    }
}

/// Space above a plot of a picture for its title and the names of its lines.
const ABOVE: f64 = 46.0;

/// Plots in rows of two, as a picture of its own.
pub(super) fn picture(plots: &[Lines]) -> String {
    let (width, height) = (2.0 * WIDTH, plots.len().div_ceil(2) as f64 * (HEIGHT + ABOVE));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">\n\
         <style>text{{font:11.5px system-ui,sans-serif;fill:#5a6577}}text.title{{font-weight:600;fill:#1c2430}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (index, plot) in plots.iter().enumerate() {
        let (x, y) = ((index % 2) as f64 * WIDTH, (index / 2) as f64 * (HEIGHT + ABOVE));
        svg += &format!("<g transform=\"translate({x} {})\">\n{}", y + ABOVE, plot.inside());
        svg += &format!("<text class=\"title\" x=\"4\" y=\"-28\">{}</text>\n", escape(&plot.title));
        let mut start = 4.0;
        for series in &plot.series {
            svg += &line(start, -14.0, start + 20.0, -14.0, COLOURS[series.colour % COLOURS.len()]);
            svg += &text(start + 26.0, -10.0, "start", &series.name);
            // About the width of the name.
            start += 50.0 + 6.2 * series.name.len() as f64;
        }
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// Ratios as bars, with a line at one.
pub(super) struct Bars {
    pub(super) title: String,
    pub(super) bars: Vec<(String, f64)>,
}

const BAR: f64 = 24.0;
const LABELS: f64 = 150.0;

impl Bars {
    pub(super) fn draw(&self) -> String {
        let height = TOP + BAR * self.bars.len() as f64 + 24.0;
        let most = self.bars.iter().map(|bar| bar.1).fold(1.0, f64::max);
        let place = |value: f64| LABELS + value / most * (WIDTH - RIGHT - 48.0 - LABELS);
        let mut svg = frame(&self.title, height);
        let (one, end) = (place(1.0), height - 20.0);
        svg += &line(one, TOP - 4.0, one, end, AXIS);
        svg += &text(one, height - 6.0, "middle", "equal");
        for (index, (name, value)) in self.bars.iter().enumerate() {
            let at = TOP + BAR * index as f64;
            let colour = if *value >= 1.0 { COLOURS[0] } else { COLOURS[1] };
            svg += &text(LABELS - 8.0, at + 15.0, "end", name);
            svg += &format!(
                "<rect x=\"{LABELS}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\" rx=\"2\" fill=\"{colour}\"/>\n",
                at + 3.0,
                place(*value) - LABELS
            );
            svg += &text(place(*value) + 6.0, at + 15.0, "start", &format!("{value:.2}x"));
        }
        svg + "</svg>\n</figure>\n"
    }
}

fn frame(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<figure>\n<figcaption>{title}</figcaption>\n\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n"
    )
}

fn line(x1: f64, y1: f64, x2: f64, y2: f64, colour: &str) -> String {
    format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>\n")
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_a_few_round_ticks() {
        for (low, high) in [(1.0, 1.0), (900.0, 1100.0), (3.0, 4e7), (0.01, 5.0)] {
            let axis = Axis::around([low, high].into_iter(), 0.0, 100.0);
            let ticks = axis.ticks();
            assert!((1..=13).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(axis.place(low) >= 0.0 && axis.place(high) <= 100.0);
        }
        assert_eq!(
            [short(1.5e6), short(200.0), short(20_000.0), short(0.05)],
            ["1.5M", "200", "20k", "0.05"]
        );
    }

    #[test]
    fn names_are_escaped_and_nothing_is_drawn_for_nothing() {
        let series =
            vec![Series { name: "<a&b>".to_owned(), colour: 9, dashed: true, points: vec![(1.0, 2.0)] }];
        let label = || "x".to_owned();
        let lines = Lines { title: label(), x_label: label(), y_label: label(), unit: "/s", series };
        assert!(lines.draw().contains("&lt;a&amp;b&gt;") && !lines.draw().contains("<a&b>"));
        let picture = picture(&[lines]);
        assert!(
            picture.starts_with("<svg xmlns") && picture.matches("&lt;a&amp;b&gt;").count() == 2,
            "{picture}"
        );
        let lines =
            Lines { title: label(), x_label: label(), y_label: label(), unit: "/s", series: Vec::new() };
        assert_eq!(lines.draw(), "");
    }
}
