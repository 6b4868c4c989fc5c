//! Parquet files, Arrow files and Arrow streams through `modmill powm`, `mul`, `inv`, `gcd` and `rsa`.

use crate::common::{ends_quietly_without_a_reader, modmill, run, scratch, stderr};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, Int8Array, Int64Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

type Value = Option<Vec<u8>>;

/// The extensions of the formats that have rows.
const FORMATS: [&str; 3] = ["parquet", "arrow", "arrows"];

/// Writes a file in the format that its extension names, and Parquet if it has none.
fn write(name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = scratch(name);
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let file = File::create(&path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("arrow") => {
            let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
        Some("arrows") => file_of(&stream(&batch), file),
        _ => {
            let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        }
    }
    path
}

fn file_of(octets: &[u8], mut file: File) {
    file.write_all(octets).unwrap();
}

/// A batch as an Arrow stream.
fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("arrow") => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        Some("arrows") => StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        _ => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            builder.build().unwrap().map(Result::unwrap).collect()
        }
    }
}

fn binary(values: impl IntoIterator<Item = Value>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<BinaryArray>())
}

/// Each row's result or error.
fn read(path: &Path) -> Vec<Result<Vec<u8>, String>> {
    read_column(path, "result")
}

fn read_column(path: &Path, name: &str) -> Vec<Result<Vec<u8>, String>> {
    rows_of(batches(path), name)
}

