//! Parquet files through `modmill powm`, `mul`, `inv`, `gcd` and `rsa`.

use crate::common::{Random, run, scratch, stderr};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, LargeBinaryArray, RecordBatch, StringArray};
use num_bigint::BigUint;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Value = Option<Vec<u8>>;

fn write(name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = scratch(name);
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

fn binary(values: impl IntoIterator<Item = Value>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<BinaryArray>())
}

/// Each row's result or error.
fn read(path: &Path) -> Vec<Result<Vec<u8>, String>> {
    read_column(path, "result")
}

fn read_column(path: &Path, name: &str) -> Vec<Result<Vec<u8>, String>> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name| batch.column_by_name(name).unwrap().as_any();
        let results = column(name).downcast_ref::<BinaryArray>().unwrap();
        let errors = column("error").downcast_ref::<StringArray>().unwrap();
        rows.extend(results.iter().zip(errors).map(|row| match row {
            (Some(result), None) => Ok(result.to_vec()),
            (None, Some(error)) => Err(error.to_owned()),
            other => panic!("{other:?}"),
        }));
    }
    rows
}

fn compute(command: &str, from: &Path, name: &str) -> (std::process::Output, PathBuf) {
    let to = scratch(name);
    let output = run(&[command, "--in", from.to_str().unwrap(), "--out", to.to_str().unwrap()], "");
    (output, to)
}

#[test]
fn powers_come_back_row_by_row() {
    let mut random = Random(5);
    let mut numbers = |odd: bool| -> Vec<Vec<u8>> {
        (0..9000)
            .map(|_| {
                let length = 1 + random.below(30);
                let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
                *bytes.last_mut().unwrap() |= u8::from(odd);
                bytes
            })
            .collect()
    };
    let (bases, exponents, moduli) = (numbers(false), numbers(false), numbers(true));
    let some = |values: &[Vec<u8>]| values.iter().cloned().map(Some).collect::<Vec<Value>>();
    let from = write(
        "powers.parquet",
        vec![
            ("base", Arc::new(some(&bases).into_iter().collect::<LargeBinaryArray>())),
            ("exp", binary(some(&exponents))),
            ("mod", binary(some(&moduli))),
        ],
    );
    let (output, to) = compute("powm", &from, "powers_out.parquet");
    assert!(output.status.success(), "{}", stderr(&output));
    let found = read(&to);
    assert_eq!(found.len(), 9000);
    for (row, found) in found.into_iter().enumerate() {
        let big = |values: &[Vec<u8>]| BigUint::from_bytes_be(&values[row]);
        let expected = big(&bases).modpow(&big(&exponents), &big(&moduli));
        assert_eq!(found.unwrap(), expected.to_bytes_be(), "row {row}");
    }
}

#[test]
fn bad_rows_are_named_and_good_ones_answered() {
    let from = write(
        "bad.parquet",
        vec![
            ("base", binary([Some(vec![2]), None, Some(vec![2]), Some(vec![]), Some(vec![2])])),
            ("exp", binary(vec![Some(vec![3]); 5])),
            ("mod", binary([Some(vec![5]), Some(vec![5]), Some(vec![0, 0]), Some(vec![5]), Some(vec![8])])),
        ],
    );
    let (output, to) = compute("powm", &from, "bad_out.parquet");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("3 of 5 rows"), "{}", stderr(&output));
    let found = read(&to);
    assert_eq!((&found[0], &found[4]), (&Ok(vec![3]), &Ok(vec![0])));
    assert_eq!(found[1], Err("row 2: the value \"base\" is missing".to_owned()));
    assert_eq!(found[2], Err("row 3: mod: the modulus is zero".to_owned()));
    assert!(found[3].as_ref().unwrap_err().starts_with("row 4: base: an empty string"));
}

#[test]
fn products_are_reduced_where_there_is_a_modulus() {
    let factors = || binary(vec![Some(vec![200]); 2]);
    let from = write(
        "mul.parquet",
        vec![("a", factors()), ("b", factors()), ("mod", binary([None, Some(vec![7])]))],
    );
    let (output, to) = compute("mul", &from, "mul_out.parquet");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to), [Ok(vec![0x9c, 0x40]), Ok(vec![2])]);
    let from = write("plain.parquet", vec![("a", factors()), ("b", factors())]);
    let (output, to) = compute("mul", &from, "plain_out.parquet");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to).len(), 2);
}

