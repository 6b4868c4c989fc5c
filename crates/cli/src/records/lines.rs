//! JSON Lines: one object a line in, one object a line out.
//!
//! Empty lines at the end of the input are ignored, because editors and `echo` leave them. An empty line before
//! that is an error at its place: it is probably a record that went missing.

use super::layout::{AnswerField, ERROR, Layout};
use super::line_parser::{ParsedLine, parse, to_json};
use super::line_reader::{Content, LineReader};
use super::pipeline::{Answer, Chunk, Origin, Places, Sink, Source};
use super::queue::{Receiver, Sender, queue};
use crate::failure::{Failure, say};
use crate::io::{Input, Output, reads_terminal};
use std::io::{self, Read};
use zeroize::Zeroizing;

/// A line of the input after it was parsed.
struct NumberedLine {
    /// From one, as editors count.
    number: u64,
    bytes: usize,
    parsed: ParsedLine,
}

/// Reads and parses lines on a thread of its own, while earlier lines are answered.
pub(super) struct LineSource {
    name: String,
    size: Option<u64>,
    lines: Receiver<NumberedLine>,
}

/// The line numbers of a chunk, and the fields that stand beside the answers.
pub(super) struct LineOrigin(Vec<(u64, Zeroizing<String>)>);

impl Origin for LineOrigin {
    fn name(&self, record: usize) -> String {
        format!("line {}", self.0[record].0)
    }
}

impl LineSource {
    pub(super) fn open(layout: Layout, places: &Places<'_>) -> Result<Self, Failure> {
        let input = Input::open(places.input())?;
        if reads_terminal(places.input()) && !places.quiet {
            let fields: Vec<String> =
                layout.required.iter().map(|name| format!("{name:?}:\"...\"")).collect();
            say(&format!("waiting for lines {{{}}}; Ctrl-D ends the input", fields.join(",")));
        }
        let (name, size) = (input.name.clone(), input.size);
        // Whoever writes to a pipe or a terminal may wait for answers before writing on.
        let (sender, lines) = queue(size.is_none());
        let limit = usize::try_from(places.max_line).unwrap_or(usize::MAX);
        let read = move || {
            let end = read_lines(layout, input, limit, &sender);
            sender.end(end);
        };
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(read)
            .map_err(|error| Failure::file("read", &name, &error))?;
        Ok(Self { name, size, lines })
    }
}

/// Parses lines of at most `limit` bytes until the input ends or nobody takes them.
fn read_lines(
    layout: Layout,
    input: impl Read,
    limit: usize,
    sender: &Sender<NumberedLine>,
) -> io::Result<()> {
    let mut reader = LineReader::new(input, limit);
    let push = |number, bytes, parsed| sender.push(NumberedLine { number, bytes, parsed }, bytes);
    let (mut number, mut empty) = (0, 0);
    while let Some(line) = reader.next_line()? {
        number += 1;
        let parsed = match line.content {
            Content::Text { text, .. } if text.trim_ascii().is_empty() => {
                empty += 1;
                continue;
            }
            Content::Text { text, is_cut } => parse(layout, text, is_cut),
            Content::NotAnObject => ParsedLine::error("not a JSON object"),
            Content::TooLong => ParsedLine::error(format!(
                "the line has {} bytes; the limit is {limit} (--max-line sets it)",
                line.bytes
            )),
        };
        let bytes = line.bytes;
        let missing = (number - empty..number)
            .all(|number| push(number, 1, ParsedLine::error("an empty line is only allowed at the end")));
        if !missing || !push(number, bytes, parsed) {
            break;
        }
        empty = 0;
    }
    Ok(())
}

impl Source for LineSource {
    type Origin = LineOrigin;
    const PROGRESS_UNIT: &'static str = "bytes";
    const RECORDS: &'static str = "lines";

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<LineOrigin>>, Failure> {
        let lines = self.lines.take().map_err(|error| Failure::file("read", &self.name, &error))?;
        if lines.is_empty() {
            return Ok(None);
        }
        let progress = lines.iter().map(|line| line.bytes as u64).sum();
        let (origin, records) =
            lines.into_iter().map(|line| ((line.number, line.parsed.kept), line.parsed.record)).unzip();
        Ok(Some(Chunk { records, origin: LineOrigin(origin), progress }))
    }
}

