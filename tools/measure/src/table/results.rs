//! The results of a benchmark as text.

use super::{WIDTH, beside_within, number, plain, right};
use crate::busy;
use crate::record::{Header, Record, Results};
use comfy_table::{Cell, ContentArrangement, Table};

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

/// The rate of a record divided by the rate of a peer at the same point. One thread is compared by processor
/// time, which other work on the machine hardly changes; several threads, which may wait for each other, by
/// their median slices.
pub(crate) fn ratio(record: &Record, peer: &str, records: &[Record]) -> Option<f64> {
    let matches = |other: &&Record| other.same_point(record) && other.peer_label().as_deref() == Some(peer);
    let other = records.iter().find(matches)?;
    Some(match (record.threads, record.cpu_ops_per_s, other.cpu_ops_per_s) {
        (1, Some(own), Some(peers)) => own / peers,
        _ => record.median_ops_per_s / other.median_ops_per_s,
    })
}

/// Whether some record has a rate of kernels alone.
pub(crate) fn has_kernels(records: &[Record]) -> bool {
    records.iter().any(|record| record.kernel_ops_per_s.is_some())
}

/// All results of a benchmark.
#[must_use]
pub fn results(header: &Header, results: &Results) -> String {
    within(header, results, super::terminal())
}

/// All results in `width` columns, if that is not `None`.
fn within(header: &Header, results: &Results, width: Option<usize>) -> String {
    let Header { hardware, build, .. } = header;
    let records = &results.records;
    let mut text = format!(
        "{}, {} cores\nmodmill {} at {}, {}\n",
        hardware.cpu, hardware.cores, build.version, build.commit, build.profile
    );
    if let Some(device) = records.iter().find_map(|record| record.device.as_ref()) {
        text += &format!("{device}\n");
    }
    let (columns, caption) = columns(records);
    let (table, left_out) = fit(columns, width);
    text += &format!("{caption}{}\n", table.trim_fmt());
    for note in notes(results).into_iter().chain(left_out) {
        text += &beside_within("", 0, &note, width.map_or(WIDTH, |width| width.min(WIDTH)));
    }
    text
}

/// A column of the table.
struct Column {
    name: String,
    cells: Vec<String>,
    is_number: bool,
    /// Whether a narrow terminal goes without this column. The last such column goes first.
    is_detail: bool,
}

/// The columns of the table, and a line above it with what all records have in common.
fn columns(records: &[Record]) -> (Vec<Column>, String) {
    let column = |name: &str, cell: &dyn Fn(&Record) -> String| Column {
        name: name.to_owned(),
        cells: records.iter().map(cell).collect(),
        is_number: true,
        is_detail: false,
    };
    let detail =
        |name: &str, cell: &dyn Fn(&Record) -> String| Column { is_detail: true, ..column(name, cell) };
    let words =
        |name: &str, cell: &dyn Fn(&Record) -> String| Column { is_number: false, ..column(name, cell) };
    let path = |record: &Record| match record.chosen {
        true => format!("{} *", record.label()),
        false => record.label(),
    };
    let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), number);
    let mut columns = vec![
        words("op", &|record| record.op.clone()),
        column("bits", &|record| record.bits.to_string()),
        words("path", &path),
    ];
    let mut common = Vec::new();
    let batches: fn(&Record) -> usize = |record| record.batch;
    for (name, value) in [("batch", batches), ("threads", |record| record.threads)] {
        match records.iter().all(|record| value(record) == value(&records[0])) {
            true => common.extend(records.first().map(|record| format!("{name} {}", value(record)))),
            false => columns.push(column(name, &|record| value(record).to_string())),
        }
    }
    columns.push(column("ops/s", &|record| number(record.ops_per_s)));
    columns.push(detail("median", &|record| number(record.median_ops_per_s)));
    if records.iter().any(|record| record.cpu_ops_per_s.is_some()) {
        columns.push(detail("ops per\nCPU s", &|record| rate(record.cpu_ops_per_s)));
    }
    columns.push(detail("latency\nms", &|record| number(record.latency_ms)));
    if has_kernels(records) {
        columns.push(column("kernel\nops/s", &|record| rate(record.kernel_ops_per_s)));
    }
    for peer in peers(records) {
        // The name and the version of a peer below each other make a narrow column.
        columns.push(column(&format!("vs\n{}", peer.replace(' ', "\n")), &|record| {
            ratio(record, &peer, records).map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"))
        }));
    }
    if records.iter().any(|record| !record.verified) {
        let verdict = |record: &Record| if record.verified { "right" } else { "WRONG" }.to_owned();
        columns.push(words("answers", &verdict));
    }
    let caption = if common.is_empty() { String::new() } else { common.join(", ") + "\n" };
    (columns, caption)
}

