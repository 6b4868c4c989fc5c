//! Blocks of whole lines, read ahead of those who parse them.

use super::block_pool::BlockPool;
#[cfg(feature = "audit")]
use super::csv::RowColumns;
use super::secret::SecretOctets;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, Read};
use std::sync::Arc;
use zeroize::Zeroize;

/// The most bytes of a line that does not begin as a JSON object does.
const MAX_OTHER_BYTES: usize = 1 << 10;

/// The content of each line of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A JSON object.
    Object,
    /// A number in hexadecimal digits.
    Number,
    /// Fields between commas.
    #[cfg(feature = "audit")]
    Row(RowColumns),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) struct LineReader<R> {
    input: R,
    kind: LineKind,
    /// The most bytes of a line, its line break included. A line beyond it is passed over.
    limit: usize,
    pool: Arc<BlockPool>,
    /// Whether lines are returned as soon as they were read, in blocks that are not full.
    is_impatient: bool,
    /// The bytes that were read and not yet returned, and room for more. The room is zero.
    buffer: SecretOctets,
    length: usize,
    /// Whether the next line is the first.
    is_at_start: bool,
    has_ended: bool,
}

/// Some lines of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The bytes that the lines take in the input, their line breaks included.
    pub(super) bytes: usize,
    pub(super) content: Content,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Whole lines with their line breaks. Some of them may be too long.
    Lines { text: SecretOctets, count: usize },
    /// The last line of an input that ends without a line break.
    Cut(SecretOctets),
    /// A line that has more bytes than the limit; it was passed over.
    TooLong,
    /// A long line that does not begin with `{`; it was passed over.
    NotAnObject,
}

impl Block {
    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        match self.content {
            Content::Lines { count, .. } => count,
            Content::Cut(_) | Content::TooLong | Content::NotAnObject => 1,
        }
    }
}

impl<R: Read> LineReader<R> {
    /// A reader of lines of at most `limit` bytes. Whoever writes to a pipe may wait for answers before
    /// writing on: then `is_impatient`.
    pub(super) fn new(
        input: R,
        kind: LineKind,
        limit: usize,
        is_impatient: bool,
        pool: Arc<BlockPool>,
    ) -> Self {
        Self {
            input,
            kind,
            limit,
            is_impatient,
            buffer: pool.take(pool.block_bytes()),
            pool,
            length: 0,
            is_at_start: true,
            has_ended: false,
        }
    }

    /// The next lines, or `None` at the end.
    pub(super) fn next_block(&mut self) -> io::Result<Option<Block>> {
        // The first bytes of the buffer, in which there is no line break.
        let mut searched = 0;
        let mut line_break = None;
        // The blanks that the line begins with.
        let mut blanks = 0;
        loop {
            let found = memrchr(b'\n', &self.buffer[searched..self.length]).map(|at| searched + at);
            line_break = found.or(line_break);
            searched = self.length;
            if let Some(line_break) = line_break {
                if self.has_ended || self.is_impatient || self.length == self.buffer.len() {
                    return Ok(Some(self.take_lines(line_break + 1)));
                }
            } else if self.length >= self.limit {
                return Ok(Some(Block { bytes: self.skip_line()?, content: Content::TooLong }));
            } else if self.length > MAX_OTHER_BYTES && !self.goes_on_as_object(&mut blanks) {
                return Ok(Some(Block { bytes: self.skip_line()?, content: Content::NotAnObject }));
            } else if self.has_ended {
                return Ok((self.length > 0).then(|| self.take_cut_line()));
            } else if self.length == self.buffer.len() {
                let longer = (2 * self.length).min(self.limit);
                self.replace_buffer(0, longer);
            }
            self.fill()?;
        }
    }

