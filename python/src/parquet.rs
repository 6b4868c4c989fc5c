//! Parquet files: rows are read ahead and written behind the caller. Every column has threads of its own.

use crate::arrow_in;
use crate::arrow_out::Column;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{RecordBatch, StructArray, cast::AsArray};
use arrow_schema::{Schema, SchemaRef};
use modmill_core::sync::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Batches that are read ahead, or that wait to be written.
const WAITING: usize = 1;

/// Bytes and rows from which on gathered rows are written out as a row group.
const GROUP_BYTES: usize = 128 << 20;
const GROUP_ROWS: usize = 1 << 20;

fn failed(action: &str, path: &Path, error: impl Display) -> PyErr {
    PyValueError::new_err(format!("{} cannot be {action}: {error}", path.display()))
}

fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> PyResult<JoinHandle<T>> {
    let thread = thread::Builder::new().name("modmill-parquet".to_owned()).spawn(work);
    thread.map_err(|error| PyOSError::new_err(error.to_string()))
}

/// The rows of a Parquet file, some at a time. The next ones are read while the caller computes.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct ParquetReader {
    path: PathBuf,
    schema: SchemaRef,
    columns: Mutex<Vec<ColumnBatches>>,
}

/// The batches of one column, which a thread reads.
type ColumnBatches = Receiver<Result<RecordBatch, String>>;

#[pymethods]
impl ParquetReader {
    /// A reader of some columns of a file, or of all.
    #[new]
    #[pyo3(signature = (path, batch_size, columns=None))]
    fn new(path: PathBuf, batch_size: usize, columns: Option<Vec<String>>) -> PyResult<Self> {
        let unreadable = |error: ParquetError| failed("read", &path, error);
        let metadata = ArrowReaderMetadata::load(&File::open(&path)?, ArrowReaderOptions::default());
        let metadata = metadata.map_err(unreadable)?;
        let whole = metadata.schema();
        let is_read = |name: &String| columns.as_ref().is_none_or(|columns| columns.contains(name));
        let read: Vec<usize> =
            (0..whole.fields().len()).filter(|&i| is_read(whole.field(i).name())).collect();
        let fields: Vec<_> = read.iter().map(|&i| Arc::clone(&whole.fields()[i])).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, whole.metadata().clone()));
        let start = |column: &usize| {
            // Readers move in their files: each has one of its own.
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(&path)?, metadata.clone());
            let mask = ProjectionMask::roots(builder.parquet_schema(), [*column]);
            let reader = builder.with_projection(mask).with_batch_size(batch_size).build();
            read_ahead(reader.map_err(unreadable)?)
        };
        let columns = read.iter().map(start).collect::<PyResult<_>>()?;
        Ok(Self { path, schema, columns: Mutex::new(columns) })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema);
        PyCapsule::new_with_value(
            py,
            schema.map_err(|error| failed("read", &self.path, error))?,
            c"arrow_schema",
        )
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The next rows, as a column of structs.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Column>> {
        let next = py.detach(|| {
            let columns = self.columns.lock();
            columns.iter().map(|column| column.recv().ok()).collect::<Vec<_>>()
        });
        // The threads have read all rows and left.
        if next.iter().all(Option::is_none) {
            return Ok(None);
        }
        let unreadable = |error: String| failed("read", &self.path, error);
        let column = |batch: Option<Result<RecordBatch, String>>| {
            let batch = batch.unwrap_or_else(|| Err("its columns end at different rows".to_owned()))?;
            batch.columns().first().cloned().ok_or_else(|| "a column is missing".to_owned())
        };
        let columns = next.into_iter().map(column).collect::<Result<_, _>>().map_err(unreadable)?;
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let rows = rows.map_err(|error| failed("read", &self.path, error))?;
        Ok(Some(Column::of(Arc::new(StructArray::from(rows)))))
    }
}

/// Starts a thread that reads ahead.
fn read_ahead(reader: ParquetRecordBatchReader) -> PyResult<ColumnBatches> {
    let (sender, receiver) = sync_channel(WAITING);
    spawn(move || {
        // A caller that stops early leaves the receiver, and the thread ends.
        let mut batches = reader.map(|batch| batch.map_err(|error| error.to_string()));
        let _ = batches.try_for_each(|batch| sender.send(batch));
    })?;
    Ok(receiver)
}

