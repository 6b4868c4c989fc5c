//! The record batches of a file, by their numbers.

use super::{Decoder, Framer, HEADER_BYTES, Limits, Message, not_a_header, verifier};
use crate::TableError;
use arrow_array::RecordBatch;
use arrow_ipc::{Block, root_as_footer_with_opts};
use arrow_schema::SchemaRef;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// The name that a file begins and ends with.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 18;

/// The place of a message in a file.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    /// The bytes of the body.
    body: u64,
}

/// The index of a file. Several threads may read batches by it, each with a handle of its own on the file.
#[derive(Debug)]
pub struct File {
    limits: Limits,
    decoder: Decoder,
    batches: Vec<Place>,
}

impl File {
    /// Whether `start`, the first bytes of an input, are those of a file.
    #[must_use]
    pub fn begins(start: &[u8]) -> bool {
        start.starts_with(MAGIC)
    }

    /// Reads the index and the dictionaries.
    ///
    /// # Errors
    ///
    /// The input is no file of Arrow, or its parts lie outside of it.
    pub fn open<R: Read + Seek>(input: &mut R, limits: Limits) -> Result<Self, TableError> {
        let length = input.seek(SeekFrom::End(0))?;
        let footer = read_footer(input, length)?;
        let footer = root_as_footer_with_opts(&verifier(), &footer).map_err(|error| not_a_header(&error))?;
        let mut decoder = Decoder::new(limits);
        decoder
            .set_schema(footer.schema().ok_or_else(|| TableError::malformed("the file has no schema"))?)?;
        let place = |block: &Block| place(block, length);
        let batches = footer.recordBatches().iter().flatten().map(place).collect::<Result<_, _>>()?;
        let dictionaries: Vec<Place> =
            footer.dictionaries().iter().flatten().map(place).collect::<Result<_, _>>()?;
        let mut file = Self { limits, decoder, batches };
        for place in dictionaries {
            let message = file.message(input, place)?;
            if file.decoder.decode(&message)?.is_some() {
                return Err(TableError::malformed("a record batch stands where a dictionary is expected"));
            }
        }
        Ok(file)
    }

    /// The schema of the file.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.decoder.schema().cloned().unwrap_or_else(|| Arc::new(arrow_schema::Schema::empty()))
    }

    /// Reads only the columns at these positions of the schema.
    pub fn read_columns(&mut self, columns: Vec<usize>) {
        self.decoder.read_columns(columns);
    }

    /// The number of batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The bytes of a batch in the file; 0 if there is none with this number.
    #[must_use]
    pub fn stored_bytes(&self, index: usize) -> u64 {
        self.batches.get(index).map_or(0, |place| place.body)
    }

    /// Reads a batch without decoding it.
    ///
    /// # Errors
    ///
    /// There is no batch with this number, or it is wrong or too long.
    pub fn load<R: Read + Seek>(&self, input: &mut R, index: usize) -> Result<Loaded<'_>, TableError> {
        let place =
            self.batches.get(index).ok_or_else(|| TableError::malformed("the file has no such batch"))?;
        let message = self.message(input, *place)?;
        let bytes = self.decoder.bytes(&message)?;
        Ok(Loaded { decoder: &self.decoder, message, bytes })
    }

    fn message<R: Read + Seek>(&self, input: &mut R, place: Place) -> Result<Message, TableError> {
        input.seek(SeekFrom::Start(place.start))?;
        let mut framer = Framer::new(Limits { body: self.limits.body.min(place.body), ..self.limits });
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = match input.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            match framer.feed(&mut &buffer[..read])? {
                Some(message) => return Ok(message),
                None if read == 0 || framer.has_ended() => {
                    return Err(TableError::malformed("the file has fewer messages than its index says"));
                }
                None => {}
            }
        }
    }
}

/// A batch that was read and checked, and is not decoded yet.
#[derive(Debug)]
pub struct Loaded<'a> {
    decoder: &'a Decoder,
    message: Message,
    bytes: u64,
}

impl Loaded<'_> {
    /// The bytes that the batch takes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Decodes the batch.
    ///
    /// # Errors
    ///
    /// The batch is wrong.
    pub fn decode(self) -> Result<RecordBatch, TableError> {
        self.decoder.batch(&self.message)
    }
}

/// The footer of a file of `length` bytes.
fn read_footer<R: Read + Seek>(input: &mut R, length: u64) -> Result<Vec<u8>, TableError> {
    let cut = || TableError::malformed("the file is no Arrow file, or its end is missing");
    let mut end = [0; 10];
    let start = length.checked_sub(end.len() as u64).ok_or_else(cut)?;
    input.seek(SeekFrom::Start(start))?;
    input.read_exact(&mut end)?;
    let (size, magic) = end.split_at(4);
    let size: [u8; 4] = size.try_into().map_err(|_| cut())?;
    let size = usize::try_from(i32::from_le_bytes(size)).map_err(|_| cut())?;
    let start = start.checked_sub(size as u64).filter(|_| magic == MAGIC).ok_or_else(cut)?;
    if size > HEADER_BYTES {
        let text = format!("the index of the file has {size} bytes; at most {HEADER_BYTES} are taken");
        return Err(TableError::TooLong(text));
    }
    input.seek(SeekFrom::Start(start))?;
    let mut footer = vec![0; size];
    input.read_exact(&mut footer)?;
    Ok(footer)
}

/// The place of a message in a file of `length` bytes.
fn place(block: &Block, length: u64) -> Result<Place, TableError> {
    let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(u64::try_from);
    if let [Ok(start), Ok(header), Ok(body)] = parts
        && start.checked_add(header).and_then(|end| end.checked_add(body)).is_some_and(|end| end <= length)
    {
        return Ok(Place { start, body });
    }
    Err(TableError::malformed(format!(
        "the index of the file names {} bytes at {}, and the file has {length}",
        block.bodyLength(),
        block.offset()
    )))
}
