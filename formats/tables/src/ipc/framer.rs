//! Cuts bytes into messages.

use super::{HEADER_BYTES, Limits, not_a_header, verifier};
use crate::TableError;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::{MessageHeader, root_as_message_with_opts};

/// The mark before the length of a header. Writers older than Arrow 0.15 leave it out.
const MARK: [u8; 4] = [0xff; 4];

/// Memory that is allocated for a body before any of it has arrived, at most.
const FIRST_BYTES: usize = 16 << 20;

/// A message: a header that was verified, and all of its body.
#[derive(Debug, Clone)]
pub struct Message {
    pub(super) header: Buffer,
    pub(super) body: Buffer,
}

impl Message {
    /// The bytes of memory that it takes.
    #[must_use]
    pub fn held(&self) -> usize {
        self.header.capacity() + self.body.capacity()
    }

    /// The header.
    pub(super) fn root(&self) -> Result<arrow_ipc::Message<'_>, TableError> {
        root_as_message_with_opts(&verifier(), &self.header).map_err(|error| not_a_header(&error))
    }
}

#[derive(Debug)]
enum State {
    /// The length of the next header comes.
    Prefix,
    /// A header of this length comes.
    Header(usize),
    /// A body of this length comes.
    Body(Buffer, usize),
    /// The end mark was there.
    Ended,
}

/// Cuts the bytes of a stream into messages.
///
/// # Examples
///
/// ```
/// use modmill_tables::ipc::{Framer, Limits};
///
/// let mut framer = Framer::new(Limits { body: 1 << 20, expanded: 0, dictionaries: 0 });
/// let mut end = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0][..];
/// assert!(framer.feed(&mut end)?.is_none());
/// assert!(framer.has_ended());
/// # Ok::<(), modmill_tables::TableError>(())
/// ```
#[derive(Debug)]
pub struct Framer {
    limits: Limits,
    state: State,
    /// The bytes of the part that comes.
    buffer: MutableBuffer,
}

impl Framer {
    /// A framer at the beginning of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: State::Prefix, buffer: MutableBuffer::new(0) }
    }

    /// Takes bytes from the front of `input` until a message is whole. `None` if `input` ends before that, or
    /// the stream does.
    ///
    /// # Errors
    ///
    /// A header that is wrong, a body beyond the limit, bytes after the end mark. The framer is of no use
    /// after that.
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<Message>, TableError> {
        loop {
            let length = match &self.state {
                State::Prefix if self.buffer.starts_with(&MARK) => 8,
                State::Prefix => 4,
                State::Header(length) | State::Body(_, length) => *length,
                State::Ended if input.is_empty() => return Ok(None),
                State::Ended => {
                    return Err(TableError::malformed("there are bytes after the end of the Arrow stream"));
                }
            };
            self.fill(length, input);
            if self.buffer.len() < length {
                return Ok(None);
            }
            match std::mem::replace(&mut self.state, State::Prefix) {
                State::Prefix if length == 4 && self.buffer[..] == MARK => {}
                State::Prefix => self.state = self.prefix(length)?,
                State::Header(_) => self.state = self.header()?,
                State::Body(header, _) => return Ok(Some(Message { header, body: self.take() })),
                State::Ended => self.state = State::Ended,
            }
        }
    }

    /// The bytes of memory that the part of a message that has arrived takes.
    #[must_use]
    pub fn held(&self) -> usize {
        let header = if let State::Body(header, _) = &self.state { header.len() } else { 0 };
        header + self.buffer.capacity()
    }

    /// Whether the end mark was there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Whether the input may end here: after the end mark, or between two messages, because old writers leave
    /// the mark out.
    ///
    /// # Errors
    ///
    /// The input ends within a message.
    pub fn finish(&self) -> Result<(), TableError> {
        match &self.state {
            State::Ended => Ok(()),
            State::Prefix if self.buffer.is_empty() => Ok(()),
            _ => Err(TableError::malformed("the Arrow stream ends within a message")),
        }
    }

    /// Fills the buffer up to `length` bytes.
    fn fill(&mut self, length: usize, input: &mut &[u8]) {
        while self.buffer.len() < length && !input.is_empty() {
            if self.buffer.len() == self.buffer.capacity() {
                let capacity = (2 * self.buffer.len()).max(FIRST_BYTES).min(length);
                let mut longer = MutableBuffer::new(capacity);
                longer.extend_from_slice(&self.buffer);
                self.buffer = longer;
            }
            let room = self.buffer.capacity().min(length) - self.buffer.len();
            let (taken, rest) = input.split_at(room.min(input.len()));
            self.buffer.extend_from_slice(taken);
            *input = rest;
        }
    }

    fn take(&mut self) -> Buffer {
        std::mem::replace(&mut self.buffer, MutableBuffer::new(0)).into()
    }

    fn prefix(&mut self, length: usize) -> Result<State, TableError> {
        let prefix = self.take();
        let length: [u8; 4] = prefix[length - 4..].try_into().unwrap_or_default();
        match usize::try_from(i32::from_le_bytes(length)) {
            Ok(0) => Ok(State::Ended),
            Ok(length) if length <= HEADER_BYTES => Ok(State::Header(length)),
            Ok(length) => Err(TableError::TooLong(format!(
                "a message of Arrow has a header of {length} bytes; at most {HEADER_BYTES} are taken"
            ))),
            Err(_) => Err(TableError::malformed("not Arrow IPC: the length of a header is negative")),
        }
    }

    fn header(&mut self) -> Result<State, TableError> {
        let header = self.take();
        let message =
            root_as_message_with_opts(&verifier(), &header).map_err(|error| not_a_header(&error))?;
        let kind = message.header_type();
        match kind {
            MessageHeader::Schema | MessageHeader::RecordBatch => {}
            MessageHeader::DictionaryBatch if self.limits.dictionaries > 0 => {}
            MessageHeader::DictionaryBatch => {
                return Err(TableError::Refused("columns with dictionaries are not taken here".to_owned()));
            }
            _ => {
                let name = kind.variant_name().unwrap_or("an unknown kind");
                return Err(TableError::Refused(format!(
                    "a message of Arrow is no record batch, but {name}"
                )));
            }
        }
        let length = message.bodyLength();
        match u64::try_from(length) {
            Ok(wanted) if wanted > self.limits.body => Err(TableError::TooLong(format!(
                "a message of Arrow has {wanted} bytes; at most {} are taken",
                self.limits.body
            ))),
            _ => match usize::try_from(length) {
                Ok(length) => Ok(State::Body(header, length)),
                Err(_) => Err(TableError::malformed("the length of an Arrow message is negative")),
            },
        }
    }
}