fn table(columns: &[Column]) -> Table {
    let cell = |column: &Column, text: &String| match column.is_number {
        true => right(text),
        false => Cell::new(text),
    };
    let mut table = plain(columns.iter().map(|column| cell(column, &column.name)));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns.iter().map(|column| cell(column, &column.cells[row])));
    }
    // Nothing is wrapped: columns are left out instead.
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The table in at most `width` columns of text. Details that have no room are left out, and named.
fn fit(mut columns: Vec<Column>, width: Option<usize>) -> (Table, Option<String>) {
    let is_too_wide = |table: &Table| {
        width.is_some_and(|width| table.trim_fmt().lines().any(|line| line.chars().count() > width))
    };
    let mut names = Vec::new();
    let mut whole = table(&columns);
    while is_too_wide(&whole)
        && let Some(last) = columns.iter().rposition(|column| column.is_detail)
    {
        names.push(columns.remove(last).name.replace('\n', " "));
        whole = table(&columns);
    }
    let note = format!("No room in these columns for: {}. --json and --html have all.", names.join(", "));
    (whole, (!names.is_empty()).then_some(note))
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
    notes.extend(busy::note(records));
    if !records.is_empty() && records.iter().all(|record| record.verified) {
        notes.push("All compared answers are right.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Build, Machine};
    use crate::memory::Memory;
    use crate::peers::About;
    use crate::record_builder::RecordBuilder;
    use crate::slices::Rates;

    fn header() -> Header {
        let build = Build { version: "1", commit: "c", rustc: "r", profile: "p", target: "t" };
        let (machine, date, command) = (String::new(), String::new(), String::new());
        let hardware = Machine::detect();
        Header {
            kind: "header",
            machine,
            hardware,
            build,
            date,
            command,
            seconds: 1.0,
            seed: 1,
            peers: Vec::new(),
        }
    }

    fn builder(op: &str, batch: usize) -> RecordBuilder {
        RecordBuilder {
            op: op.to_owned(),
            bits: 4096,
            exponent_bits: None,
            shared_modulus: false,
            memory: Memory::Plain,
            batch,
            threads: 1,
            verified_with: "gmp".to_owned(),
            verified_items: batch,
        }
    }

    fn rates(best: f64, median: f64) -> Rates {
        let (cpu_rate, cores, stolen) = (Some(best), Some(median / best), Some(0.0));
        Rates { median, cpu_rate, cores, stolen, ..Rates::even(best, 12.5) }
    }

    /// A path of ours and a peer, with a batch each.
    fn results(op: &str, batches: [usize; 2], ours: Rates, theirs: Rates) -> Results {
        let [our_batch, peer_batch] = batches;
        let ours = Record {
            isa: Some("portable".to_owned()),
            algorithm: "row".to_owned(),
            chosen: true,
            ..builder(op, our_batch).record(&ours, true)
        };
        let about = About { name: "openssl", version: "3.0.19".to_owned(), library: "lib.so".to_owned() };
        let theirs = builder(op, peer_batch).peer(&about, "BN_mod_exp_mont_consttime", &theirs, true);
        Results { records: vec![ours, theirs], left_out: Vec::new() }
    }

    #[test]
    fn no_word_is_broken_in_80_columns() {
        let fast = || rates(123_456_789.0, 123_456_780.0);
        for op in ["pow", "pow_fixed_base_vartime"] {
            let results = results(op, [1_000_000, 16], fast(), fast());
            let text = within(&header(), &results, Some(80));
            for word in [op, "portable/row", "openssl", "1000000", "123,456,789"] {
                assert!(text.split_whitespace().any(|other| other == word), "{word} in {text}");
            }
            let mut lines = text.lines().skip(2);
            assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
            assert!(text.contains("No room in these columns for: latency ms"), "{text}");
            assert!(!within(&header(), &results, None).contains("No room"));
        }
    }

    #[test]
    fn ratios_are_of_processor_time_or_medians_and_a_busy_machine_is_named() {
        let mut results = results("pow", [16, 16], rates(892.0, 292.0), rates(189.0, 98.66));
        results.records[1].cpu_ops_per_s = Some(223.0);
        let text = within(&header(), &results, None);
        assert!(text.contains("4.00x") && text.contains("batch 16, threads 1"), "{text}");
        results.records.iter_mut().for_each(|record| record.threads = 2);
        assert!(within(&header(), &results, None).contains("2.96x"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the best slice was up to 3.05 times as fast as the median one"), "{text}");
        assert!(text.contains("threads had no processor for up to 67 % of the time"), "{text}");
        let quiet = self::results("pow", [16, 16], rates(892.0, 880.0), rates(189.0, 188.0));
        assert!(!within(&header(), &quiet, None).contains("busy"));
        assert!(quiet.records.iter().all(|record| !record.busy));
    }
}