#[test]
fn inverses_and_divisors_come_back_row_by_row() {
    let numbers = |values: &[u8]| binary(values.iter().map(|&value| Some(vec![value])).collect::<Vec<_>>());
    let columns = vec![("a", numbers(&[3, 3])), ("mod", numbers(&[7, 9])), ("b", numbers(&[12, 5]))];
    let from = write("pairs.parquet", columns);
    let (output, to) = compute("inv", &from, "inverses.parquet");
    assert_eq!(output.status.code(), Some(1));
    let found = read(&to);
    assert_eq!(found[0], Ok(vec![5]));
    assert!(found[1].as_ref().unwrap_err().starts_with("row 2: the number has no inverse"));
    let (output, to) = compute("gcd", &from, "divisors.parquet");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to), [Ok(vec![3]), Ok(vec![1])]);
}

#[test]
fn the_format_can_be_named() {
    let numbers = || binary([Some(vec![6])]);
    let from = write("table", vec![("a", numbers()), ("b", numbers())]);
    let to = scratch("table_out");
    let [from, out] = [&from, &to].map(|path| path.to_str().unwrap());
    let output = run(&["mul", "--format", "parquet", "--in", from, "--out", out], "");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to), [Ok(vec![36])]);
    for (arguments, reason) in [
        (&["mul", "--format", "parquet", "--in", from][..], "--out names the Parquet file"),
        (&["mul", "--format", "parquet", "--out", out], "cannot be read from standard input"),
        (&["mul", "--format", "folder"], "known: auto, lines, parquet"),
        (&["mul", "--in", from, "--out", "x.parquet"], "must both be Parquet files or both JSON Lines"),
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn files_of_the_wrong_shape_are_explained() {
    let numbers = || binary([Some(vec![1])]);
    let cases = [
        (vec![("base", numbers()), ("exp", numbers())], "no column \"mod\" among base, exp"),
        (
            vec![
                ("base", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
                ("exp", numbers()),
                ("mod", numbers()),
            ],
            "the column \"base\" is Int64; it must be binary",
        ),
    ];
    for (columns, reason) in cases {
        let from = write("shape.parquet", columns);
        let (output, _) = compute("powm", &from, "shape_out.parquet");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    let text = scratch("text.parquet");
    std::fs::write(&text, "{}").unwrap();
    let (output, _) = compute("powm", &text, "text_out.parquet");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read"), "{}", stderr(&output));
}

#[test]
fn messages_are_signed_row_by_row() {
    let [key, signatures, verdicts] = ["row-key.pem", "signatures.parquet", "verdicts.parquet"].map(scratch);
    let [key, signatures, verdicts] = [&key, &signatures, &verdicts].map(|path| path.to_str().unwrap());
    let rsa = |command: &str| {
        let words: Vec<&str> = std::iter::once("rsa").chain(command.split(' ')).collect();
        run(&words, "")
    };
    assert!(rsa(&format!("keygen --bits 512 --allow-small --out {key}")).status.success());
    let options = format!("--allow-small --key {key} --padding pkcs1v15 --hash sha256");
    let messages: Vec<Value> = (0..20).map(|row| (row != 7).then(|| vec![row; 3])).collect();
    let from = write("messages.parquet", vec![("message", binary(messages.clone()))]);
    let output = rsa(&format!("sign {options} --in {} --out {signatures}", from.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("row 8"), "{}", stderr(&output));
    let signed = read_column(Path::new(signatures), "signature");
    assert!(signed[7].is_err() && signed.iter().flatten().all(|signature| signature.len() == 64));

    // The messages stand beside their signatures, so that the file can be verified as it is.
    let output = rsa(&format!("verify {options} --in {signatures} --out {verdicts}"));
    assert!(stderr(&output).contains("1 of 20 rows"), "{}", stderr(&output));

    // One signature is another message's.
    let mut signed: Vec<Value> = signed.into_iter().map(Result::ok).collect();
    signed.swap(3, 4);
    let columns = vec![("message", binary(messages)), ("signature", binary(signed))];
    let from = write("signed.parquet", columns);
    let output = rsa(&format!("verify {options} --in {} --out {verdicts}", from.display()));
    assert!(stderr(&output).contains("3 of 20 rows"), "{}", stderr(&output));
    let output = rsa(&format!("sign {options} --digest --in {} --out {signatures}", from.display()));
    assert!(stderr(&output).contains("no column \"digest\""), "{}", stderr(&output));
    let output = rsa(&format!("sign {options} --in {}", from.display()));
    assert!(stderr(&output).contains("--out names the Parquet file"), "{}", stderr(&output));
}