/// Writes an object for each record.
pub(super) struct LineSink {
    layout: Layout,
    output: Output,
}

impl LineSink {
    pub(super) fn create(layout: Layout, output: &str) -> Result<Self, Failure> {
        Ok(Self { layout, output: Output::create(output)? })
    }

    fn append(&self, text: &mut Vec<u8>, answer: &Answer, kept: &str) {
        text.push(b'{');
        match (self.layout.answer, answer) {
            (AnswerField::Octets(name), Ok(octets)) => {
                append_all(text, ["\"", name, "\":\""]);
                self.layout.notation.append(text, octets);
                text.push(b'"');
            }
            (AnswerField::Octets(_), Err(reason)) => append_error(text, reason),
            (AnswerField::Verdict, Ok(_)) => append_all(text, ["\"valid\":true"]),
            (AnswerField::Verdict, Err(reason)) => {
                append_all(text, ["\"valid\":false,"]);
                append_error(text, reason);
            }
        }
        append_all(text, [kept, "}\n"]);
    }
}

fn append_error(text: &mut Vec<u8>, reason: &str) {
    append_all(text, ["\"", ERROR, "\":", &to_json(reason)]);
}

fn append_all<const N: usize>(text: &mut Vec<u8>, parts: [&str; N]) {
    parts.into_iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
}

impl Sink<LineOrigin> for LineSink {
    const HOLDS_ERRORS: bool = true;

    fn write(&mut self, origin: LineOrigin, answers: &[Answer]) -> Result<(), Failure> {
        // Room for everything from the start, so that no copy of an answer stays behind in freed memory. An
        // answer takes two digits an octet, and an error at most six characters a byte.
        let room = |(answer, (_, kept)): (&Answer, &(u64, Zeroizing<String>))| {
            let length = answer.as_ref().map_or_else(|reason| 6 * reason.len(), |octets| 2 * octets.len());
            length + kept.len() + 64
        };
        let room = answers.iter().zip(&origin.0).map(room).sum();
        let mut text = Zeroizing::new(Vec::with_capacity(room));
        for (answer, (_, kept)) in answers.iter().zip(&origin.0) {
            self.append(&mut text, answer, kept);
        }
        self.output.write_bytes(&text)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Notation, OtherFields};
    use super::*;

    const LAYOUT: Layout = Layout {
        required: &["a"],
        optional: &[],
        notation: Notation::Number,
        others: OtherFields::Ignore,
        answer: AnswerField::Octets("result"),
    };

    /// The numbers of lines, and whether each has a record.
    fn read(text: &str, limit: usize) -> Vec<(u64, Result<(), String>)> {
        let (sender, mut receiver) = queue(false);
        read_lines(LAYOUT, text.as_bytes(), limit, &sender).unwrap();
        sender.end(Ok(()));
        let lines = receiver.take().unwrap();
        lines.into_iter().map(|line| (line.number, line.parsed.record.map(drop))).collect()
    }

    #[test]
    fn empty_lines_matter_only_before_the_end() {
        const GOOD: &str = r#"{"a":"2"}"#;
        assert_eq!(read("", 100), []);
        assert_eq!(read("\n \r\n\n", 100), []);
        assert_eq!(read(&format!("{GOOD}\n\n\n"), 100), [(1, Ok(()))]);
        let lines = read(&format!("\n{GOOD}\n\n\t\n{GOOD}\n\n"), 100);
        let found: Vec<(u64, bool)> =
            lines.iter().map(|(number, record)| (*number, record.is_ok())).collect();
        assert_eq!(found, [(1, false), (2, true), (3, false), (4, false), (5, true)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error_that_names_the_limit() {
        let lines = read(&format!("{{\"a\":\"{}\"}}\n{{\"a\":\"1\"}}\n", "0".repeat(1000)), 100);
        let reason = "the line has 1009 bytes; the limit is 100 (--max-line sets it)".to_owned();
        assert_eq!(lines, [(1, Err(reason)), (2, Ok(()))]);
    }
}
