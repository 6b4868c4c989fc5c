//! Parquet files: rows are read ahead and written behind the caller, on threads of their own.

use crate::arrow_in;
use crate::arrow_out::Column;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{RecordBatch, StructArray, cast::AsArray};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Batches that are read ahead, or that wait to be written.
const WAITING: usize = 1;

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
    batches: Mutex<Receiver<Result<RecordBatch, String>>>,
}

#[pymethods]
impl ParquetReader {
    #[new]
    fn new(path: PathBuf, batch_size: usize) -> PyResult<Self> {
        let file = File::open(&path)?;
        let unreadable = |error: ParquetError| failed("read", &path, error);
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unreadable)?;
        let schema = builder.schema().clone();
        let reader = builder.with_batch_size(batch_size).build().map_err(unreadable)?;
        let (sender, receiver) = sync_channel(WAITING);
        spawn(move || {
            // A caller that stops early leaves the receiver, and the thread ends.
            let mut batches = reader.map(|batch| batch.map_err(|error| error.to_string()));
            let _ = batches.try_for_each(|batch| sender.send(batch));
        })?;
        Ok(Self { path, schema, batches: Mutex::new(receiver) })
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
        let next = py.detach(|| self.batches.lock().unwrap_or_else(PoisonError::into_inner).recv());
        match next {
            Ok(Ok(batch)) => Ok(Some(Column::of(Arc::new(StructArray::from(batch))))),
            Ok(Err(error)) => Err(failed("read", &self.path, error)),
            // The thread has read all rows and left.
            Err(_) => Ok(None),
        }
    }
}

/// A Parquet file that is written while the caller computes the next rows. It is complete when `close` has returned.
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
    /// A file for rows with a schema. `answers` names the column whose numbers are all different: a dictionary and statistics of them
    /// would take time and serve nobody.
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
        let mut writer = writer.map_err(|error| failed("written", &path, error))?;
        let (sender, receiver) = sync_channel::<RecordBatch>(WAITING);
        let thread = spawn(move || {
            receiver.into_iter().try_for_each(|batch| writer.write(&batch))?;
            writer.close().map(|_| ())
        })?;
        Ok(Self { path, schema, running: Mutex::new(Some(Running { sender, thread })) })
    }

    /// Writes some rows: an object with `__arrow_c_array__` and the columns of the schema.
    fn write(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = arrow_in::structs(rows)?;
        let batch = RecordBatch::try_new(self.schema.clone(), rows.as_struct().columns().to_vec());
        let batch = batch.map_err(|error| failed("written", &self.path, error))?;
        let sent = py.detach(|| {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_ref().is_some_and(|running| running.sender.send(batch).is_ok())
        });
        // The thread left because it could not write, and tells why.
        if sent { Ok(()) } else { self.close(py) }
    }

    /// Writes what is left, and tells of errors.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let end = || {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
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
