//! JSON Lines in: one object a line.
//!
//! Empty lines at the end of the input are ignored, because editors and `echo` leave them. An empty line
//! before that is an error at its place: it is probably a record that went missing.

use super::block_parser::{BlockParser, EMPTY_LINE, Kept, ParsedBlock};
use super::block_pool::BlockPool;
use super::layout::Layout;
use super::line_reader::{Block, LineKind, LineReader};
use super::pace::Pace;
use super::pipeline::{Chunk, Origin, Piece, Places, Source, Stop};
use super::queue::{Receiver, queue};
use super::table::Records;
use crate::failure::{Failure, say};
use crate::io::{Input, reads_terminal};
use modmill::Engine;
use rayon::prelude::*;
use std::io::{self, Read};
use std::sync::Arc;

/// The most error records of one piece.
const MAX_MISSING: u64 = 1 << 14;

/// Reads lines on a thread of its own, and parses them on the threads of the engine.
pub(super) struct LineSource<'a> {
    layout: Layout,
    kind: LineKind,
    engine: &'a Engine,
    name: String,
    size: Option<u64>,
    /// The most bytes of a line.
    limit: usize,
    blocks: Receiver<Block>,
    pool: Arc<BlockPool>,
    /// The number of the next line.
    next_line: u64,
    /// Empty lines before it, which are errors if a further record follows.
    empty_lines: u64,
}

/// The lines of a piece.
pub(super) struct LineOrigin {
    /// From one, as editors count.
    first_line: u64,
    pub(super) kept: Kept,
}

impl Origin for LineOrigin {
    fn name(&self, record: usize) -> String {
        format!("line {}", self.first_line + record as u64)
    }
}

impl<'a> LineSource<'a> {
    pub(super) fn open(
        layout: Layout,
        kind: LineKind,
        places: &Places<'_>,
        engine: &'a Engine,
        pace: &Arc<Pace>,
    ) -> Result<Self, Failure> {
        Self::of(Input::open(places.input())?, layout, kind, places, engine, pace)
    }

    /// Reads lines between commas, whose names stand in the first line unless they are numbers.
    #[cfg(feature = "audit")]
    pub(super) fn open_rows(
        layout: Layout,
        places: &Places<'_>,
        engine: &'a Engine,
        pace: &Arc<Pace>,
    ) -> Result<Self, Failure> {
        let mut input = Input::open(places.input())?;
        let (columns, lines) = super::csv::open(&mut input, &layout)?;
        let source = Self::of(input, layout, LineKind::Row(columns), places, engine, pace)?;
        Ok(Self { next_line: 1 + lines, ..source })
    }

    fn of(
        input: Input,
        layout: Layout,
        kind: LineKind,
        places: &Places<'_>,
        engine: &'a Engine,
        pace: &Arc<Pace>,
    ) -> Result<Self, Failure> {
        if reads_terminal(places.input()) && !places.quiet {
            let fields: Vec<String> =
                layout.required.iter().map(|name| format!("{name:?}:\"...\"")).collect();
            let line = match kind {
                LineKind::Object => format!("lines {{{}}}", fields.join(",")),
                LineKind::Number => "hexadecimal numbers, one a line".to_owned(),
                #[cfg(feature = "audit")]
                LineKind::Row(_) => "fields between commas".to_owned(),
            };
            say(&format!("waiting for {line}; Ctrl-D ends the input"));
        }
        let (name, size) = (input.name.clone(), input.size);
        let limit = usize::try_from(places.max_line).unwrap_or(usize::MAX);
        let pool = Arc::new(BlockPool::new(size.is_none()));
        let blocks = read_ahead(input, kind, limit, size.is_none(), pace, pool.clone());
        let blocks = blocks.map_err(|error| Failure::file("read", &name, &error))?;
        Ok(Self { layout, kind, engine, name, size, limit, blocks, pool, next_line: 1, empty_lines: 0 })
    }

    /// Whether fields of the lines stand beside answers.
    #[cfg(feature = "files")]
    pub(super) fn keeps_any(&self) -> bool {
        self.layout.keeps_any()
    }

    /// Numbers the lines of a block, and puts the empty lines before them in their places.
    fn place(&mut self, parsed: ParsedBlock, pieces: &mut Vec<Piece<LineOrigin>>) {
        let count = parsed.records.len() as u64;
        if count > 0 {
            while self.empty_lines > 0 {
                let missing = self.empty_lines.min(MAX_MISSING);
                let first_line = self.next_line - self.empty_lines;
                let records = Records::unreadable(self.layout.names().len(), missing as usize, EMPTY_LINE);
                pieces.push(Piece { records, origin: LineOrigin { first_line, kept: Kept::default() } });
                self.empty_lines -= missing;
            }
            let origin = LineOrigin { first_line: self.next_line, kept: parsed.kept };
            pieces.push(Piece { records: parsed.records, origin });
        }
        self.empty_lines += parsed.empty_lines;
        self.next_line += count + parsed.empty_lines;
    }
}

