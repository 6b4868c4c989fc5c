//! Digests and signatures as Arrow IPC streams.
//!
//! Messages are looked at before they are decoded ([`modmill_tables`]), and decoded on threads that serve no
//! requests.

use super::pipeline::{Job, Part, Stop, answers};
use crate::body::Holder;
use crate::shares::Share;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, GenericBinaryArray, LargeBinaryArray,
    OffsetSizeTrait, RecordBatch,
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use axum::body::{Body, BodyDataStream};
use bytes::{Buf, Bytes};
use futures_util::{StreamExt, stream};
use modmill_client::bulk::{Event, Frames, Status};
use modmill_tables::TableError;
use modmill_tables::ipc::{Decoder, Framer, Limits, Message};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The longest record batch that is taken.
const MAX_BATCH: usize = 64 << 20;

/// The limits of a stream: nothing expands, and nothing stays beyond its batch.
const LIMITS: Limits = Limits { body: MAX_BATCH as u64, expanded: 0, dictionaries: 0 };

/// The name of the column of digests.
const DIGEST: &str = "digest";

fn wrong(text: impl Into<String>) -> Stop {
    Stop { status: Status::Request, text: text.into() }
}

fn failed(error: &ArrowError) -> Stop {
    Stop { status: Status::Failed, text: error.to_string() }
}

impl From<TableError> for Stop {
    fn from(error: TableError) -> Self {
        wrong(error.to_string())
    }
}

/// The position of the digests among the columns, of which the others are passed over.
fn position(schema: &Schema) -> Result<usize, Stop> {
    let (position, column) =
        schema.column_with_name(DIGEST).ok_or_else(|| wrong(format!("there is no column `{DIGEST}`")))?;
    match column.data_type() {
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => Ok(position),
        other => Err(wrong(format!("the column `{DIGEST}` is {other} and not binary"))),
    }
}

/// The digests of a batch side by side, each of `length` bytes, without a copy: they stand so in the batch.
fn digests(batch: &RecordBatch, length: usize) -> Result<Bytes, Stop> {
    let column = batch.column(0);
    if column.null_count() > 0 {
        return Err(wrong("a digest is null"));
    }
    let check = |found: usize| match found == length {
        true => Ok(()),
        false => Err(wrong(format!("a digest has {found} bytes instead of {length}"))),
    };
    let any = column.as_any();
    let values = if let Some(column) = any.downcast_ref::<FixedSizeBinaryArray>() {
        (0..column.len().min(1)).try_for_each(|item| check(column.value(item).len()))?;
        column.values().slice_with_length(0, column.len() * length)
    } else if let Some(column) = any.downcast_ref::<BinaryArray>() {
        side_by_side(column, check)?
    } else if let Some(column) = any.downcast_ref::<LargeBinaryArray>() {
        side_by_side(column, check)?
    } else {
        Buffer::default()
    };
    Ok(Bytes::from_owner(Octets(values)))
}

/// The memory of a batch, for [`Bytes`].
struct Octets(Buffer);

impl AsRef<[u8]> for Octets {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of all values of a column, whose lengths `check` looks at.
fn side_by_side<O: OffsetSizeTrait>(
    column: &GenericBinaryArray<O>,
    check: impl Fn(usize) -> Result<(), Stop>,
) -> Result<Buffer, Stop> {
    column.iter().try_for_each(|digest| check(digest.map_or(0, <[u8]>::len)))?;
    let offsets = column.value_offsets();
    let (start, end) = (offsets[0].as_usize(), offsets[column.len()].as_usize());
    Ok(column.values().slice_with_length(start, end - start))
}

/// The digests of a message, of which a schema has none.
fn decode(decoder: &mut Decoder, message: &Message, length: usize) -> Result<Bytes, Stop> {
    let batch = decoder.decode(message)?;
    match (batch, decoder.schema()) {
        (Some(batch), _) => digests(&batch, length),
        (None, Some(schema)) => {
            let position = position(schema)?;
            decoder.read_columns(vec![position]);
            Ok(Bytes::new())
        }
        (None, None) => Ok(Bytes::new()),
    }
}

/// Reads the digests of a body.
struct Reader {
    body: BodyDataStream,
    /// Bytes of the body that were not taken yet.
    input: Bytes,
    framer: Framer,
    /// Taken while a message is decoded.
    decoder: Option<Decoder>,
    /// Digests that were not handed on yet.
    ready: Bytes,
    /// The length of a digest.
    length: usize,
    /// The length of a full chunk in bytes.
    full: usize,
    /// The memory of the message that comes and of its digests, out of the principal's share.
    room: Share<Holder>,
    job: Job,
}

impl Reader {
    fn new(job: Job, body: Body) -> Self {
        let length = job.scheme.hash().len();
        Self {
            body: body.into_data_stream(),
            input: Bytes::new(),
            framer: Framer::new(LIMITS),
            decoder: Some(Decoder::new(LIMITS)),
            ready: Bytes::new(),
            length,
            full: job.chunk() * length,
            room: job.service.bodies.open(Holder::Principal(job.principal.name.clone())),
            job,
        }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Stop> {
        loop {
            if !self.ready.is_empty() {
                return Ok(Some(self.ready.split_to(self.full.min(self.ready.len()))));
            }
            self.room.shrink_to(self.framer.held());
            if self.input.is_empty() {
                match self.body.next().await {
                    Some(Ok(bytes)) => self.input = bytes,
                    Some(Err(error)) => return Err(wrong(format!("the request was cut off: {error}"))),
                    None => {
                        self.framer.finish()?;
                        return Ok(None);
                    }
                }
            }
            let mut rest = &self.input[..];
            let message = self.framer.feed(&mut rest)?;
            let taken = self.input.len() - rest.len();
            self.input.advance(taken);
            self.hold(self.framer.held())?;
            if let Some(message) = message {
                // The digests are a part of the message.
                self.hold(message.held())?;
                self.ready = self.decode(message).await?;
            }
        }
    }

    /// Makes room for `octets` of memory in all.
    fn hold(&mut self, octets: usize) -> Result<(), Stop> {
        match self.room.grow_to(octets) {
            true => Ok(()),
            false => {
                let text = "record batches take as much memory as they may: try again, or send shorter ones";
                Err(Stop { status: Status::Busy, text: text.to_owned() })
            }
        }
    }

    /// Decodes a message on another thread, as many at a time as there are processors.
    async fn decode(&mut self, message: Message) -> Result<Bytes, Stop> {
        let ended = |text: String| Stop { status: Status::Failed, text };
        let _turn = self.job.bulk.decoders.acquire().await.map_err(|error| ended(error.to_string()))?;
        let mut decoder = self.decoder.take().ok_or_else(|| ended("a decoder has ended".to_owned()))?;
        let length = self.length;
        let decoding = tokio::task::spawn_blocking(move || {
            let digests = decode(&mut decoder, &message, length);
            (decoder, digests)
        });
        let (decoder, digests) = decoding.await.map_err(|error| ended(error.to_string()))?;
        self.decoder = Some(decoder);
        digests
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
        // There is no place for a reason in Arrow: an answer that has begun is cut off.
        let _ = sender.send(Err(stop)).await;
    }
}

async fn convert(job: Job, body: Body, sender: &mpsc::Sender<Part>) -> Result<(), Stop> {
    let mut writer = Writer::new(job.length)?;
    let reader = Reader::new(job.clone(), body);
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
