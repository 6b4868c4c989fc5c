//! Lines of bounded length, read in a buffer in which they are zeroized after use.

use std::io::{self, Read};
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

/// The first length of the buffer.
const BUFFER_BYTES: usize = 1 << 18;

/// The most bytes of a line that does not begin as a JSON object does.
const MAX_OTHER_BYTES: usize = 1 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) struct LineReader<R> {
    input: R,
    /// The most bytes of a line, its line break included. The buffer does not grow beyond it.
    limit: usize,
    buffer: Zeroizing<Vec<u8>>,
    /// The bytes of the buffer that were read and not yet returned.
    unread: Range<usize>,
    /// The bytes of the buffer that were returned and zeroized.
    consumed: usize,
    /// Whether the next line is the first.
    is_at_start: bool,
    has_ended: bool,
}

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The bytes that the line takes in the input, its line break included.
    pub(super) bytes: usize,
    pub(super) content: Content<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    /// A line without its line break. `is_cut` says that the input ended without one.
    Text { text: &'a [u8], is_cut: bool },
    /// A line that has more bytes than the limit; it was passed over.
    TooLong,
    /// A long line that does not begin with `{`; it was passed over.
    NotAnObject,
}

impl<R: Read> LineReader<R> {
    /// A reader of lines of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        let buffer = Zeroizing::new(vec![0; BUFFER_BYTES]);
        Self { input, limit, buffer, unread: 0..0, consumed: 0, is_at_start: true, has_ended: false }
    }

    /// The next line, or `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        // The lines before this one may have held secrets.
        self.buffer[self.consumed..self.unread.start].zeroize();
        self.consumed = self.unread.start;
        // The first bytes of the line, in which there is no line break.
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.unread.start + searched..self.unread.end];
            let line_break = rest.iter().position(|&byte| byte == b'\n');
            let length = line_break.map_or(self.unread.len(), |at| searched + at);
            let text = &self.buffer[self.unread.start..][..length];
            if length >= self.limit {
                let bytes = self.skip_line()?;
                return Ok(Some(Line { bytes, content: Content::TooLong }));
            }
            if length > MAX_OTHER_BYTES && !may_be_object(self.without_mark(text)) {
                let bytes = self.skip_line()?;
                return Ok(Some(Line { bytes, content: Content::NotAnObject }));
            }
            if line_break.is_some() || (self.has_ended && length > 0) {
                let bytes = length + usize::from(line_break.is_some());
                return Ok(Some(self.take_line(length, bytes)));
            }
            if self.has_ended {
                return Ok(None);
            }
            searched = length;
            self.fill()?;
        }
    }

    /// Takes a line of `length` bytes that uses `bytes` bytes of the input.
    fn take_line(&mut self, length: usize, bytes: usize) -> Line<'_> {
        let start = self.unread.start;
        let text = self.without_mark(&self.buffer[start..start + length]).len();
        self.unread.start += bytes;
        self.is_at_start = false;
        let text = &self.buffer[start + length - text..start + length];
        Line { bytes, content: Content::Text { text, is_cut: length == bytes } }
    }

    /// A line without the byte order mark that the input may begin with.
    fn without_mark<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.is_at_start).unwrap_or(line)
    }

    /// Passes over a line and frees the memory that it took. Returns the length of the line with its line break.
    fn skip_line(&mut self) -> io::Result<usize> {
        self.is_at_start = false;
        let mut bytes = 0;
        loop {
            let rest = &self.buffer[self.unread.clone()];
            if let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
                self.unread.start += at + 1;
                return Ok(bytes + at + 1);
            }
            bytes += rest.len();
            self.unread = 0..0;
            self.consumed = 0;
            if self.buffer.len() > BUFFER_BYTES {
                self.buffer = Zeroizing::new(vec![0; BUFFER_BYTES]);
            } else {
                self.buffer[..].zeroize();
            }
            if self.has_ended {
                return Ok(bytes);
            }
            self.fill()?;
        }
    }

    /// Reads more bytes behind the unread ones.
    fn fill(&mut self) -> io::Result<()> {
        if self.unread.end == self.buffer.len() {
            let length = self.unread.len();
            if self.unread.start > 0 {
                self.buffer.copy_within(self.unread.clone(), 0);
                self.buffer[length..].zeroize();
            } else {
                let mut larger = Zeroizing::new(vec![0; (2 * length).min(self.limit)]);
                larger[..length].copy_from_slice(&self.buffer);
                self.buffer = larger;
            }
            self.unread = 0..length;
            self.consumed = 0;
        }
        loop {
            match self.input.read(&mut self.buffer[self.unread.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.unread.end += read;
                    self.has_ended = read == 0;
                    return Ok(());
                }
            }
        }
    }
}

