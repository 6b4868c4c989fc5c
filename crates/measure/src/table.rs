//! Results as text for people, in at most 100 columns where the numbers allow it.

use crate::record::{Header, Record, Results};
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use std::fmt::Write;

/// The columns of a text that does not go to a terminal.
pub const WIDTH: usize = 100;

/// An empty table in the style of all tables here: two spaces between columns, and a line under the
/// header. On a terminal that is too narrow, cells are wrapped.
pub fn plain<T: Into<Cell>>(header: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<Cell>>());
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 1));
    });
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

/// `label` in a column of `indent` characters, and `text` beside it, broken between words. A word that is
/// longer than a line stays whole.
#[must_use]
pub fn beside(label: &str, indent: usize, text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or("", String::as_str);
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<indent$}{line}");
    }
    text
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

/// All results of a benchmark.
#[must_use]
pub fn results(header: &Header, results: &Results) -> String {
    let Header { hardware, build, .. } = header;
    let records = &results.records;
    let mut text = format!(
        "{}, {} cores\nmodmill {} at {}, {}\n",
        hardware.cpu, hardware.cores, build.version, build.commit, build.profile
    );
    if let Some(device) = records.iter().find_map(|record| record.device.as_ref()) {
        text += &format!("{device}\n");
    }
    text += &format!("{}\n", records_table(records).trim_fmt());
    for note in notes(results) {
        text += &beside("", 0, &note);
    }
    text
}

fn records_table(records: &[Record]) -> Table {
    let (peers, kernels) = (peers(records), has_kernels(records));
    let some_wrong = records.iter().any(|record| !record.verified);
    let names = ["op", "bits", "path", "batch", "threads", "ops/s", "median", "latency\nms"];
    let mut header: Vec<String> = names.map(str::to_owned).to_vec();
    header.extend(kernels.then(|| "kernel\nops/s".to_owned()));
    // The name and the version of a peer below each other make a narrow column.
    header.extend(peers.iter().map(|peer| format!("vs\n{}", peer.replace(' ', "\n"))));
    header.extend(some_wrong.then(|| "answers".to_owned()));
    let mut table = plain(header);
    for record in records {
        let path = if record.chosen { format!("{} *", record.label()) } else { record.label() };
        let mut row = vec![
            Cell::new(&record.op),
            right(record.bits),
            Cell::new(path),
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
        row.extend(some_wrong.then(|| Cell::new(if record.verified { "right" } else { "WRONG" })));
        table.add_row(row);
    }
    table
}

/// The lines below the table.
fn notes(results: &Results) -> Vec<String> {
    let records = &results.records;
    let mut notes = Vec::new();
    if records.iter().any(|record| record.chosen) {
        notes.push("* the path the engine chooses by itself".to_owned());
    }
    for peer in peers(records) {
        let mut functions: Vec<&str> = Vec::new();
        for record in records.iter().filter(|record| record.peer_label().as_ref() == Some(&peer)) {
            if !functions.contains(&record.algorithm.as_str()) {
                functions.push(&record.algorithm);
            }
        }
        notes.push(format!("{peer}: {}", functions.join("; ")));
    }
    notes.extend(results.left_out.iter().map(ToString::to_string));
    if !records.is_empty() && records.iter().all(|record| record.verified) {
        notes.push("All compared answers are right.".to_owned());
    }
    notes
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

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(beside("name", 6, "two words"), "name  two words\n");
        let text = beside("name", 6, &"12345678 ".repeat(20));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() <= 100), "{text}");
        assert!(lines[1].starts_with("      12345678"), "{text}");
        assert_eq!(beside("", 0, &"x".repeat(120)), format!("{}\n", "x".repeat(120)));
    }
}