/// A Parquet file that is written while the caller computes the next rows. It is complete when `close` has
/// returned.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct ParquetWriter {
    path: PathBuf,
    schema: SchemaRef,
    running: Mutex<Option<Running>>,
}

struct Running {
    sender: SyncSender<RecordBatch>,
    thread: JoinHandle<Result<(), ParquetError>>,
}

#[pymethods]
impl ParquetWriter {
    /// A file for rows with a schema. `answers` names the column whose numbers are all different: a
    /// dictionary and statistics of them would take time and serve nobody.
    #[new]
    fn new(path: PathBuf, schema: &Bound<'_, PyAny>, answers: String) -> PyResult<Self> {
        let schema: SchemaRef = Arc::new(arrow_in::schema(schema)?);
        let column = ColumnPath::from(answers);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_statistics_enabled(column, EnabledStatistics::None)
            .build();
        let writer = ArrowWriter::try_new(File::create(&path)?, schema.clone(), Some(properties));
        let parts = writer.and_then(ArrowWriter::into_serialized_writer);
        let (file, factory) = parts.map_err(|error| failed("written", &path, error))?;
        let mut groups = RowGroups { file, factory, columns: Vec::new(), rows: 0 };
        let (sender, receiver) = sync_channel::<RecordBatch>(WAITING);
        let thread = spawn(move || {
            receiver.into_iter().try_for_each(|batch| groups.write(&batch))?;
            groups.finish()?;
            groups.file.close().map(|_| ())
        })?;
        Ok(Self { path, schema, running: Mutex::new(Some(Running { sender, thread })) })
    }

    /// Writes some rows: an object with `__arrow_c_array__` and the columns of the schema.
    fn write(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = arrow_in::structs(rows)?;
        let batch = RecordBatch::try_new(self.schema.clone(), rows.as_struct().columns().to_vec());
        let batch = batch.map_err(|error| failed("written", &self.path, error))?;
        let sent = py.detach(|| {
            let running = self.running.lock();
            running.as_ref().is_some_and(|running| running.sender.send(batch).is_ok())
        });
        // The thread left because it could not write, and tells why.
        if sent { Ok(()) } else { self.close(py) }
    }

    /// Writes what is left, and tells of errors.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let end = || {
            let running = self.running.lock().take();
            running.map(|Running { sender, thread }| {
                drop(sender);
                thread.join()
            })
        };
        match py.detach(end) {
            Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(failed("written", &self.path, error)),
            Some(Err(_)) => Err(failed("written", &self.path, "its thread failed")),
            None => Err(PyValueError::new_err(format!("{} is closed", self.path.display()))),
        }
    }
}

/// A file that is written one row group after the other.
struct RowGroups {
    file: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns of the present group; none before its first row.
    columns: Vec<ArrowColumnWriter>,
    /// The rows of the present group.
    rows: usize,
}

impl RowGroups {
    /// Encodes and compresses some rows, every column on a thread of its own.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if self.columns.is_empty() {
            self.columns = self.factory.create_column_writers(self.file.flushed_row_groups().len())?;
        }
        let mut leaves = Vec::new();
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            leaves.extend(compute_leaves(field, array)?);
        }
        let columns = self.columns.iter_mut().zip(&leaves);
        thread::scope(|scope| {
            let write = |(column, leaf): (&'_ mut ArrowColumnWriter, _)| column.write(leaf);
            let threads: Vec<_> = columns.map(|column| scope.spawn(move || write(column))).collect();
            let broken = || ParquetError::General("a thread of a column failed".to_owned());
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| broken())?)
        })?;
        self.rows += batch.num_rows();
        let bytes: usize = self.columns.iter().map(ArrowColumnWriter::memory_size).sum();
        if bytes >= GROUP_BYTES || self.rows >= GROUP_ROWS { self.finish() } else { Ok(()) }
    }

    /// Writes the present group.
    fn finish(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in self.columns.drain(..) {
            column.close()?.append_to_row_group(&mut group)?;
        }
        group.close().map(|_| ())
    }
}
