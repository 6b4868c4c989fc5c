//! Tables of other programs: codecs, dictionaries, from format to format, damaged and hostile files.

use crate::common::{run, scratch, stderr};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use modmill_testing::mutations::{mutate, rounds};
use modmill_testing::rng::Rng;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of 3^5 modulo 7 and 4^5 modulo 7. The exponent is a dictionary.
fn batch() -> RecordBatch {
    let base: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[3], &[4]]));
    let exp: ArrayRef = Arc::new(vec!["5", "5"].into_iter().collect::<DictionaryArray<Int8Type>>());
    let modulus: ArrayRef = Arc::new(StringArray::from(vec!["7", "7"]));
    RecordBatch::try_from_iter([("base", base), ("exp", exp), ("mod", modulus)]).unwrap()
}

const POWERS: &str = "{\"result\":\"5\"}\n{\"result\":\"2\"}\n";

fn arrow(codec: Option<CompressionType>, is_stream: bool, batch: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    if is_stream {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(batch).unwrap();
        return writer.into_inner().unwrap();
    }
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    (0..batch.num_rows()).for_each(|row| writer.write(&batch.slice(row, 1)).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn parquet(codec: Compression, batch: &RecordBatch) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Runs `powm`. Returns its exit status, what it says, and the answers.
fn powm(from: &Path, to: &Path) -> (Option<i32>, String, Vec<u8>) {
    let _ = fs::remove_file(to);
    let output =
        run(&["powm", "--threads", "1", "--in", from.to_str().unwrap(), "--out", to.to_str().unwrap()], "");
    (output.status.code(), stderr(&output), fs::read(to).unwrap_or_default())
}

#[test]
fn every_codec_and_dictionaries_are_read() {
    let to = scratch("codecs.jsonl");
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
    ] {
        let (status, text, answers) = powm(&file("codecs.parquet", &parquet(codec, &batch())), &to);
        assert_eq!(
            (status, String::from_utf8_lossy(&answers).as_ref()),
            (Some(0), POWERS),
            "{codec:?}: {text}"
        );
    }
    for codec in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        for (name, is_stream) in [("codecs.arrow", false), ("codecs.arrows", true)] {
            let (status, text, answers) = powm(&file(name, &arrow(codec, is_stream, &batch())), &to);
            assert_eq!(
                (status, String::from_utf8_lossy(&answers).as_ref()),
                (Some(0), POWERS),
                "{codec:?}: {text}"
            );
        }
    }
}

#[test]
fn every_format_is_answered_in_every_other() {
    let lines =
        "{\"base\":\"3\",\"exp\":\"5\",\"mod\":\"7\"}\n{\"base\":\"4\",\"exp\":\"5\",\"mod\":\"7\"}\n";
    let inputs = [
        file("pairs_in.jsonl", lines.as_bytes()),
        file("pairs_in.parquet", &parquet(Compression::SNAPPY, &batch())),
        file("pairs_in.arrow", &arrow(None, false, &batch())),
        file("pairs_in.arrows", &arrow(None, true, &batch())),
    ];
    for from in &inputs {
        for to in ["pairs_out.jsonl", "pairs_out.parquet", "pairs_out.arrow", "pairs_out.arrows"] {
            let to = scratch(to);
            let (status, text, _) = powm(from, &to);
            assert_eq!(status, Some(0), "{} to {}: {text}", from.display(), to.display());
            assert_eq!(results(&to), POWERS, "{} to {}", from.display(), to.display());
        }
    }
}

/// The column `result` of a table, as lines.
fn results(path: &Path) -> String {
    let file = fs::File::open(path).unwrap();
    let batches: Vec<RecordBatch> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => return fs::read_to_string(path).unwrap(),
        Some("arrow") => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        Some("arrows") => StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        _ => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            builder.build().unwrap().map(Result::unwrap).collect()
        }
    };
    let mut text = String::new();
    for batch in batches {
        let results = batch.column_by_name("result").unwrap().as_binary::<i32>();
        results.iter().flatten().for_each(|octets| text += &format!("{{\"result\":\"{:x}\"}}\n", octets[0]));
    }
    text
}

