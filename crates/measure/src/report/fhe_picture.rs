//! What the operations of homomorphic encryption take by size, for a document.

use super::chart::{Lines, Series, picture};
use super::distinct;
use crate::fhe::FheRecord;

/// Milliseconds for each item by size as a picture of its own, with a plot for each scheme, backend and number of threads. Of
/// several batches of an operation the largest is drawn, and a single recryption beside.
#[must_use]
pub fn fhe_picture(records: &[FheRecord]) -> String {
    let plots: Vec<Lines> = distinct(records, |record| (record.scheme, record.backend, record.threads))
        .into_iter()
        .map(|(scheme, backend, threads)| {
            let here: Vec<&FheRecord> = records
                .iter()
                .filter(|record| {
                    (record.scheme, record.backend, record.threads) == (scheme, backend, threads)
                })
                .collect();
            let what = if scheme == "lwe" { "columns of the matrix" } else { "bits of a ciphertext" };
            Lines {
                title: format!("{scheme} on {backend}, {threads} threads of the CPU"),
                x_label: what.to_owned(),
                y_label: "milliseconds for each".to_owned(),
                unit: " ms",
                series: series(&here),
            }
        })
        .collect();
    picture(&plots)
}

fn series(records: &[&FheRecord]) -> Vec<Series> {
    let name = |record: &FheRecord| match (record.op, record.batch) {
        ("recrypt", 1) => "recrypt alone".to_owned(),
        (op, _) => op.to_owned(),
    };
    let names = distinct(records, |record| name(record));
    let line = |(index, line_name): (usize, String)| {
        let same: Vec<&&FheRecord> = records.iter().filter(|record| name(record) == line_name).collect();
        let largest = |size: usize| {
            let of_size = same.iter().filter(|record| record.size == size);
            of_size.max_by_key(|record| record.batch).map(|record| (size as f64, record.ms_each))
        };
        let points = distinct(&same, |record| record.size).into_iter().filter_map(largest).collect();
        Series { name: line_name, colour: index % 8, dashed: index >= 8, points }
    };
    names.into_iter().enumerate().map(line).collect()
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
        assert!(picture.contains("recrypt alone") && picture.contains("gentry-halevi on cpu"));
    }
}