    /// Whether the line begins as an object does, or may yet, or need not. Its first `blanks` bytes were
    /// looked at before, and are not again.
    fn goes_on_as_object(&self, blanks: &mut usize) -> bool {
        let line = self.without_mark();
        *blanks += line[*blanks..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.kind != LineKind::Object || may_be_object(&line[*blanks..])
    }

    /// Takes the first `length` bytes of the buffer, which end with a line break.
    fn take_lines(&mut self, length: usize) -> Block {
        let mark = self.length - self.without_mark().len();
        self.is_at_start = false;
        let mut text = self.replace_buffer(length, self.pool.block_bytes());
        text.drain(..mark);
        let count = memchr_iter(b'\n', &text).count();
        Block { bytes: length, content: Content::Lines { text, count } }
    }

    /// Takes all that is left.
    fn take_cut_line(&mut self) -> Block {
        let (bytes, mark) = (self.length, self.length - self.without_mark().len());
        let mut text = self.replace_buffer(bytes, 0);
        text.drain(..mark);
        Block { bytes, content: Content::Cut(text) }
    }

    /// Goes on with a buffer of `length` bytes or more that begins with the bytes from `start` on. Returns
    /// the bytes before them.
    fn replace_buffer(&mut self, start: usize, length: usize) -> SecretOctets {
        let kept = self.length - start;
        // A line that has outgrown a block needs a longer one.
        let mut next = self.pool.take(length.max(kept + 1));
        next[..kept].copy_from_slice(&self.buffer[start..self.length]);
        self.length = kept;
        let mut before = std::mem::replace(&mut self.buffer, next);
        before.truncate(start);
        before
    }

    /// The bytes of the buffer, without the byte order mark that the input may begin with.
    fn without_mark(&self) -> &[u8] {
        let bytes = &self.buffer[..self.length];
        bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.is_at_start).unwrap_or(bytes)
    }

