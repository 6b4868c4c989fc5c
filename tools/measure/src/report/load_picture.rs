//! Latency and throughput against the offered load of a service, for a document.

use super::chart::{Lines, Series, picture};

/// A rate at which a service was asked, and what came of it.
#[derive(Debug, Clone)]
pub struct LoadPoint {
    /// Requests offered in a second.
    pub offered_per_s: f64,
    /// Requests answered in a second.
    pub achieved_per_s: f64,
    /// The percentiles 50, 99 and 99.9 of latency, in milliseconds.
    pub latency_ms: [f64; 3],
}

/// Latency and throughput against the offered load as a picture of its own.
#[must_use]
pub fn load_picture(title: &str, points: &[LoadPoint]) -> String {
    let line = |name: &str, colour, dashed, value: &dyn Fn(&LoadPoint) -> f64| Series {
        name: name.to_owned(),
        colour,
        dashed,
        points: points.iter().map(|point| (point.offered_per_s.round(), value(point))).collect(),
    };
    let plot = |y_label: &str, unit, series| Lines {
        title: title.to_owned(),
        x_label: "requests offered in a second".to_owned(),
        y_label: y_label.to_owned(),
        unit,
        series,
    };
    let percentiles = ["median", "99 %", "99.9 %"].iter().enumerate();
    let latencies =
        percentiles.map(|(index, name)| line(name, index, false, &|point| point.latency_ms[index])).collect();
    let rates = vec![
        line("answered", 0, false, &|point| point.achieved_per_s),
        line("offered", 6, true, &|point| point.offered_per_s),
    ];
    picture(&[
        plot("milliseconds from the intended start", " ms", latencies),
        plot("requests answered in a second", "/s", rates),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_percentile_has_a_line() {
        let point = |offered_per_s: f64| LoadPoint {
            offered_per_s,
            achieved_per_s: offered_per_s.min(900.0),
            latency_ms: [1.0, 2.0, 3.0].map(|ms| ms * offered_per_s / 100.0),
        };
        let picture = load_picture("kms <RSA>", &[point(100.0), point(1000.0)]);
        assert_eq!(picture.matches("<polyline").count(), 5);
        assert!(picture.contains("99.9 %") && picture.contains("kms &lt;RSA&gt;"));
    }
}