fn rows_of(batches: Vec<RecordBatch>, name: &str) -> Vec<Result<Vec<u8>, String>> {
    let mut rows = Vec::new();
    for batch in batches {
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
    FORMATS.into_iter().for_each(powers_come_back_row_by_row_in);
}

fn powers_come_back_row_by_row_in(format: &str) {
    let mut random = Rng::new(5);
    let mut numbers = |odd: bool| -> Vec<Vec<u8>> {
        (0..9000)
            .map(|_| {
                let length = 1 + random.below(30);
                let mut bytes = random.bytes(length);
                *bytes.last_mut().unwrap() |= u8::from(odd);
                bytes
            })
            .collect()
    };
    let (bases, exponents, moduli) = (numbers(false), numbers(false), numbers(true));
    let some = |values: &[Vec<u8>]| values.iter().cloned().map(Some).collect::<Vec<Value>>();
    let from = write(
        &format!("powers.{format}"),
        vec![
            ("base", Arc::new(some(&bases).into_iter().collect::<LargeBinaryArray>())),
            ("exp", binary(some(&exponents))),
            ("mod", binary(some(&moduli))),
        ],
    );
    let (output, to) = compute("powm", &from, &format!("powers_out.{format}"));
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
    FORMATS.into_iter().for_each(bad_rows_are_named_and_good_ones_answered_in);
}

fn bad_rows_are_named_and_good_ones_answered_in(format: &str) {
    let from = write(
        &format!("bad.{format}"),
        vec![
            ("base", binary([Some(vec![2]), None, Some(vec![2]), Some(vec![]), Some(vec![2])])),
            ("exp", binary(vec![Some(vec![3]); 5])),
            ("mod", binary([Some(vec![5]), Some(vec![5]), Some(vec![0, 0]), Some(vec![5]), Some(vec![8])])),
        ],
    );
    let (output, to) = compute("powm", &from, &format!("bad_out.{format}"));
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
    FORMATS.into_iter().for_each(products_are_reduced_where_there_is_a_modulus_in);
}

fn products_are_reduced_where_there_is_a_modulus_in(format: &str) {
    let factors = || binary(vec![Some(vec![200]); 2]);
    let from = write(
        &format!("mul.{format}"),
        vec![("a", factors()), ("b", factors()), ("mod", binary([None, Some(vec![7])]))],
    );
    let (output, to) = compute("mul", &from, &format!("mul_out.{format}"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to), [Ok(vec![0x9c, 0x40]), Ok(vec![2])]);
    let from = write(&format!("plain.{format}"), vec![("a", factors()), ("b", factors())]);
    let (output, to) = compute("mul", &from, &format!("plain_out.{format}"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to).len(), 2);
}

#[test]
fn inverses_and_divisors_come_back_row_by_row() {
    FORMATS.into_iter().for_each(inverses_and_divisors_come_back_row_by_row_in);
}

fn inverses_and_divisors_come_back_row_by_row_in(format: &str) {
    let numbers = |values: &[u8]| binary(values.iter().map(|&value| Some(vec![value])).collect::<Vec<_>>());
    let columns = vec![("a", numbers(&[3, 3])), ("mod", numbers(&[7, 9])), ("b", numbers(&[12, 5]))];
    let from = write(&format!("pairs.{format}"), columns);
    let (output, to) = compute("inv", &from, &format!("inverses.{format}"));
    assert_eq!(output.status.code(), Some(1));
    let found = read(&to);
    assert_eq!(found[0], Ok(vec![5]));
    assert!(found[1].as_ref().unwrap_err().starts_with("row 2: the number has no inverse"));
    let (output, to) = compute("gcd", &from, &format!("divisors.{format}"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&to), [Ok(vec![3]), Ok(vec![1])]);
}

#[test]
fn quotients_and_symbols_have_columns_of_their_own() {
    for format in FORMATS {
        let numbers =
            |values: &[u8]| binary(values.iter().map(|&value| Some(vec![0, value])).collect::<Vec<_>>());
        let columns =
            vec![("a", numbers(&[200, 3, 1])), ("b", numbers(&[7, 0, 2])), ("mod", numbers(&[7, 9, 5]))];
        let from = write(&format!("divided.{format}"), columns);
        let (output, to) = compute("div", &from, &format!("quotients.{format}"));
        assert_eq!(output.status.code(), Some(1));
        let (quotients, rests) = (read_column(&to, "quotient"), read_column(&to, "remainder"));
        assert_eq!((&quotients[0], &quotients[2]), (&Ok(vec![28]), &Ok(vec![0])));
        assert_eq!((&rests[0], &rests[2]), (&Ok(vec![4]), &Ok(vec![1])));
        assert_eq!(rests[1], Err("row 2: b: the divisor is zero".to_owned()));
        let (output, to) = compute("jacobi", &from, &format!("symbols.{format}"));
        assert!(output.status.success(), "{}", stderr(&output));
        let symbols: Vec<Option<i8>> = batches(&to)
            .iter()
            .flat_map(|batch| {
                let column = batch.column_by_name("result").unwrap().as_any();
                column.downcast_ref::<Int8Array>().unwrap().iter().collect::<Vec<_>>()
            })
            .collect();
        // 200 is 4 modulo 7, which is a square.
        assert_eq!(symbols, [Some(1), Some(0), Some(1)]);
    }
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
        (&["mul", "--format", "folder"], "known: auto, lines, hex, parquet, arrow"),
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn files_of_the_wrong_shape_are_explained() {
    FORMATS.into_iter().for_each(files_of_the_wrong_shape_are_explained_in);
}

fn files_of_the_wrong_shape_are_explained_in(format: &str) {
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
        let from = write(&format!("shape.{format}"), columns);
        let (output, _) = compute("powm", &from, &format!("shape_out.{format}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    let text = scratch(&format!("text.{format}"));
    std::fs::write(&text, "{}").unwrap();
    let (output, _) = compute("powm", &text, &format!("text_out.{format}"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read"), "{}", stderr(&output));
}

#[test]
fn messages_are_signed_row_by_row() {
    FORMATS.into_iter().for_each(messages_are_signed_row_by_row_in);
}

fn messages_are_signed_row_by_row_in(format: &str) {
    let [key, signatures, verdicts] =
        [&format!("row-key-{format}.pem"), &format!("signatures.{format}"), &format!("verdicts.{format}")]
            .map(|name| scratch(name));
    let [key, signatures, verdicts] = [&key, &signatures, &verdicts].map(|path| path.to_str().unwrap());
    let rsa = |command: &str| {
        let words: Vec<&str> = std::iter::once("rsa").chain(command.split(' ')).collect();
        run(&words, "")
    };
    assert!(rsa(&format!("keygen --bits 512 --allow-small --out {key}")).status.success());
    let options = format!("--allow-small --key {key} --padding pkcs1v15 --hash sha256");
    let messages: Vec<Value> = (0..20).map(|row| (row != 7).then(|| vec![row; 3])).collect();
    let from = write(&format!("messages.{format}"), vec![("message", binary(messages.clone()))]);
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
    let from = write(&format!("signed.{format}"), columns);
    let output = rsa(&format!("verify {options} --in {} --out {verdicts}", from.display()));
    let expected = "2 of 20 signatures are wrong, and 1 of 20 rows could not be verified";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    let output = rsa(&format!("sign {options} --digest --in {} --out {signatures}", from.display()));
    assert!(stderr(&output).contains("no column \"digest\""), "{}", stderr(&output));
    let output = rsa(&format!("sign {options} --in {}", from.display()));
    match format {
        "parquet" => {
            assert!(stderr(&output).contains("--out names the Parquet file"), "{}", stderr(&output))
        }
        // A stream.
        _ => {
            let batches = StreamReader::try_new(&output.stdout[..], None).unwrap();
            assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 20);
        }
    }
}

#[test]
fn numbers_of_every_type_are_read() {
    for format in FORMATS {
        let two = || Some(&[0u8, 2][..]);
        let columns: [ArrayRef; 7] = [
            Arc::new(BinaryArray::from(vec![two(), None])),
            Arc::new(LargeBinaryArray::from(vec![two(), None])),
            Arc::new(BinaryViewArray::from(vec![two(), None])),
            Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size([two(), None].into_iter(), 2).unwrap(),
            ),
            Arc::new(StringArray::from(vec![Some("0x02"), Some("2g")])),
            Arc::new(LargeStringArray::from(vec![Some("2"), Some("")])),
            Arc::new(StringViewArray::from(vec![Some("0002"), None])),
        ];
        for column in columns {
            let kind = column.data_type().clone();
            let from =
                write(&format!("types.{format}"), vec![("a", column), ("b", binary(vec![Some(vec![3]); 2]))]);
            let (output, to) = compute("mul", &from, &format!("types_out.{format}"));
            assert_eq!(output.status.code(), Some(1), "{kind}: {}", stderr(&output));
            let found = read(&to);
            assert_eq!(found[0], Ok(vec![6]), "{kind}");
            let error = found[1].as_ref().unwrap_err();
            let reasons = ["the value \"a\" is missing", "a: 'g' at position 1", "a: an empty string"];
            assert!(reasons.iter().any(|reason| error.contains(reason)), "{kind}: {error}");
        }
    }
}

#[test]
fn a_stream_passes_through_pipes_batch_by_batch() {
    let batch = |value: u8| {
        let numbers = || binary([Some(vec![value]), Some(vec![1])]);
        RecordBatch::try_from_iter_with_nullable([("a", numbers(), true), ("b", numbers(), true)]).unwrap()
    };
    let mut child =
        modmill(&["mul", "--format", "arrow"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut writer = StreamWriter::try_new(child.stdin.take().unwrap(), &batch(1).schema()).unwrap();
    writer.write(&batch(2)).unwrap();
    writer.flush().unwrap();
    let mut reader = StreamReader::try_new(child.stdout.take().unwrap(), None).unwrap();
    // Each batch is written only after the batch before it was answered.
    for value in [2, 3, 4] {
        let answers = reader.next().unwrap().unwrap();
        assert_eq!(rows_of(vec![answers], "result"), [Ok(vec![value * value]), Ok(vec![1])]);
        writer.write(&batch(value + 1)).unwrap();
        writer.flush().unwrap();
    }
    assert!(reader.next().unwrap().is_ok());
    writer.finish().unwrap();
    drop(writer);
    assert!(reader.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_cut_short_are_errors_and_leave_no_answers() {
    for format in FORMATS {
        let numbers = || binary(vec![Some(vec![3; 100]); 1000]);
        let from = write(&format!("cut.{format}"), vec![("a", numbers()), ("b", numbers())]);
        let octets = std::fs::read(&from).unwrap();
        for length in [0, 5, octets.len() / 2, octets.len() - 600] {
            std::fs::write(&from, &octets[..length]).unwrap();
            let (output, to) = compute("mul", &from, &format!("cut_out.{format}"));
            assert_eq!(output.status.code(), Some(2), "{format}, {length}: {}", stderr(&output));
            assert!(stderr(&output).contains("cannot read"), "{}", stderr(&output));
            assert!(!to.exists());
        }
    }
}

#[test]
fn a_reader_of_a_stream_that_leaves_ends_the_program_quietly() {
    let numbers = || binary(vec![Some(vec![3; 200]); 50_000]);
    let from = write("leaves.arrows", vec![("a", numbers()), ("b", numbers())]);
    ends_quietly_without_a_reader(&["mul", "--in", from.to_str().unwrap()]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for format in ["parquet", "arrow"] {
        let numbers = || binary(vec![Some(vec![3; 200]); 5000]);
        let from = write(&format!("full.{format}"), vec![("a", numbers()), ("b", numbers())]);
        let arguments = ["mul", "--format", format, "--in", from.to_str().unwrap(), "--out", "/dev/full"];
        let output = run(&arguments, "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("cannot write /dev/full"), "{}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
    }
}