    /// Passes over a line and frees the memory that it took. Returns the length of the line with its line
    /// break.
    fn skip_line(&mut self) -> io::Result<usize> {
        self.is_at_start = false;
        let mut bytes = 0;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[..self.length]) {
                drop(self.replace_buffer(at + 1, self.pool.block_bytes()));
                return Ok(bytes + at + 1);
            }
            bytes += self.length;
            if self.buffer.len() > self.pool.block_bytes() {
                self.buffer = self.pool.take(self.pool.block_bytes());
            } else {
                self.buffer[..self.length].zeroize();
            }
            self.length = 0;
            if self.has_ended {
                return Ok(bytes);
            }
            self.fill()?;
        }
    }

    /// Reads more bytes behind those that there are.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.input.read(&mut self.buffer[self.length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.length += read;
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
    use super::super::block_pool::FILE_BLOCK_BYTES;
    use super::*;

    /// Gives at most `1` bytes at a time.
    struct Slow<R>(R, usize);

    impl<R: Read> Read for Slow<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn reader(input: &[u8], step: usize, limit: usize, is_impatient: bool) -> LineReader<Slow<&[u8]>> {
        let pool = Arc::new(BlockPool::new(is_impatient));
        LineReader::new(Slow(input, step), LineKind::Object, limit, is_impatient, pool)
    }

    /// All blocks, with the lines of neighbouring blocks put together.
    fn read(mut reader: LineReader<impl Read>) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        while let Some(block) = reader.next_block().unwrap() {
            match (blocks.last_mut(), &block.content) {
                (
                    Some(Block { bytes, content: Content::Lines { text, count } }),
                    Content::Lines { text: more, count: further },
                ) => {
                    text.extend_from_slice(more);
                    *count += further;
                    *bytes += block.bytes;
                }
                _ => blocks.push(block),
            }
        }
        blocks
    }

    fn lines(text: &str) -> Content {
        Content::Lines { text: text.as_bytes().to_vec().into(), count: text.matches('\n').count() }
    }

    fn block(bytes: usize, content: Content) -> Block {
        Block { bytes, content }
    }

    #[test]
    fn lines_end_at_line_breaks_and_at_the_end() {
        for (step, is_impatient) in [1, 2, 3, 100].into_iter().flat_map(|step| [(step, false), (step, true)])
        {
            let found = read(reader(b"\xef\xbb\xbfone\n\n three\r\ncut", step, 100, is_impatient));
            let cut = Content::Cut(b"cut".to_vec().into());
            assert_eq!(found, [block(16, lines("one\n\n three\r\n")), block(3, cut)]);
        }
        assert_eq!(read(reader(b"", 1, 100, false)), []);
    }

    #[test]
    fn an_impatient_reader_returns_what_was_read() {
        let mut reader = reader(b"{1}\n{2}\n{3}\n", 6, 100, true);
        assert_eq!(reader.next_block().unwrap(), Some(block(4, lines("{1}\n"))));
        assert_eq!(reader.next_block().unwrap(), Some(block(8, lines("{2}\n{3}\n"))));
        assert_eq!(reader.next_block().unwrap(), None);
    }

    #[test]
    fn lines_longer_than_a_block_are_read_whole() {
        let long = format!("{{{}", "x".repeat(3 * FILE_BLOCK_BYTES));
        let input = format!("short\n{long}\nshort\n");
        for is_impatient in [false, true] {
            let found = read(reader(input.as_bytes(), 1000, usize::MAX, is_impatient));
            assert_eq!(found, [block(input.len(), lines(&input))]);
        }
    }

    #[test]
    fn lines_beyond_the_limit_are_passed_over_without_their_memory() {
        let long = "x".repeat(1 << 20);
        let input = format!("{{1}}\n{{{long}\n{{2}}\n{long}\n\u{feff}{{{long}");
        let mut reader = reader(input.as_bytes(), 10_000, 500_000, false);
        for expected in [
            block(4, lines("{1}\n")),
            block((1 << 20) + 2, Content::TooLong),
            block(4, lines("{2}\n")),
            block((1 << 20) + 1, Content::NotAnObject),
            // A mark that does not begin the input is no mark.
            block((1 << 20) + 4, Content::NotAnObject),
        ] {
            assert_eq!(reader.next_block().unwrap(), Some(expected));
            assert!(reader.buffer.len() <= 500_000);
        }
        assert_eq!(reader.next_block().unwrap(), None);
    }

    #[test]
    fn only_lines_that_were_not_returned_are_in_the_buffer() {
        // Lines that are moved to the next block, and lines that outgrow a block.
        let lines: Vec<String> = (1..200).map(|index| format!("{{{}", "s".repeat(97 * index))).collect();
        let long = format!("{{{}", "s".repeat(2 * FILE_BLOCK_BYTES));
        let input = format!("{}\n{long}\n{long}\n", lines.join("\n"));
        let mut reader = reader(input.as_bytes(), 60_000, 3 * FILE_BLOCK_BYTES, false);
        while let Some(block) = reader.next_block().unwrap() {
            let Content::Lines { text, .. } = block.content else { panic!("{block:?}") };
            assert!(reader.buffer[reader.length..].iter().all(|&byte| byte == 0));
            reader.pool.put(text);
        }
        assert_eq!(reader.length, 0);
    }

    /// Blanks take no longer than other bytes, which are looked at once.
    #[test]
    fn a_line_of_blanks_is_read_in_linear_time() {
        let time = |first: &[u8]| {
            let line = [first, &vec![b' '; 4 << 20]].concat();
            let start = std::time::Instant::now();
            let found = read(reader(&line, 1000, usize::MAX, false));
            assert_eq!(found.iter().map(|block| block.bytes).sum::<usize>(), line.len());
            start.elapsed()
        };
        // Quadratic time would be 4000 looks at two megabytes.
        let (object, blanks) = (time(b"{"), time(b""));
        assert!(blanks < 10 * object + std::time::Duration::from_millis(500), "{blanks:?} beside {object:?}");
    }
}
