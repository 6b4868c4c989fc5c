//! The report: one self-contained page of HTML, with plots as SVG.

mod chart;
mod escape;
#[cfg(feature = "fhe")]
mod fhe_picture;
mod load_picture;
mod picture;

use crate::busy;
use crate::record::{Header, Record};
use crate::table;
use chart::{Bars, Lines, Series};
use escape::escape;
#[cfg(feature = "fhe")]
pub use fhe_picture::fhe_picture;
pub use load_picture::{LoadPoint, load_picture};
pub use picture::batches_picture;

const STYLE: &str = "\
:root{color-scheme:light}
body{font:15px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff;max-width:1080px;margin:0 auto;padding:32px 20px 60px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:44px 0 6px;padding-top:14px;border-top:1px solid #e3e7ee}
p.note{color:#5a6577;margin:2px 0 12px;font-size:14px}
p.busy{border-left:4px solid #d55e00;padding:4px 12px;margin:18px 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:18px 0;font-size:14px}
dt{color:#5a6577}dd{margin:0;overflow-wrap:anywhere}code{font:13px/1.5 ui-monospace,monospace}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(460px,100%),1fr));gap:22px}
figure{margin:0;border:1px solid #e3e7ee;border-radius:8px;padding:12px 12px 8px}
figcaption{font-weight:600;margin-bottom:4px}svg{width:100%;height:auto;display:block}
svg text{font:11.5px system-ui,sans-serif;fill:#5a6577;paint-order:stroke;stroke:#fff;stroke-width:4px}
ul.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;padding:0;margin:4px 0 0;font-size:13px}
ul.legend i{display:inline-block;width:20px;border-top:3px solid;margin-right:6px;vertical-align:middle}
ul.legend i.dash{border-top-style:dashed}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;color:#5a6577;font-weight:600;vertical-align:bottom}th,td{padding:4px 8px;border-bottom:1px solid #e3e7ee}td{white-space:nowrap}
td.n,th.n{text-align:right}tr.ours td{font-weight:600}td.bad{color:#b3261e;font-weight:700}";

/// The report as a page of HTML.
#[must_use]
pub fn page(header: &Header, records: &[Record]) -> String {
    let mut body = String::new();
    body += &head(header);
    if let Some(note) = busy::note(records) {
        body += &format!("<p class=\"busy\">{}</p>\n", escape(&note));
    }
    body += &section(
        "Throughput by size",
        "Operations per second in the best slice, at the largest batch measured. Higher is better; peers, and GPUs' kernels without copies, are dashed.",
        &by_size(records),
    );
    body += &section(
        "Throughput by batch size",
        "Paths fill their lanes and threads as batches grow. Peers compute one operation after the other.",
        &by_batch(records),
    );
    body += &section(
        "Against the peers",
        "How many times the peer's throughput the engine's chosen path reaches: by processor time on one thread, and median slice against median slice on several.",
        &ratios(records),
    );
    body += &format!("<h2>All measurements</h2>\n<div class=\"scroll\">{}</div>\n", results(records));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>modmill benchmark</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn head(header: &Header) -> String {
    let Header { hardware, build, .. } = header;
    let peers: Vec<String> = header
        .peers
        .iter()
        .map(|peer| format!("{} {} ({})", peer.name, peer.version, peer.library))
        .collect();
    let peers = if peers.is_empty() { "none".to_owned() } else { peers.join(", ") };
    let facts = [
        ("Processor", hardware.cpu.clone()),
        ("Machine", header.machine.clone()),
        ("Instruction sets", hardware.instruction_sets.join(", ")),
        ("Program", format!("modmill {}, commit {}, {}", build.version, build.commit, build.profile)),
        ("Compiler", build.rustc.to_owned()),
        ("Peers", peers),
        ("Date", header.date.clone()),
    ];
    let mut text = String::from("<h1>modmill benchmark</h1>\n");
    text += "<p class=\"note\">Slices of ours and the peers&#39; took turns on the same inputs, and every answer was compared.</p>\n<dl>\n";
    for (name, value) in facts {
        text += &format!("<dt>{name}</dt><dd>{}</dd>\n", escape(&value));
    }
    text += &format!("<dt>Command</dt><dd><code>{}</code></dd>\n</dl>\n", escape(&header.command));
    text
}

fn section(title: &str, note: &str, figures: &[String]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    format!(
        "<h2>{title}</h2>\n<p class=\"note\">{note}</p>\n<div class=\"charts\">\n{}</div>\n",
        figures.concat()
    )
}

/// The different values of a key, in the order of the records.
fn distinct<R, K: PartialEq>(records: &[R], key: impl Fn(&R) -> K) -> Vec<K> {
    let mut keys = Vec::new();
    for key in records.iter().map(key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// A line for each path and peer. A path or peer has the same colour in every plot.
fn series(all_records: &[Record], records: &[&Record], x: impl Fn(&Record) -> usize) -> Vec<Series> {
    let labels = distinct(all_records, Record::label);
    let mut all: Vec<Series> = Vec::new();
    let lines = records.iter().flat_map(|record| {
        let kernel =
            record.kernel_ops_per_s.map(|rate| (*record, format!("{}, kernel alone", record.label()), rate));
        [Some((*record, record.label(), record.ops_per_s)), kernel].into_iter().flatten()
    });
    for (record, name, rate) in lines {
        let point = (x(record) as f64, rate);
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => {
                let colour = labels.iter().position(|label| *label == record.label()).unwrap_or(0);
                let dashed = name != record.label() || record.peer.is_some();
                all.push(Series { name, colour, dashed, points: vec![point] });
            }
        }
    }
    for series in &mut all {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

fn threads_label(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// A plot for each operation and number of threads.
fn by_size(records: &[Record]) -> Vec<String> {
    let mut figures = Vec::new();
    for (op, threads) in distinct(records, |record| (record.op.clone(), record.threads)) {
        let here: Vec<&Record> =
            records.iter().filter(|record| record.op == op && record.threads == threads).collect();
        // Only the largest batch of each path and size is drawn.
        let is_largest = |record: &&Record| {
            let same = |other: &&&Record| other.label() == record.label() && other.bits == record.bits;
            here.iter().filter(same).all(|other| other.batch <= record.batch)
        };
        let here: Vec<&Record> = here.iter().copied().filter(is_largest).collect();
        let chart = Lines {
            title: format!("{op}, {}", threads_label(threads)),
            x_label: "bits".to_owned(),
            y_label: "operations per second".to_owned(),
            unit: "/s",
            series: series(records, &here, |record| record.bits),
        };
        figures.push(chart.draw());
    }
    figures
}

/// A plot for each operation, length and number of threads that was measured with several batch sizes.
fn by_batch(records: &[Record]) -> Vec<String> {
    let mut figures = Vec::new();
    for (op, bits, threads) in distinct(records, |record| (record.op.clone(), record.bits, record.threads)) {
        let here: Vec<&Record> = records
            .iter()
            .filter(|record| record.op == op && record.bits == bits && record.threads == threads)
            .collect();
        let again = |record: &&Record| {
            here.iter().any(|other| other.label() == record.label() && other.batch != record.batch)
        };
        if !here.iter().any(again) {
            continue;
        }
        let chart = Lines {
            title: format!("{op} of {bits} bits, {}", threads_label(threads)),
            x_label: "items in a batch".to_owned(),
            y_label: "operations per second".to_owned(),
            unit: "/s",
            series: series(records, &here, |record| record.batch),
        };
        figures.push(chart.draw());
    }
    figures
}

/// A plot for each peer.
fn ratios(records: &[Record]) -> Vec<String> {
    let threads = distinct(records, |record| record.threads);
    let several_batches = distinct(records, |record| record.op.clone())
        .iter()
        .any(|op| distinct(records, |r| (r.op == *op).then_some(r.batch)).iter().flatten().count() > 1);
    let label = |record: &Record| {
        let mut label = format!("{} {}", record.op, record.bits);
        if several_batches {
            label += &format!(" x{}", record.batch);
        }
        if threads.len() > 1 {
            label += &format!(", {}", threads_label(record.threads));
        }
        label
    };
    let mut figures = Vec::new();
    for peer in table::peers(records) {
        let bars: Vec<(String, f64)> = records
            .iter()
            .filter(|record| record.chosen)
            .filter_map(|record| Some((label(record), table::ratio(record, &peer, records)?)))
            .collect();
        if !bars.is_empty() {
            figures.push(Bars { title: format!("Times the throughput of {peer}"), bars }.draw());
        }
    }
    figures
}

fn results(records: &[Record]) -> String {
    let (peers, kernels) = (table::peers(records), table::has_kernels(records));
    let mut text = String::from("<table>\n<tr><th>op</th><th class=\"n\">bits</th><th>path or peer</th>");
    let names = ["batch", "threads", "ops/s", "median", "ops per CPU s", "waited", "latency ms"];
    for name in names.into_iter().chain(kernels.then_some("kernel ops/s")) {
        text += &format!("<th class=\"n\">{name}</th>");
    }
    for peer in &peers {
        text += &format!("<th class=\"n\">vs {}</th>", escape(peer));
    }
    text += "<th>checked</th></tr>\n";
    for record in records {
        let mut name = record.label();
        if record.peer.is_some() {
            name = format!("{name}: {}", record.algorithm);
        }
        let class = if record.chosen { " class=\"ours\"" } else { "" };
        text += &format!(
            "<tr{class}><td>{}</td><td class=\"n\">{}</td><td>{}</td>",
            escape(&record.op),
            record.bits,
            escape(&name)
        );
        let mut numbers = vec![
            record.batch.to_string(),
            record.threads.to_string(),
            table::number(record.ops_per_s),
            table::number(record.median_ops_per_s),
            record.cpu_ops_per_s.map_or("-".to_owned(), table::number),
            record.waited.map_or("-".to_owned(), |part| format!("{:.0} %", 100.0 * part)),
            table::number(record.latency_ms),
        ];
        numbers.extend(kernels.then(|| record.kernel_ops_per_s.map_or("-".to_owned(), table::number)));
        for number in numbers {
            text += &format!("<td class=\"n\">{number}</td>");
        }
        for peer in &peers {
            let ratio = table::ratio(record, peer, records);
            let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"));
            text += &format!("<td class=\"n\">{ratio}</td>");
        }
        text += if record.verified { "<td>yes</td></tr>\n" } else { "<td class=\"bad\">wrong</td></tr>\n" };
    }
    text + "</table>\n"
}
