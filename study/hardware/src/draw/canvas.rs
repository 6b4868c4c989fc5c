//! A sheet of SVG.

use std::fmt::{Display, Write};

/// Colours that people with any kind of colour vision can tell apart (M. Okabe, K. Ito).
pub(super) const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
pub(super) const INK: &str = "#1f2933";
pub(super) const MUTED: &str = "#52606d";
pub(super) const GRID: &str = "#e3e7ee";

/// The anchor of a text.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Text for an attribute or between tags.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A white sheet. Coordinates are pixels; y grows downwards.
pub(super) struct Canvas(String);

impl Canvas {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n<title>{}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
            escape(title)
        ))
    }

    fn push(&mut self, element: impl Display) {
        let _ = writeln!(self.0, "{element}");
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, colour: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        ));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        self.path(&[from, to], colour);
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\"/>",
            points.join(" ")
        ));
    }

    /// A rectangle with a text that browsers show over it.
    pub(super) fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str, hint: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" fill=\"{colour}\"><title>{}</title></rect>",
            escape(hint)
        ));
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, radius: f64, colour: &str, hint: &str) {
        self.push(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"><title>{}</title></circle>",
            escape(hint)
        ));
    }

    pub(super) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}
