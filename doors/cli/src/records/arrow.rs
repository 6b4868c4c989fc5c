//! Arrow's IPC files and streams.
//!
//! A file begins with its name, and ends with an index of its batches. A stream has neither, so that it fits
//! a pipe.

use super::arrow_batches::ArrowBatches;
use super::layout::Layout;
use super::row_sink::RowWriter;
use super::rows::{RowReader, SHARE, check_columns, columns_read};
use crate::failure::Failure;
use crate::io::{Input, Output, STANDARD, writes_terminal};
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use modmill_tables::TableError;
use modmill_tables::ipc;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;

fn failed(name: &str, error: &ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => Failure::write(name, error),
        other => Failure::Usage(format!("cannot write {name}: {other}")),
    }
}

/// Opens a file or a stream; `-` is a stream on standard input. `memory` is the memory for records.
pub(super) fn open(layout: &Layout, path: &str, memory: u64) -> Result<RowReader, Failure> {
    let mut input = Input::open(path)?;
    let (name, is_impatient) = (input.name.clone(), input.size.is_none());
    let failed = |error: TableError| Failure::Usage(format!("cannot read {name}: {error}"));
    let limits = ipc::Limits { body: u64::MAX, expanded: memory / SHARE, dictionaries: memory / SHARE };
    let columns = |schema: &SchemaRef| {
        check_columns(layout, schema).map_err(TableError::Refused)?;
        Ok::<_, TableError>(columns_read(layout, schema))
    };
    let mut start = Vec::new();
    input.by_ref().take(6).read_to_end(&mut start).map_err(|error| failed(error.into()))?;
    if ipc::File::begins(&start) && !is_impatient && path != STANDARD {
        let open = || File::open(path);
        let mut file = open().map_err(|error| failed(error.into()))?;
        let mut index = ipc::File::open(&mut file, limits).map_err(failed)?;
        let schema = index.schema();
        index.read_columns(columns(&schema).map_err(failed)?);
        let batches = ArrowBatches::new(index, file, open).map_err(failed)?;
        return Ok(RowReader { name, schema, rows: None, batches: Box::new(batches), is_impatient });
    }
    let input = std::io::Cursor::new(start).chain(input);
    let mut stream = ipc::Stream::open(input, limits).map_err(failed)?;
    let schema = stream.schema();
    stream.read_columns(columns(&schema).map_err(failed)?);
    Ok(RowReader { name, schema, rows: None, batches: Box::new(stream), is_impatient })
}

enum Kind {
    File(FileWriter<BufWriter<Output>>),
    Stream(StreamWriter<BufWriter<Output>>),
}

/// Writes a file or a stream.
pub(super) struct ArrowWriter {
    name: String,
    /// Taken when the output is finished.
    kind: Option<Kind>,
}

impl ArrowWriter {
    /// Opens a file; `-` and `*.arrows` are streams.
    pub(super) fn create(path: &str, mode: Option<u32>, columns: &SchemaRef) -> Result<Self, Failure> {
        if writes_terminal(path) {
            let reason = "binary data is not written to a terminal; name a file with --out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let is_stream = path == STANDARD
            || Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("arrows"));
        let name = if path == STANDARD { "standard output" } else { path }.to_owned();
        let output = Output::create_with(path, mode)?;
        let kind = match is_stream {
            true => StreamWriter::try_new_buffered(output, columns).map(Kind::Stream),
            false => FileWriter::try_new_buffered(output, columns).map(Kind::File),
        };
        let kind = Some(kind.map_err(|error| failed(&name, &error))?);
        Ok(Self { name, kind })
    }
}

impl RowWriter for ArrowWriter {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let written = match &mut self.kind {
            Some(Kind::File(writer)) => writer.write(batch),
            Some(Kind::Stream(writer)) => writer.write(batch),
            None => Ok(()),
        };
        written.map_err(|error| failed(&self.name, &error))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let flushed = match &mut self.kind {
            Some(Kind::Stream(writer)) => writer.flush(),
            // Nobody reads a file before its end.
            Some(Kind::File(_)) | None => Ok(()),
        };
        flushed.map_err(|error| failed(&self.name, &error))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let output = match self.kind.take() {
            Some(Kind::File(writer)) => writer.into_inner(),
            Some(Kind::Stream(writer)) => writer.into_inner(),
            None => return Ok(()),
        };
        let output = output.map_err(|error| failed(&self.name, &error))?;
        let output = output.into_inner().map_err(|error| Failure::write(&self.name, error.error()));
        output?.finish()
    }
}
