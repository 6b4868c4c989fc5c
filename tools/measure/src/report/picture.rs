//! Throughput and latency by batch size, for a document.

use super::chart::{Lines, Series, picture};
use super::{distinct, threads_label};
use crate::record::Record;

/// Throughput and latency by batch size as a picture of its own, with two plots for each operation, length
/// and number of threads.
#[must_use]
pub fn batches_picture(records: &[Record]) -> String {
    let mut plots = Vec::new();
    for (op, bits, threads) in distinct(records, |record| (record.op.clone(), record.bits, record.threads)) {
        let here: Vec<&Record> = records
            .iter()
            .filter(|record| record.op == op && record.bits == bits && record.threads == threads)
            .collect();
        let plot = |y_label: &str, unit, value| Lines {
            title: format!("{op} of {bits} bits, {} of the CPU", threads_label(threads)),
            x_label: "items in a batch".to_owned(),
            y_label: y_label.to_owned(),
            unit,
            series: backend_series(&here, value),
        };
        plots.push(plot("operations per second", "/s", |record| record.ops_per_s));
        plots.push(plot("milliseconds for a batch", " ms", |record| record.latency_ms));
    }
    picture(&plots)
}

/// A line for each backend, whatever path it chooses for a batch.
fn backend_series(records: &[&Record], value: fn(&Record) -> f64) -> Vec<Series> {
    let name = |record: &Record| record.device.clone().unwrap_or_else(|| "CPU".to_owned());
    let mut all: Vec<Series> = Vec::new();
    for record in records {
        let point = (record.batch as f64, value(record));
        match all.iter_mut().find(|series| series.name == name(record)) {
            Some(series) => series.points.push(point),
            None => all.push(Series {
                name: name(record),
                colour: usize::from(record.device.is_some()),
                dashed: false,
                points: vec![point],
            }),
        }
    }
    all
}