/// Starts a thread that reads blocks of lines.
fn read_ahead(
    input: impl Read + Send + 'static,
    kind: LineKind,
    limit: usize,
    is_impatient: bool,
    pace: &Arc<Pace>,
    pool: Arc<BlockPool>,
) -> io::Result<Receiver<Block>> {
    let (sender, blocks) = queue(pace.clone(), is_impatient);
    let read = move || {
        let mut reader = LineReader::new(input, kind, limit, is_impatient, pool);
        let end = loop {
            match reader.next_block() {
                Ok(Some(block)) => {
                    let (lines, bytes) = (block.lines(), block.bytes);
                    if !sender.push(block, lines, bytes) {
                        break Ok(());
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        sender.end(end);
    };
    std::thread::Builder::new().name("reader".to_owned()).spawn(read)?;
    Ok(blocks)
}

impl Source for LineSource<'_> {
    type Origin = LineOrigin;
    const PROGRESS_UNIT: &'static str = "bytes";
    const RECORDS: &'static str = "lines";

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<LineOrigin>>, Failure> {
        loop {
            let blocks = self.blocks.take().map_err(|error| Failure::file("read", &self.name, &error))?;
            if blocks.is_empty() {
                return Ok(None);
            }
            let progress = blocks.iter().map(|block| block.bytes as u64).sum();
            let parser =
                BlockParser { layout: self.layout, kind: self.kind, limit: self.limit, pool: &self.pool };
            let parsed: Vec<ParsedBlock> = match blocks.len() {
                // One line needs no other threads.
                1 => blocks.into_iter().map(|block| parser.parse(block)).collect(),
                _ => {
                    self.engine.install(|| blocks.into_par_iter().map(|block| parser.parse(block)).collect())
                }
            };
            let mut pieces = Vec::with_capacity(parsed.len());
            parsed.into_iter().for_each(|parsed| self.place(parsed, &mut pieces));
            if !pieces.is_empty() {
                return Ok(Some(Chunk { pieces, progress }));
            }
        }
    }

    fn stop(&self) -> Stop {
        self.blocks.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{AnswerField, Notation, OtherFields};
    use super::*;

    const LAYOUT: Layout = Layout {
        required: &["a"],
        optional: &[],
        notation: Notation::Number,
        others: OtherFields::Ignore,
        answer: AnswerField::Octets("result"),
    };

    /// The names of lines, and why they have no record.
    fn read(text: &str, limit: usize, is_impatient: bool) -> Vec<(String, Result<(), String>)> {
        let engine = Engine::builder().threads(1).build().unwrap();
        let pace = Arc::new(Pace::with_limits(1, 1 << 30));
        let text = io::Cursor::new(text.to_owned());
        let pool = Arc::new(BlockPool::new(is_impatient));
        let blocks = read_ahead(text, LineKind::Object, limit, is_impatient, &pace, pool.clone()).unwrap();
        let (name, size) = (String::new(), None);
        let mut source = LineSource {
            layout: LAYOUT,
            kind: LineKind::Object,
            engine: &engine,
            name,
            size,
            limit,
            blocks,
            pool,
            next_line: 1,
            empty_lines: 0,
        };
        let mut lines = Vec::new();
        while let Some(chunk) = source.next_chunk().unwrap() {
            for Piece { records, origin } in chunk.pieces {
                let mut errors = records.errors().iter().peekable();
                lines.extend((0..records.len()).map(|record| {
                    let error = errors.next_if(|(index, _)| *index == record);
                    (origin.name(record), error.map_or(Ok(()), |(_, reason)| Err(reason.to_string())))
                }));
            }
        }
        lines
    }

    #[test]
    fn empty_lines_matter_only_before_the_end() {
        const GOOD: &str = r#"{"a":"2"}"#;
        assert_eq!(read("", 100, false), []);
        assert_eq!(read("\n \r\n\n", 100, false), []);
        assert_eq!(read(&format!("{GOOD}\n\n\n"), 100, false), [("line 1".to_owned(), Ok(()))]);
        // More empty lines than a block has.
        for many in [1, 300_000] {
            let empty = "\n".repeat(many);
            let lines = read(&format!("\n{GOOD}\n{empty}\t\n{GOOD}\n\n"), 100, false);
            let good: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].1.is_ok()).collect();
            assert_eq!((good, lines.len()), (vec![1, many + 3], many + 4));
            assert!(lines.iter().enumerate().all(|(line, found)| found.0 == format!("line {}", line + 1)));
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error_that_names_the_limit() {
        let text = format!("{{\"a\":\"{}\"}}\n{{\"a\":\"1\"}}\n", "0".repeat(1000));
        let reason = "the line has 1009 bytes; the limit is 100 (--max-line sets it)".to_owned();
        for is_impatient in [false, true] {
            let lines = read(&text, 100, is_impatient);
            assert_eq!(lines, [("line 1".into(), Err(reason.clone())), ("line 2".into(), Ok(()))]);
        }
    }
    #[test]
    fn the_limit_counts_the_line_break() {
        let text = format!("{{\"a\":\"{}\"}}\n{{\"a\":\"1\"}}\n", "1".repeat(2991));
        for is_impatient in [false, true] {
            for (limit, is_read) in [(2999, false), (3000, true)] {
                let lines = read(&text, limit, is_impatient);
                assert_eq!((lines[0].1.is_ok(), lines[1].1.is_ok()), (is_read, true));
            }
        }
    }
}
