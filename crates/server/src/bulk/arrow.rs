//! Digests and signatures as Arrow IPC streams.

use super::frame::{Event, Frames, Status};
use super::pipeline::{Job, Part, Stop, answers};
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray, RecordBatch};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use axum::body::{Body, BodyDataStream};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The longest record batch that is taken.
const MAX_BATCH: usize = 64 << 20;

fn wrong(text: impl Into<String>) -> Stop {
    Stop { status: Status::Request, text: text.into() }
}

fn failed(error: &ArrowError) -> Stop {
    Stop { status: Status::Failed, text: error.to_string() }
}

/// The digests of a batch side by side, each of `length` bytes.
fn digests(batch: &RecordBatch, length: usize) -> Result<Bytes, Stop> {
    let column = batch.column_by_name("digest").ok_or_else(|| wrong("there is no column `digest`"))?;
    if column.null_count() > 0 {
        return Err(wrong("a digest is null"));
    }
    let any = column.as_any();
    // A column without memory of its own may have any number of rows.
    if column.data_type() == &DataType::Null || column.len().saturating_mul(length) > MAX_BATCH {
        return Err(wrong("a record batch is too long, or its digests are null"));
    }
    let mut joined = BytesMut::with_capacity(column.len() * length);
    let mut add = |digest: Option<&[u8]>| {
        let digest = digest.unwrap_or_default();
        if digest.len() != length {
            return Err(wrong(format!("a digest has {} bytes instead of {length}", digest.len())));
        }
        joined.extend_from_slice(digest);
        Ok(())
    };
    if let Some(column) = any.downcast_ref::<FixedSizeBinaryArray>() {
        column.iter().try_for_each(&mut add)?;
    } else if let Some(column) = any.downcast_ref::<BinaryArray>() {
        column.iter().try_for_each(&mut add)?;
    } else if let Some(column) = any.downcast_ref::<LargeBinaryArray>() {
        column.iter().try_for_each(&mut add)?;
    } else {
        return Err(wrong(format!("the column `digest` is {} and not binary", column.data_type())));
    }
    Ok(joined.freeze())
}

/// Reads the digests of a body.
struct Reader {
    body: BodyDataStream,
    decoder: StreamDecoder,
    /// Bytes of the body that were not decoded yet.
    input: Buffer,
    /// Bytes that were decoded since the last batch was complete.
    pending: usize,
    /// Digests that were not handed on yet.
    ready: Bytes,
    /// The length of a digest.
    length: usize,
    /// The length of a full chunk in bytes.
    full: usize,
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Bytes>, Stop> {
        loop {
            if !self.ready.is_empty() {
                return Ok(Some(self.ready.split_to(self.full.min(self.ready.len()))));
            }
            if self.input.is_empty() {
                match self.body.next().await {
                    Some(Ok(bytes)) => self.input = Buffer::from(bytes),
                    Some(Err(error)) => return Err(wrong(format!("the request was cut off: {error}"))),
                    None => {
                        self.decoder.finish().map_err(|error| wrong(error.to_string()))?;
                        return Ok(None);
                    }
                }
            }
            let before = self.input.len();
            let batch = self.decoder.decode(&mut self.input).map_err(|error| wrong(error.to_string()))?;
            self.pending += before - self.input.len();
            if let Some(batch) = batch {
                self.ready = digests(&batch, self.length)?;
                self.pending = 0;
            } else if self.pending > MAX_BATCH {
                return Err(wrong(format!("a record batch is longer than {MAX_BATCH} bytes")));
            } else if self.input.len() == before {
                return Err(wrong("there are bytes after the end of the Arrow stream"));
            }
        }
    }
}

/// Writes frames as Arrow.
struct Writer {
    schema: Arc<Schema>,
    writer: StreamWriter<Vec<u8>>,
    length: usize,
}

impl Writer {
    fn new(length: usize) -> Result<Self, Stop> {
        let size = i32::try_from(length).map_err(|error| wrong(error.to_string()))?;
        let schema =
            Arc::new(Schema::new(vec![Field::new("signature", DataType::FixedSizeBinary(size), true)]));
        let writer = StreamWriter::try_new(Vec::new(), &schema).map_err(|error| failed(&error))?;
        Ok(Self { schema, writer, length })
    }

    /// The bytes for one frame of answers.
    fn batch(&mut self, frame: &[u8]) -> Result<Bytes, Stop> {
        let mut frames = Frames::new(self.length);
        frames.push(frame);
        let Ok(Some(Event::Answers { flags, signatures })) = frames.next_event() else {
            return Err(Stop { status: Status::Failed, text: "there is no answer".into() });
        };
        let signed = NullBuffer::from_iter(flags.iter().map(|flag| *flag == 0));
        let size = i32::try_from(self.length).map_err(|error| wrong(error.to_string()))?;
        let column = FixedSizeBinaryArray::try_new(size, Buffer::from(signatures), Some(signed));
        let column: ArrayRef = Arc::new(column.map_err(|error| failed(&error))?);
        let batch =
            RecordBatch::try_new(Arc::clone(&self.schema), vec![column]).map_err(|error| failed(&error))?;
        self.writer.write(&batch).map_err(|error| failed(&error))?;
        Ok(std::mem::take(self.writer.get_mut()).into())
    }

    /// The end mark.
    fn end(mut self) -> Result<Bytes, Stop> {
        self.writer.finish().map_err(|error| failed(&error))?;
        Ok(std::mem::take(self.writer.get_mut()).into())
    }
}

/// Signs the digests of an Arrow stream.
pub(super) async fn run(job: Job, body: Body, sender: mpsc::Sender<Part>) {
    if let Err(stop) = convert(job, body, &sender).await {
        // There is no place for a reason in Arrow: the answer is cut off.
        let _ = sender.send(Err(std::io::Error::other(stop.text))).await;
    }
}

async fn convert(job: Job, body: Body, sender: &mpsc::Sender<Part>) -> Result<(), Stop> {
    let length = job.scheme.hash().len();
    let reader = Reader {
        body: body.into_data_stream(),
        decoder: StreamDecoder::new(),
        input: Buffer::default(),
        pending: 0,
        ready: Bytes::new(),
        length,
        full: job.chunk() * length,
    };
    let mut writer = Writer::new(job.length)?;
    let chunks = stream::unfold(Some(reader), async |reader| {
        let mut reader = reader?;
        match reader.next().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(reader))),
            Ok(None) => None,
            Err(stop) => Some((Err(stop), None)),
        }
    });
    let mut frames = Box::pin(answers(job, chunks));
    while let Some(frame) = frames.next().await {
        let part = writer.batch(&frame?)?;
        if sender.send(Ok(part)).await.is_err() {
            return Ok(());
        }
    }
    let _ = sender.send(Ok(writer.end()?)).await;
    Ok(())
}
