//! Parquet files: binary columns of big-endian numbers in, `result` and `error` out.

use crate::failure::Failure;
use crate::jsonl::Schema;
use crate::stream::{Bar, CHUNK_TASKS, StreamOptions, Tally};
use crate::task::{self, Answer, Number, Task, Work};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, RecordBatch,
    StringArray,
};
use arrow_schema::{DataType, Field, Schema as Columns};
use modmill::Engine;
use modmill_core::limbs;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::sync::Arc;

/// Bytes of answers gathered before they are written out.
pub(crate) const ROW_GROUP_BYTES: usize = 32 << 20;

/// Answers a file. A missing value is an error of its row, except `mod` for products, where it
/// means that the product is not reduced.
pub(crate) fn run(
    options: &StreamOptions,
    schema: Schema,
    work: Work,
    engine: &Engine,
) -> Result<(), Failure> {
    let bad_input =
        |error: &dyn std::fmt::Display| Failure::Usage(format!("cannot read {}: {error}", options.input));
    let bad_output =
        |error: &dyn std::fmt::Display| Failure::Usage(format!("cannot write {}: {error}", options.output));
    let file = File::open(&options.input).map_err(|error| bad_input(&error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| bad_input(&error))?;
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
    check_columns(builder.schema(), schema).map_err(|error| bad_input(&error))?;
    let reader = builder.with_batch_size(CHUNK_TASKS).build().map_err(|error| bad_input(&error))?;

    let columns = Arc::new(Columns::new(vec![
        Field::new("result", DataType::Binary, true),
        Field::new("error", DataType::Utf8, true),
    ]));
    let file = File::create(&options.output).map_err(|error| bad_output(&error))?;
    let mut writer = ArrowWriter::try_new(file, columns.clone(), None).map_err(|error| bad_output(&error))?;

    let bar = Bar::new(rows, options.quiet, "rows");
    let mut tally = Tally::default();
    let mut first = 1;
    for batch in reader {
        let batch = batch.map_err(|error| bad_input(&error))?;
        let tasks = tasks(&batch, schema);
        let answers: Vec<Answer> = task::answer(engine, work, &tasks)
            .into_iter()
            .enumerate()
            .map(|(row, answer)| answer.map_err(|reason| format!("row {}: {reason}", first + row)))
            .collect();
        for answer in &answers {
            tally.count(answer, || options.input.clone());
        }
        let results: BinaryArray =
            answers.iter().map(|answer| answer.as_ref().ok().map(|value| be_bytes(value))).collect();
        let errors: StringArray = answers.iter().map(|answer| answer.as_ref().err()).collect();
        let batch = RecordBatch::try_new(columns.clone(), vec![Arc::new(results), Arc::new(errors)])
            .map_err(|error| bad_output(&error))?;
        writer.write(&batch).map_err(|error| bad_output(&error))?;
        if writer.in_progress_size() > ROW_GROUP_BYTES {
            writer.flush().map_err(|error| bad_output(&error))?;
        }
        first += answers.len();
        bar.advance(answers.len() as u64);
    }
    writer.close().map_err(|error| bad_output(&error))?;
    bar.finish();
    tally.finish("rows")
}

/// Names of the columns, those that may be missing last.
fn names(schema: Schema) -> ([&'static str; 3], usize) {
    match schema {
        Schema::Powm => (["base", "exp", "mod"], 3),
        Schema::Mul => (["a", "b", "mod"], 2),
    }
}

fn check_columns(found: &Columns, schema: Schema) -> Result<(), String> {
    let (names, needed) = names(schema);
    names.into_iter().enumerate().try_for_each(|(index, name)| check_binary(found, name, index < needed))
}

/// Whether a column is binary, if it is there or needed.
pub(crate) fn check_binary(found: &Columns, name: &str, needed: bool) -> Result<(), String> {
    match found.field_with_name(name) {
        Ok(field) => match field.data_type() {
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Ok(()),
            other => Err(format!("the column {name:?} is {other}; it must be binary")),
        },
        Err(_) if needed => {
            let columns: Vec<&str> = found.fields().iter().map(|field| field.name().as_str()).collect();
            Err(format!("no column {name:?} among {}", columns.join(", ")))
        }
        Err(_) => Ok(()),
    }
}

/// A binary value of any of the layouts Arrow has; `None` if it is missing.
pub(crate) fn value(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    let any = column.as_any();
    if let Some(array) = any.downcast_ref::<BinaryArray>() {
        Some(array.value(row))
    } else if let Some(array) = any.downcast_ref::<LargeBinaryArray>() {
        Some(array.value(row))
    } else if let Some(array) = any.downcast_ref::<BinaryViewArray>() {
        Some(array.value(row))
    } else {
        any.downcast_ref::<FixedSizeBinaryArray>().map(|array| array.value(row))
    }
}

fn tasks(batch: &RecordBatch, schema: Schema) -> Vec<Result<Task, String>> {
    let (names, _) = names(schema);
    let columns = names.map(|name| batch.column_by_name(name));
    let number = |index: usize, row: usize| -> Result<Option<Number>, String> {
        let bytes = columns[index].and_then(|column| value(column, row));
        bytes.map(Number::from_be_bytes).transpose().map_err(|reason| format!("{}: {reason}", names[index]))
    };
    let needed =
        |index, row| number(index, row)?.ok_or_else(|| format!("the value {:?} is missing", names[index]));
    let task = |row| {
        let modulus = match schema {
            Schema::Powm => Some(needed(2, row)?),
            Schema::Mul => number(2, row)?,
        };
        let modulus = modulus.map(Number::into_modulus).transpose();
        Ok(Task {
            a: needed(0, row)?,
            b: needed(1, row)?,
            modulus: modulus.map_err(|reason| format!("mod: {reason}"))?,
        })
    };
    (0..batch.num_rows()).map(task).collect()
}

/// Big-endian bytes without leading zeros; zero is one byte.
fn be_bytes(value: &[u64]) -> Vec<u8> {
    limbs::to_be_bytes(value, limbs::bit_length(value).div_ceil(8).max(1))
}
