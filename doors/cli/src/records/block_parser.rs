//! Blocks of lines to records.

use super::block_pool::BlockPool;
use super::layout::Layout;
use super::line_parser;
use super::line_reader::{Block, Content, LineKind};
use super::plain_line;
use super::secret::SecretOctets;
use super::table::Records;
use memchr::memchr;

/// Why an empty line that is not at the end of the input has no record.
pub(super) const EMPTY_LINE: &str = "an empty line is only allowed at the end";

/// The fields that stand beside answers, as JSON text: each with a comma before it.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) text: SecretOctets,
    /// The end of each record's text; none if no fields are kept.
    ends: Vec<usize>,
}

impl Kept {
    /// The fields of each record.
    #[cfg(feature = "files")]
    pub(super) fn from_records(records: impl Iterator<Item = String>) -> Self {
        let mut kept = Self::default();
        for record in records {
            kept.text.extend_from_slice(record.as_bytes());
            kept.ends.push(kept.text.len());
        }
        kept
    }

    fn end_record(&mut self, layout: &Layout) {
        if layout.keeps_any() {
            self.ends.push(self.text.len());
        }
    }

    pub(super) fn get(&self, record: usize) -> &[u8] {
        let end = |record: usize| self.ends.get(record).copied().unwrap_or(0);
        let start = record.checked_sub(1).map_or(0, end);
        &self.text[start..end(record).max(start)]
    }
}

/// The records of a block.
pub(super) struct ParsedBlock {
    pub(super) records: Records,
    pub(super) kept: Kept,
    /// Empty lines at the end of the block, which have no records.
    pub(super) empty_lines: u64,
}

/// Parses blocks of lines.
pub(super) struct BlockParser<'a> {
    pub(super) layout: Layout,
    pub(super) kind: LineKind,
    /// The most bytes of a line.
    pub(super) limit: usize,
    pub(super) pool: &'a BlockPool,
}

impl BlockParser<'_> {
    pub(super) fn parse(&self, block: Block) -> ParsedBlock {
        let fields = self.layout.names().len();
        let nothing = |records| ParsedBlock { records, kept: Kept::default(), empty_lines: 0 };
        match block.content {
            Content::Lines { text, count } => {
                let parsed = self.parse_text(&text, count, false);
                self.pool.put(text);
                parsed
            }
            Content::Cut(text) => self.parse_text(&text, 1, true),
            Content::NotAnObject => nothing(Records::unreadable(fields, 1, "not a JSON object")),
            Content::TooLong => {
                let mut records = Records::with_room(fields, 0, 1);
                records.push_error(self.too_long(block.bytes).into());
                nothing(records)
            }
        }
    }

    fn too_long(&self, bytes: usize) -> String {
        format!("the line has {bytes} bytes; the limit is {} (--max-line sets it)", self.limit)
    }

    /// Parses `count` lines. `is_cut` says that the last one has no line break.
    fn parse_text(&self, text: &[u8], count: usize, is_cut: bool) -> ParsedBlock {
        let layout = &self.layout;
        // Two digits are a byte, and an odd digit has quotation marks or a line break beside it, or the end
        // of the input. No kept field is longer than in the text, but for a comma. So this memory never grows
        // and leaves no copy behind.
        let mut records = Records::with_room(layout.names().len(), text.len().div_ceil(2), count);
        let kept_room = if layout.keeps_any() { text.len() + count } else { 0 };
        let mut kept = Kept { text: SecretOctets::with_capacity(kept_room), ends: Vec::new() };
        let (mut rest, mut empty_lines) = (text, 0);
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let bytes = rest.len().min(end + 1);
            let line = &rest[..end];
            rest = &rest[bytes..];
            if line.trim_ascii().is_empty() {
                empty_lines += 1;
                continue;
            }
            for _ in 0..std::mem::take(&mut empty_lines) {
                records.push_error(EMPTY_LINE.into());
                kept.end_record(layout);
            }
            if end >= self.limit {
                records.push_error(self.too_long(bytes).into());
            } else if self.kind != LineKind::Object {
                self.parse_other(line.trim_ascii(), &mut records, &mut kept);
            } else if !plain_line::parse(layout, line, &mut records, &mut kept.text) {
                let parsed = line_parser::parse(*layout, line, is_cut);
                records.push_row(parsed.record);
                kept.text.extend_from_slice(parsed.kept.as_bytes());
            }
            kept.end_record(layout);
        }
        ParsedBlock { records, kept, empty_lines }
    }

    /// Parses a line that is no object.
    #[cfg_attr(not(feature = "audit"), allow(unused_variables))] // Numbers have nothing beside them.
    fn parse_other(&self, line: &[u8], records: &mut Records, kept: &mut Kept) {
        match self.kind {
            LineKind::Object | LineKind::Number => parse_number(&self.layout, line, records),
            #[cfg(feature = "audit")]
            LineKind::Row(columns) => match columns.parse(&self.layout, line) {
                Err(reason) => records.push_error(reason.into()),
                Ok((number, beside)) => {
                    parse_number(&self.layout, number.as_bytes(), records);
                    kept.text.extend_from_slice(beside.as_bytes());
                }
            },
        }
    }
}

/// Appends the record of a line that is a number, whose layout has one field.
fn parse_number(layout: &Layout, line: &[u8], records: &mut Records) {
    let start = records.octets_len();
    records.begin();
    if !records.set_text(0, layout.notation, line) {
        records.drop_last(start);
        let reason = layout.notation.parse(&String::from_utf8_lossy(line)).err();
        records.push_error(reason.unwrap_or_default().into());
    }
}