#[test]
fn what_stands_beside_answers_goes_along() {
    let [key, signed, fields] = ["tables-key.pem", "beside.jsonl", "beside.arrow"].map(scratch);
    let rsa = |words: &[&str]| {
        let output = run(&[&["rsa"], words].concat(), "");
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let [key, signed_name, fields_name] = [&key, &signed, &fields].map(|path| path.to_str().unwrap());
    rsa(&["keygen", "--bits", "512", "--allow-small", "--out", key]);
    let options = ["--allow-small", "--key", key, "--padding", "pkcs1v15", "--hash", "sha256"];
    let message: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[1, 0xab], &[2]]));
    let number: ArrayRef = Arc::new(Int64Array::from(vec![Some(-7), None]));
    let name: ArrayRef = Arc::new(vec!["a \"b\"", "c"].into_iter().collect::<DictionaryArray<Int8Type>>());
    let table = RecordBatch::try_from_iter_with_nullable([
        ("message", message, true),
        ("number", number, true),
        ("name", name, true),
    ]);
    let from = file("beside.parquet", &parquet(Compression::SNAPPY, &table.unwrap()));
    rsa(&[&["sign"], &options[..], &["--in", from.to_str().unwrap(), "--out", signed_name]].concat());
    let text = fs::read_to_string(&signed).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with(r#","message":"01ab","number":-7,"name":"a \"b\""}"#), "{text}");
    assert!(lines[1].ends_with(r#","message":"02","number":null,"name":"c"}"#), "{text}");
    // Lines that were signed verify, and their other fields become one column.
    rsa(&[&["verify"], &options[..], &["--in", signed_name, "--out", fields_name]].concat());
    let batches: Vec<_> =
        FileReader::try_new(fs::File::open(&fields).unwrap(), None).unwrap().map(Result::unwrap).collect();
    let kept = batches[0].column_by_name("fields").unwrap().as_string::<i32>();
    assert_eq!(kept.value(0), r#"{"number":-7,"name":"a \"b\""}"#);
}

/// An Arrow file of some hundred bytes whose zstd buffer says that it has 64 TiB.
#[test]
fn a_length_that_no_memory_has_is_refused() {
    let column: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..1000).map(|_| [0u8; 32])));
    let batch =
        RecordBatch::try_from_iter([("base", column.clone()), ("exp", column.clone()), ("mod", column)])
            .unwrap();
    let mut bytes = arrow(Some(CompressionType::ZSTD), true, &batch);
    let at = bytes.windows(8).rposition(|eight| eight == 32_000i64.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&(1i64 << 46).to_le_bytes());
    let (status, text, _) = powm(&file("terabytes.arrows", &bytes), &scratch("terabytes_out.arrows"));
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("expands to") && !text.contains("panicked"), "{text}");
}

/// Mutated files end with one of the promised statuses, without the text of a panic. `MODMILL_MUTATIONS`
/// makes more of them.
#[test]
fn mutated_files_have_the_promised_statuses() {
    let samples = [
        ("mutated.arrow", arrow(Some(CompressionType::ZSTD), false, &batch())),
        ("mutated.arrows", arrow(Some(CompressionType::LZ4_FRAME), true, &batch())),
        ("mutated.parquet", parquet(Compression::SNAPPY, &batch())),
        ("mutated.parquet", parquet(Compression::GZIP(Default::default()), &batch())),
    ];
    let mut rng = Rng::new(3);
    let to = scratch("mutated_out.jsonl");
    for round in 0..rounds(40) {
        let (name, bytes) = &samples[round % samples.len()];
        let mutated = mutate(bytes, &mut rng);
        let (status, text, _) = powm(&file(name, &mutated), &to);
        assert!(
            matches!(status, Some(0..=2)) && !text.contains("panicked"),
            "{status:?} for {mutated:?}: {text}"
        );
    }
}
