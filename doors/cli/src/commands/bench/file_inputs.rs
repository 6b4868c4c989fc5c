//! Files of random numbers in every format.

use crate::failure::Failure;
use crate::hexadecimal;
use crate::records::Format;
use modmill::Batch;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The names of the fields of a file, and their numbers.
pub(super) type Fields<'a> = [(&'static str, &'a Batch)];

/// The formats that are measured.
#[cfg(feature = "files")]
pub(super) const FORMATS: [Format; 3] = [Format::Lines, Format::Parquet, Format::Arrow];
#[cfg(not(feature = "files"))]
pub(super) const FORMATS: [Format; 1] = [Format::Lines];

/// The name of a format, as `--format` calls it.
pub(super) fn name(format: Format) -> &'static str {
    match format {
        Format::Lines => "lines",
        Format::Hex => "hex",
        #[cfg(feature = "audit")]
        Format::Csv => "csv",
        Format::Parquet => "parquet",
        Format::Arrow => "arrow",
        Format::Folder => "folder",
        Format::File => "file",
    }
}

/// A folder of its own for a measurement, which is removed with all that is in it.
pub(super) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub(super) fn create() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("modmill-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Failure::file("make", &path.display().to_string(), &error))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Nothing can be done about a folder that cannot be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes the records of a file.
pub(super) fn write(format: Format, fields: &Fields<'_>, path: &Path) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| match format {
        #[cfg(feature = "files")]
        Format::Parquet | Format::Arrow => rows::write(format, fields, file),
        _ => write_lines(fields, BufWriter::with_capacity(1 << 20, file)),
    });
    written.map_err(|error| Failure::file("write", &path.display().to_string(), &error))
}

/// The bytes of an item, as many as its batch declares.
fn octets(batch: &Batch, item: usize) -> Vec<u8> {
    let octets: Vec<u8> = batch.get(item).iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    octets[octets.len() - batch.bits().div_ceil(8)..].to_vec()
}

fn write_lines(fields: &Fields<'_>, mut output: impl Write) -> io::Result<()> {
    let count = fields.first().map_or(0, |(_, batch)| batch.len());
    let mut line = Vec::new();
    for item in 0..count {
        line.clear();
        for (index, (name, batch)) in fields.iter().enumerate() {
            line.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(b"\":\"");
            // A short exponent has a digit of its own.
            match batch.bits() {
                ..=4 => hexadecimal::append_number(&mut line, &octets(batch, item)),
                _ => hexadecimal::append_octets(&mut line, &octets(batch, item)),
            }
            line.push(b'"');
        }
        line.extend_from_slice(b"}\n");
        output.write_all(&line)?;
    }
    output.flush()
}

#[cfg(feature = "files")]
mod rows {
    use super::{Batch, Fields, Format, octets};
    use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::ArrowError;
    use parquet::arrow::ArrowWriter;
    use std::fs::File;
    use std::io;
    use std::sync::Arc;

    /// The rows of a batch, as programs write them.
    const BATCH_ROWS: usize = 1 << 16;

    pub(super) fn write(format: Format, fields: &Fields<'_>, file: File) -> io::Result<()> {
        let count = fields.first().map_or(0, |(_, batch)| batch.len());
        let batch = |start: usize| {
            let items = start..(start + BATCH_ROWS).min(count);
            let column = |numbers: &Batch| -> ArrayRef {
                Arc::new(items.clone().map(|item| Some(octets(numbers, item))).collect::<BinaryArray>())
            };
            RecordBatch::try_from_iter(fields.iter().map(|(name, numbers)| (*name, column(numbers))))
        };
        let batches = (0..count).step_by(BATCH_ROWS).map(batch);
        match format {
            Format::Parquet => write_parquet(batches, file),
            _ => write_arrow(batches, file),
        }
        .map_err(io::Error::other)
    }

    fn write_parquet(
        mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        file: File,
    ) -> Result<(), ArrowError> {
        let Some(first) = batches.next().transpose()? else { return Ok(()) };
        let mut writer = ArrowWriter::try_new(file, first.schema(), None)?;
        writer.write(&first)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.close()?;
        Ok(())
    }

    fn write_arrow(
        mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        file: File,
    ) -> Result<(), ArrowError> {
        let Some(first) = batches.next().transpose()? else { return Ok(()) };
        let mut writer = FileWriter::try_new_buffered(file, &first.schema())?;
        writer.write(&first)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.finish()
    }
}
