//! Parquet: binary columns in, a binary column (or verdicts) and errors out.

use super::{Answer, CHUNK_ITEMS, Item, Summary, Work};
use crate::failure::Failure;
use crate::parquet::{ROW_GROUP_BYTES, check_binary, value};
use crate::stream::Bar;
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fmt::Display;
use std::fs::File;
use std::sync::Arc;
use zeroize::Zeroizing;

pub(super) fn run(work: &Work<'_>) -> Result<Summary, Failure> {
    let failed = |action: &str, path: &str, error: &dyn Display| {
        Failure::Usage(format!("cannot {action} {path}: {error}"))
    };
    if work.sink == "-" {
        return Err(Failure::Usage("--out names the Parquet file for the answers".to_owned()));
    }
    let bad_input = |error: &dyn Display| failed("read", work.sources[0], error);
    let bad_output = |error: &dyn Display| failed("write", work.sink, error);
    let file = File::open(work.sources[0]).map_err(|error| bad_input(&error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| bad_input(&error))?;
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
    for name in work.inputs {
        check_binary(builder.schema(), name, true).map_err(|error| bad_input(&error))?;
    }
    let reader = builder.with_batch_size(CHUNK_ITEMS).build().map_err(|error| bad_input(&error))?;
    let (name, kind) = match work.output {
        Some(name) => (name, DataType::Binary),
        None => ("valid", DataType::Boolean),
    };
    let columns =
        Arc::new(Schema::new(vec![Field::new(name, kind, true), Field::new("error", DataType::Utf8, true)]));
    let file = File::create(work.sink).map_err(|error| bad_output(&error))?;
    let mut writer = ArrowWriter::try_new(file, columns.clone(), None).map_err(|error| bad_output(&error))?;
    let bar = Bar::new(rows, work.quiet, "rows");
    let mut summary = Summary::default();
    for batch in reader {
        let batch = batch.map_err(|error| bad_input(&error))?;
        let answers = work.answer(items(&batch, work.inputs))?;
        for answer in &answers {
            let row = summary.items + 1;
            summary.count(answer, || format!("row {row}"));
        }
        let errors: StringArray = answers.iter().map(|answer| answer.as_ref().err()).collect();
        let arrays = vec![outputs(work.output, &answers), Arc::new(errors)];
        let batch = RecordBatch::try_new(columns.clone(), arrays).map_err(|error| bad_output(&error))?;
        writer.write(&batch).map_err(|error| bad_output(&error))?;
        if writer.in_progress_size() > ROW_GROUP_BYTES {
            writer.flush().map_err(|error| bad_output(&error))?;
        }
        bar.advance(answers.len() as u64);
    }
    writer.close().map_err(|error| bad_output(&error))?;
    bar.finish();
    Ok(summary)
}

fn outputs(output: Option<&str>, answers: &[Answer]) -> ArrayRef {
    match output {
        Some(_) => {
            let bytes = answers.iter().map(|answer| answer.as_ref().ok().map(|bytes| bytes.as_slice()));
            Arc::new(bytes.collect::<BinaryArray>())
        }
        None => Arc::new(answers.iter().map(|answer| Some(answer.is_ok())).collect::<BooleanArray>()),
    }
}

fn items(batch: &RecordBatch, names: &[&str]) -> Vec<Result<Item, String>> {
    let field = |name: &&str, row: usize| {
        let bytes = batch.column_by_name(name).and_then(|column| value(column, row));
        let bytes = bytes.map(|bytes| Zeroizing::new(bytes.to_vec()));
        bytes.ok_or_else(|| format!("the value {name:?} is missing"))
    };
    (0..batch.num_rows()).map(|row| names.iter().map(|name| field(name, row)).collect()).collect()
}
