//! The record batches of a stream.

use super::{Decoder, Framer, Limits};
use crate::TableError;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::io::{self, Read};
use std::sync::Arc;

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 18;

/// Reads the record batches of a stream.
///
/// # Examples
///
/// ```
/// use arrow_array::{Int32Array, RecordBatch};
/// use arrow_ipc::writer::StreamWriter;
/// use modmill_tables::ipc::{Limits, Stream};
/// use std::sync::Arc;
///
/// let batch = RecordBatch::try_from_iter([("a", Arc::new(Int32Array::from(vec![1, 2])) as _)])?;
/// let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
/// writer.write(&batch)?;
/// let bytes = writer.into_inner()?;
/// let limits = Limits { body: 1 << 20, expanded: 1 << 20, dictionaries: 1 << 20 };
/// let stream = Stream::open(&bytes[..], limits)?;
/// assert_eq!(stream.map(|batch| batch.unwrap()).collect::<Vec<_>>(), [batch]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<R> {
    input: R,
    /// The bytes that were read, and how many of them were taken.
    buffer: Vec<u8>,
    taken: usize,
    framer: Framer,
    decoder: Decoder,
    schema: SchemaRef,
    has_failed: bool,
}

impl<R: Read> Stream<R> {
    /// Reads the schema.
    ///
    /// # Errors
    ///
    /// The input does not begin as a stream of Arrow does.
    pub fn open(input: R, limits: Limits) -> Result<Self, TableError> {
        let mut stream = Self {
            input,
            buffer: Vec::new(),
            taken: 0,
            framer: Framer::new(limits),
            decoder: Decoder::new(limits),
            schema: Arc::new(arrow_schema::Schema::empty()),
            has_failed: false,
        };
        let Some(message) = stream.message()? else {
            return Err(TableError::malformed("the Arrow stream is empty"));
        };
        // A batch that comes first is an error.
        stream.decoder.decode(&message)?;
        stream.schema =
            stream.decoder.schema().cloned().ok_or_else(|| TableError::malformed("there is no schema"))?;
        Ok(stream)
    }

    /// The schema of the stream.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Reads only the columns at these positions of the schema.
    pub fn read_columns(&mut self, columns: Vec<usize>) {
        self.decoder.read_columns(columns);
    }

    fn message(&mut self) -> Result<Option<super::Message>, TableError> {
        loop {
            let mut rest = &self.buffer[self.taken..];
            let message = self.framer.feed(&mut rest)?;
            self.taken = self.buffer.len() - rest.len();
            if message.is_some() {
                return Ok(message);
            }
            // Bytes behind the end mark do not belong to this stream.
            if self.framer.has_ended() {
                return Ok(None);
            }
            self.buffer.resize(READ_BYTES, 0);
            let read = loop {
                match self.input.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            self.buffer.truncate(read);
            self.taken = 0;
            if read == 0 {
                return self.framer.finish().map(|()| None);
            }
        }
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        while let Some(message) = self.message()? {
            if let Some(batch) = self.decoder.decode(&message)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for Stream<R> {
    type Item = Result<RecordBatch, TableError>;

    /// The next batch. The first error is the last item.
    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let batch = self.batch();
        self.has_failed = batch.is_err();
        batch.transpose()
    }
}
