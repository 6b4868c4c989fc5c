//! Arrow's IPC files and streams.
//!
//! A file begins with its name, and ends with an index of its batches. A stream has neither, so that it fits a pipe.

use super::arrow_batches::ArrowBatches;
use super::layout::Layout;
use super::rows::{RowReader, RowWriter, check_columns, columns_read};
use crate::failure::Failure;
use crate::io::{Input, Output, STANDARD, writes_terminal};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{BufWriter, Read, Seek};
use std::path::Path;

/// The first bytes of a file.
const MAGIC: &[u8; 6] = b"ARROW1";

fn failed(action: &str, name: &str, error: &ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) if action == "write" => Failure::write(name, error),
        ArrowError::IoError(_, error) => Failure::file(action, name, error),
        other => Failure::Usage(format!("cannot {action} {name}: {other}")),
    }
}

/// Opens a file or a stream; `-` is a stream on standard input.
pub(super) fn open(layout: &Layout, path: &str) -> Result<RowReader, Failure> {
    let input = Input::open(path)?;
    let (name, is_impatient) = (input.name.clone(), input.size.is_none());
    let failed = |error: &ArrowError| failed("read", &name, error);
    let file = (!is_impatient && path != STANDARD).then(|| open_file(path)).transpose();
    if let Some(file) = file.map_err(|error| Failure::file("read", &name, &error))?.flatten() {
        // The first reader is for the names of the columns.
        let whole = FileReader::try_new(&file, None).map_err(|error| failed(&error))?;
        let schema = whole.schema();
        let columns = check(layout, &schema, &name)?;
        let again = || FileReader::try_new(File::open(path)?, Some(columns.clone()));
        let reader = FileReader::try_new(file, Some(columns.clone())).map_err(|error| failed(&error))?;
        let batches = ArrowBatches::new(reader, again).map_err(|error| failed(&error))?;
        return Ok(RowReader { name, schema, rows: None, batches: Box::new(batches), is_impatient });
    }
    let reader = StreamReader::try_new_buffered(input, None).map_err(|error| failed(&error))?;
    let schema = reader.schema();
    check(layout, &schema, &name)?;
    Ok(RowReader { name, schema, rows: None, batches: Box::new(reader), is_impatient })
}

fn check(layout: &Layout, schema: &SchemaRef, name: &str) -> Result<Vec<usize>, Failure> {
    check_columns(layout, schema).map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    Ok(columns_read(layout, schema))
}

/// Opens a file; `None` if it is a stream.
fn open_file(path: &str) -> std::io::Result<Option<File>> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok((start == MAGIC).then_some(file))
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
    pub(super) fn create(path: &str, columns: &SchemaRef) -> Result<Self, Failure> {
        if writes_terminal(path) {
            let reason = "binary data is not written to a terminal; name a file with --out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let is_stream = path == STANDARD
            || Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("arrows"));
        let name = if path == STANDARD { "standard output" } else { path }.to_owned();
        let output = Output::create(path)?;
        let kind = match is_stream {
            true => StreamWriter::try_new_buffered(output, columns).map(Kind::Stream),
            false => FileWriter::try_new_buffered(output, columns).map(Kind::File),
        };
        let kind = Some(kind.map_err(|error| failed("write", &name, &error))?);
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
        written.map_err(|error| failed("write", &self.name, &error))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let flushed = match &mut self.kind {
            Some(Kind::Stream(writer)) => writer.flush(),
            // Nobody reads a file before its end.
            Some(Kind::File(_)) | None => Ok(()),
        };
        flushed.map_err(|error| failed("write", &self.name, &error))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let output = match self.kind.take() {
            Some(Kind::File(writer)) => writer.into_inner(),
            Some(Kind::Stream(writer)) => writer.into_inner(),
            None => return Ok(()),
        };
        let output = output.map_err(|error| failed("write", &self.name, &error))?;
        let output = output.into_inner().map_err(|error| Failure::write(&self.name, error.error()));
        output?.finish()
    }
}
