//! The frames of an answer.

use bytes::{Buf, Bytes, BytesMut};

/// Bytes before the flags of a frame.
const HEAD: usize = 4;
/// Bytes before the text of the last frame.
const END: usize = 7;
/// The largest count that a reader takes.
const MAX_COUNT: usize = 1 << 24;

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Every digest was answered.
    Complete,
    /// The request is wrong from here on: it ends within a digest, or was cut off.
    Request,
    /// The service is busy. The digests without an answer may be sent again.
    Busy,
    /// The service is shutting down. The digests without an answer may be sent again.
    Draining,
    /// The service failed.
    Failed,
}

impl Status {
    const ALL: [Self; 5] = [Self::Complete, Self::Request, Self::Busy, Self::Draining, Self::Failed];

    fn code(self) -> u8 {
        Self::ALL
            .iter()
            .position(|status| *status == self)
            .and_then(|place| place.try_into().ok())
            .unwrap_or(u8::MAX)
    }
}

/// The frame with `count` answers, whose signatures have `length` bytes. `None` stands for an item that could
/// not be signed.
#[must_use]
pub fn frame<'a>(count: usize, answers: impl Iterator<Item = Option<&'a [u8]>>, length: usize) -> Bytes {
    let mut frame = vec![0; HEAD + count * (1 + length)];
    let (head, rest) = frame.split_at_mut(HEAD);
    head.copy_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    let (flags, signatures) = rest.split_at_mut(count);
    for ((answer, flag), place) in answers.zip(flags).zip(signatures.chunks_exact_mut(length.max(1))) {
        match answer {
            Some(signature) if signature.len() == place.len() => place.copy_from_slice(signature),
            _ => *flag = 1,
        }
    }
    frame.into()
}

/// The last frame.
#[must_use]
pub fn end(status: Status, text: &str) -> Bytes {
    let text = text.get(..text.len().min(usize::from(u16::MAX))).unwrap_or_default();
    let mut frame = vec![0; HEAD];
    frame.push(status.code());
    frame.extend_from_slice(&u16::try_from(text.len()).unwrap_or(0).to_le_bytes());
    frame.extend_from_slice(text.as_bytes());
    frame.into()
}

/// A frame that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Answers to the next digests.
    Answers {
        /// One byte for each digest: 0 if it was signed.
        flags: Bytes,
        /// The signatures side by side.
        signatures: Bytes,
    },
    /// The last frame.
    End {
        /// How the stream ended.
        status: Status,
        /// The reason in words.
        text: String,
    },
}

/// Why bytes are not frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame claims to be longer than any that the service sends.
    #[error("a frame of {0} answers is too long")]
    TooLong(usize),
    /// The last frame has a status that is not known.
    #[error("the answer ends with the unknown status {0}")]
    Status(u8),
    /// There are bytes after the last frame.
    #[error("there are bytes after the end of the answer")]
    Rest,
}

/// Reads frames from bytes that come in pieces.
#[derive(Debug)]
pub struct Frames {
    length: usize,
    buffer: BytesMut,
    has_ended: bool,
}

impl Frames {
    /// A reader of signatures of `length` bytes.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self { length, buffer: BytesMut::new(), has_ended: false }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame if all its bytes are there.
    pub fn next_event(&mut self) -> Result<Option<Event>, FrameError> {
        if self.has_ended {
            return if self.buffer.is_empty() { Ok(None) } else { Err(FrameError::Rest) };
        }
        let Some(head) = self.buffer.first_chunk::<HEAD>() else { return Ok(None) };
        let count = usize::try_from(u32::from_le_bytes(*head)).unwrap_or(usize::MAX);
        if count == 0 {
            return self.last();
        }
        if count > MAX_COUNT {
            return Err(FrameError::TooLong(count));
        }
        let size = HEAD + count * (1 + self.length);
        if self.buffer.len() < size {
            self.buffer.reserve(size - self.buffer.len());
            return Ok(None);
        }
        let mut frame = self.buffer.split_to(size).freeze();
        frame.advance(HEAD);
        let flags = frame.split_to(count);
        Ok(Some(Event::Answers { flags, signatures: frame }))
    }

    fn last(&mut self) -> Result<Option<Event>, FrameError> {
        let Some([.., code, low, high]) = self.buffer.first_chunk::<END>() else { return Ok(None) };
        let status = Status::ALL.get(usize::from(*code)).copied().ok_or(FrameError::Status(*code))?;
        let size = END + usize::from(u16::from_le_bytes([*low, *high]));
        if self.buffer.len() < size {
            return Ok(None);
        }
        let frame = self.buffer.split_to(size);
        self.has_ended = true;
        let text = String::from_utf8_lossy(frame.get(END..).unwrap_or_default()).into_owned();
        Ok(Some(Event::End { status, text }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_from_any_pieces() {
        let mut bytes = vec![2, 0, 0, 0, 0, 1, b'a', b'b', b'c', 0, 0, 0];
        bytes.extend_from_slice(&end(Status::Busy, "later"));
        for piece in 1..bytes.len() {
            let mut frames = Frames::new(3);
            let mut events = Vec::new();
            for piece in bytes.chunks(piece) {
                frames.push(piece);
                while let Some(event) = frames.next_event().expect("frames") {
                    events.push(event);
                }
            }
            let flags = Bytes::from_static(&[0, 1]);
            let signatures = Bytes::from_static(b"abc\0\0\0");
            let last = Event::End { status: Status::Busy, text: "later".into() };
            assert_eq!(events, [Event::Answers { flags, signatures }, last]);
        }
    }

    #[test]
    fn wrong_frames_are_refused() {
        let read = |bytes: &[u8]| {
            let mut frames = Frames::new(3);
            frames.push(bytes);
            frames.next_event()
        };
        assert_eq!(read(&[255, 255, 255, 255]), Err(FrameError::TooLong(u32::MAX as usize)));
        assert_eq!(read(&[0, 0, 0, 0, 9, 0, 0]), Err(FrameError::Status(9)));
        let mut frames = Frames::new(3);
        frames.push(&[&end(Status::Complete, "")[..], b"x"].concat());
        assert!(frames.next_event().is_ok_and(|event| event.is_some()));
        assert_eq!(frames.next_event(), Err(FrameError::Rest));
    }
}
