//! The times of the operations of homomorphic encryption by size, for a document.

use super::chart::{Lines, Series, picture};
use super::{distinct, threads_label};
use crate::fhe::FheRecord;

/// The lines of a plot: its title, and for each line the operation, whether a single item is meant, and the
/// name.
type Plot = (&'static str, &'static [(&'static str, bool, &'static str)]);

/// The plots, each with its title and the operations that it draws. Each has few lines, which can be told
/// apart.
const PLOTS: [Plot; 3] = [
    (
        "keys and recryption",
        &[
            ("keygen", true, "keys"),
            ("recrypt", true, "recrypt alone"),
            ("recrypt", false, "recrypt, each"),
            ("encrypt dense, windowed", true, "encrypt in windows"),
        ],
    ),
    (
        "bits in batches",
        &[
            ("encrypt dense, cached", false, "dense"),
            ("encrypt sparse, cached", false, "sparse"),
            ("decrypt", false, "decrypt"),
            ("and", false, "and"),
            ("xor", false, "xor"),
        ],
    ),
    (
        "matrix times vectors",
        &[
            ("matrix times bits", true, "bits"),
            ("matrix times bits", false, "bits, each"),
            ("matrix times integers", true, "integers"),
            ("matrix times integers", false, "integers, each"),
        ],
    ),
];

/// Milliseconds for each item by size as a picture of its own, with plots for each backend and number of
/// threads. Of several batches of an operation the largest is drawn, or the single item.
#[must_use]
pub fn fhe_picture(records: &[FheRecord]) -> String {
    let mut plots = Vec::new();
    for (scheme, backend, threads) in
        distinct(records, |record| (record.scheme, record.backend, record.threads))
    {
        let here: Vec<&FheRecord> = records
            .iter()
            .filter(|record| (record.scheme, record.backend, record.threads) == (scheme, backend, threads))
            .collect();
        for (title, lines) in PLOTS {
            let line = |(index, &(op, is_single, name)): (usize, &(&str, bool, &str))| Series {
                name: name.to_owned(),
                colour: index,
                dashed: false,
                points: points(&here, op, is_single),
            };
            let mut series: Vec<Series> = lines.iter().enumerate().map(line).collect();
            series.retain(|series| !series.points.is_empty());
            if series.is_empty() {
                continue;
            }
            let what = if scheme == "lwe" { "columns of the matrix" } else { "bits of a ciphertext" };
            plots.push(Lines {
                title: format!("{title}: {backend}, {}", threads_label(threads)),
                x_label: what.to_owned(),
                y_label: "milliseconds".to_owned(),
                unit: " ms",
                series,
            });
        }
    }
    picture(&plots)
}

/// The times of an operation by size: of the single item, or of each item of the largest batch.
fn points(records: &[&FheRecord], op: &str, is_single: bool) -> Vec<(f64, f64)> {
    let fits = |record: &&&FheRecord| record.op == op && (record.batch == 1) == is_single;
    let same: Vec<&&FheRecord> = records.iter().filter(fits).collect();
    let largest = |size: usize| {
        let of_size = same.iter().filter(|record| record.size == size);
        of_size.max_by_key(|record| record.batch).map(|record| (size as f64, record.ms_each))
    };
    distinct(&same, |record| record.size).into_iter().filter_map(largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_lines() {
        let record = |op, size, batch, ms_each| FheRecord {
            kind: "fhe",
            scheme: "gentry-halevi",
            setting: String::new(),
            size,
            op,
            backend: "cpu",
            batch,
            threads: 1,
            ms_each,
            median_ms_each: ms_each,
            kernel_ms_each: None,
            verified: true,
        };
        let records = [
            record("recrypt", 1000, 1, 5.0),
            record("recrypt", 1000, 16, 4.0),
            record("and", 1000, 16, 0.1),
            record("and", 1000, 1, 0.2),
            record("recrypt", 4000, 1, 25.0),
            record("recrypt", 4000, 16, 20.0),
            record("and", 4000, 16, 0.5),
        ];
        let picture = fhe_picture(&records);
        assert_eq!(picture.matches("<polyline").count(), 3, "{picture}");
        assert!(picture.contains("recrypt alone") && picture.contains("keys and recryption: cpu"));
    }
}