/// Whether a line begins as an object does, or may yet.
pub(super) fn may_be_object(line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|&first| first == b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most `1` bytes at a time.
    struct Slow<R>(R, usize);

    impl<R: Read> Read for Slow<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn text(text: &str, is_cut: bool) -> Content<'_> {
        Content::Text { text: text.as_bytes(), is_cut }
    }

    #[test]
    fn lines_end_at_line_breaks_and_at_the_end() {
        for step in [1, 2, 3, 100] {
            let mut reader = LineReader::new(Slow(&b"\xef\xbb\xbfone\n\n three\r\ncut"[..], step), 100);
            for (bytes, content) in [
                (7, text("one", false)),
                (1, text("", false)),
                (8, text(" three\r", false)),
                (3, text("cut", true)),
            ] {
                assert_eq!(reader.next_line().unwrap(), Some(Line { bytes, content }));
            }
            assert_eq!(reader.next_line().unwrap(), None);
        }
    }

    #[test]
    fn lines_longer_than_the_buffer_are_read_whole() {
        let long = format!("{{{}", "x".repeat(3 * BUFFER_BYTES));
        let input = format!("short\n{long}\nshort\n");
        let mut reader = LineReader::new(Slow(input.as_bytes(), 1000), usize::MAX);
        for line in ["short", &long, "short"] {
            assert_eq!(reader.next_line().unwrap().unwrap().content, text(line, false));
        }
    }

    #[test]
    fn lines_beyond_the_limit_are_passed_over_without_their_memory() {
        let long = "x".repeat(1 << 20);
        let input = format!("{{1}}\n{{{long}\n{{2}}\n{long}\n\u{feff}{{{long}");
        let mut reader = LineReader::new(Slow(input.as_bytes(), 10_000), 500_000);
        for (bytes, content) in [
            (4, text("{1}", false)),
            ((1 << 20) + 2, Content::TooLong),
            (4, text("{2}", false)),
            ((1 << 20) + 1, Content::NotAnObject),
            // A mark that does not begin the input is no mark.
            ((1 << 20) + 4, Content::NotAnObject),
        ] {
            assert_eq!(reader.next_line().unwrap(), Some(Line { bytes, content }));
        }
        assert_eq!(reader.next_line().unwrap(), None);
        assert_eq!(reader.buffer.len(), BUFFER_BYTES);
    }

    #[test]
    fn lines_that_were_used_are_zeroized() {
        // Lines that are moved to the front of the buffer, and lines that outgrow it.
        let lines: Vec<String> = (1..200).map(|index| format!("{{{}", "s".repeat(97 * index))).collect();
        let long = format!("{{{}", "s".repeat(2 * BUFFER_BYTES));
        let input = format!("{}\n{long}\n{long}\nend\n", lines.join("\n"));
        let mut reader = LineReader::new(Slow(input.as_bytes(), 60_000), 3 * BUFFER_BYTES);
        loop {
            let line = reader.next_line().unwrap().unwrap();
            if line.content == text("end", false) {
                break;
            }
            assert!(matches!(line.content, Content::Text { .. }));
            let used = reader.unread.start;
            assert!(reader.buffer[reader.unread.end..].iter().all(|&byte| byte == 0));
            assert!(reader.buffer[..used].starts_with(&vec![0; reader.consumed]));
        }
        assert!(reader.next_line().unwrap().is_none());
        assert!(reader.buffer.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn the_limit_counts_the_line_break() {
        for (limit, is_too_long) in [(2999, true), (3000, false)] {
            let input = format!("{{{}\n{{}}", "x".repeat(2998));
            let mut reader = LineReader::new(Slow(input.as_bytes(), 7), limit);
            let line = reader.next_line().unwrap().unwrap();
            assert_eq!((line.bytes, line.content == Content::TooLong), (3000, is_too_long));
            assert_eq!(reader.next_line().unwrap().unwrap().content, text("{}", true));
        }
    }
}
