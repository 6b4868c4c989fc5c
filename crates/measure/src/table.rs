//! Records as a table for people.

use crate::record::Record;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// An empty table in the style of all tables here: no frame, and a line under the header.
#[must_use]
pub fn plain() -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// A cell that holds a number, aligned to the right.
pub fn right(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

/// A rate or a time as text: at least three digits, with commas between thousands.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value >= 100.0 {
        let digits = format!("{value:.0}");
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        return text;
    }
    let decimals = match value {
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// The labels of all peers, in the order of the records.
pub(crate) fn peers(records: &[Record]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in records.iter().filter_map(Record::peer_label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The rate of a record divided by the rate of a peer at the same point.
pub(crate) fn ratio(record: &Record, peer: &str, records: &[Record]) -> Option<f64> {
    let matches = |other: &&Record| other.same_point(record) && other.peer_label().as_deref() == Some(peer);
    records.iter().find(matches).map(|other| record.ops_per_s / other.ops_per_s)
}

/// Whether some record has a rate of kernels alone.
pub(crate) fn has_kernels(records: &[Record]) -> bool {
    records.iter().any(|record| record.kernel_ops_per_s.is_some())
}

/// A table of all records.
#[must_use]
pub fn results(records: &[Record]) -> Table {
    let peers = peers(records);
    let mut table = plain();
    let kernels = has_kernels(records);
    let mut head: Vec<String> =
        ["op", "bits", "algorithm", "on", "batch", "threads", "ops/s", "median", "latency ms"]
            .map(str::to_owned)
            .to_vec();
    head.extend(kernels.then(|| "kernel ops/s".to_owned()));
    head.extend(peers.iter().map(|peer| format!("vs {peer}")));
    head.push("checked".to_owned());
    table.set_header(head);
    for record in records {
        let algorithm = match &record.peer {
            Some(peer) => format!("{peer}: {}", record.algorithm),
            None if record.chosen => format!("{} *", record.algorithm),
            None => record.algorithm.clone(),
        };
        let mut row = vec![
            Cell::new(&record.op),
            right(record.bits),
            Cell::new(algorithm),
            Cell::new(match &record.peer {
                Some(_) => "-",
                None => record.isa.as_deref().unwrap_or(&record.backend),
            }),
            right(record.batch),
            right(record.threads),
            right(number(record.ops_per_s)),
            right(number(record.median_ops_per_s)),
            right(number(record.latency_ms)),
        ];
        row.extend(kernels.then(|| right(record.kernel_ops_per_s.map_or("-".to_owned(), number))));
        row.extend(peers.iter().map(|peer| match ratio(record, peer, records) {
            Some(ratio) => right(format!("{ratio:.2}x")),
            None => right("-"),
        }));
        row.push(Cell::new(if record.verified { "yes" } else { "WRONG" }));
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (value, text) in [
            (1_234_567.8, "1,234,568"),
            (123.4, "123"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.1234, "0.123"),
            (0.01234, "0.0123"),
            (1000.0, "1,000"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
