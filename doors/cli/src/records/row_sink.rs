//! Answers as rows of Arrow's record batches: what stands beside them, a column of answers and a column of
//! errors.

use super::beside::Beside;
use super::layout::{AnswerField, ERROR, Layout, sign};
use super::pipeline::{Formatter, Sink};
use super::table::Answers;
use crate::failure::Failure;
use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, BooleanArray, Int8Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field as Column, Schema, SchemaRef};
use modmill::Engine;
use modmill_tables::{TableError, guarded};
use rayon::prelude::*;
use std::sync::Arc;

/// A file or stream of record batches, opened for writing.
pub(super) trait RowWriter: Send {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure>;

    /// Writes out what a reader may wait for.
    fn flush(&mut self) -> Result<(), Failure>;

    fn finish(&mut self) -> Result<(), Failure>;
}

/// The columns of answers: those that are kept, the answers, the errors.
pub(super) fn answer_schema(layout: &Layout, kept: Vec<Arc<Column>>) -> SchemaRef {
    let kind = match layout.answer {
        AnswerField::Octets(_) | AnswerField::Pair(_) => DataType::Binary,
        AnswerField::Sign(_) => DataType::Int8,
        AnswerField::Verdict => DataType::Boolean,
    };
    let answers = layout.answer.names().iter().map(|&name| Arc::new(Column::new(name, kind.clone(), true)));
    let error = Arc::new(Column::new(ERROR, DataType::Utf8, true));
    Arc::new(Schema::new(kept.into_iter().chain(answers).chain([error]).collect::<Vec<_>>()))
}

/// Writes a row for each record.
pub(super) struct RowSink<'a, W> {
    pub(super) formatter: RowFormatter<'a>,
    pub(super) writer: W,
}

/// Makes the rows.
#[derive(Clone)]
pub(super) struct RowFormatter<'a> {
    pub(super) layout: Layout,
    pub(super) engine: &'a Engine,
    pub(super) columns: SchemaRef,
}

impl<O: Beside> Formatter<O> for RowFormatter<'_> {
    type Formatted = Vec<RecordBatch>;

    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Vec<RecordBatch>, Failure> {
        let batch = |(origin, answers): (O, Answers)| {
            let kept = origin.into_columns(&self.layout, answers.len());
            batch(&self.layout, &self.columns, kept, &answers)
        };
        self.engine.install(|| pieces.into_par_iter().map(batch).collect())
    }
}

/// The rows of some answers.
fn batch(
    layout: &Layout,
    columns: &SchemaRef,
    kept: Vec<ArrayRef>,
    answers: &Answers,
) -> Result<RecordBatch, Failure> {
    let columns_of_answers: Vec<ArrayRef> = match layout.answer {
        AnswerField::Octets(_) => vec![Arc::new(binary_column(answers, |octets| octets)?)],
        AnswerField::Pair(_) => {
            let first = binary_column(answers, |octets| shortened(&octets[..octets.len() / 2]))?;
            let second = binary_column(answers, |octets| shortened(&octets[octets.len() / 2..]))?;
            vec![Arc::new(first), Arc::new(second)]
        }
        AnswerField::Sign(_) => {
            vec![Arc::new(answers.iter().map(|answer| answer.ok().map(sign)).collect::<Int8Array>())]
        }
        AnswerField::Verdict => {
            vec![Arc::new(answers.iter().map(|answer| Some(answer.is_ok())).collect::<BooleanArray>())]
        }
    };
    let errors: StringArray = answers.iter().map(Result::err).collect();
    let values = kept.into_iter().chain(columns_of_answers).chain([Arc::new(errors) as ArrayRef]).collect();
    RecordBatch::try_new(columns.clone(), values)
        .map_err(|error| Failure::Usage(format!("cannot write the answers: {error}")))
}

/// A number without leading zeros; zero has one byte.
fn shortened(octets: &[u8]) -> &[u8] {
    let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
    &octets[zeros.min(octets.len() - 1)..]
}

/// A column of what `part` takes of each answer.
fn binary_column(
    answers: &Answers,
    part: impl Fn(&[u8]) -> &[u8],
) -> Result<arrow_array::BinaryArray, Failure> {
    // Offsets have 31 bits.
    if i32::try_from(answers.octets_len()).is_err() {
        let reason = "cannot write the answers: they are too long for a binary column; use JSON Lines";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let mut column = BinaryBuilder::with_capacity(answers.len(), answers.octets_len());
    answers.iter().for_each(|answer| column.append_option(answer.ok().map(&part)));
    Ok(column.finish())
}

impl<'a, O: Beside, W: RowWriter> Sink<O> for RowSink<'a, W> {
    const HOLDS_ERRORS: bool = true;
    type Formatter = RowFormatter<'a>;

    fn formatter(&self) -> RowFormatter<'a> {
        self.formatter.clone()
    }

    fn write(&mut self, batches: Vec<RecordBatch>) -> Result<(), Failure> {
        // Columns that stand beside answers are as others wrote them.
        let failed = |error: TableError| Failure::Usage(format!("cannot write the answers: {error}"));
        for batch in batches {
            guarded(|| Ok(self.writer.write(&batch))).map_err(failed)??;
        }
        self.writer.flush()
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.writer.finish()
    }
}
