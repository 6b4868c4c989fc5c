//! JSON Lines: one task a line in, one answer a line out.
//!
//! A line that is no task is an error at its place, named by its number; the others are still
//! answered. Empty lines at the end of the input are ignored, since editors and `echo` leave
//! them; an empty line before that is an error, since it is probably a task that went missing.

use crate::task::{Answer, Number, Task};
use modmill::{HUGE_BITS, hex};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::io::{self, BufRead};

/// The longest line that is read into memory: three of the longest numbers, and something around them.
const MAX_LINE: usize = 3 * (HUGE_BITS / 4) + (1 << 20);

/// What is kept of a line that cannot be a task, because it does not begin as an object does.
const MAX_OTHER: usize = 1 << 10;

/// Which fields a line has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// `base`, `exp`, `mod`. Other fields are ignored.
    Powm,
    /// `a`, `b`, and perhaps `mod`. Other fields are errors: a misspelt `mod` would change the answer.
    Mul,
}

#[derive(Deserialize)]
struct PowmLine<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    base: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    exp: Option<Text<'a>>,
    #[serde(borrow, default, rename = "mod", deserialize_with = "present")]
    modulus: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MulLine<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    a: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    b: Option<Text<'a>>,
    #[serde(borrow, default, rename = "mod", deserialize_with = "present")]
    modulus: Option<Text<'a>>,
}

/// A JSON string, borrowed from the line where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A field that is there must be a string: `null` is not "absent".
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text<'de>>, D::Error> {
    Text::deserialize(deserializer).map(Some)
}

impl Schema {
    /// Reads one line without its line break. `cut` says that the input ended without one.
    fn parse(self, line: &[u8], cut: bool) -> Result<Task, String> {
        match self {
            Self::Powm => {
                let line: PowmLine<'_> = json(line, cut)?;
                let modulus = number("mod", line.modulus)?.ok_or_else(|| missing("mod"))?;
                Ok(Task {
                    a: number("base", line.base)?.ok_or_else(|| missing("base"))?,
                    b: number("exp", line.exp)?.ok_or_else(|| missing("exp"))?,
                    modulus: Some(as_modulus(modulus)?),
                })
            }
            Self::Mul => {
                let line: MulLine<'_> = json(line, cut)?;
                Ok(Task {
                    a: number("a", line.a)?.ok_or_else(|| missing("a"))?,
                    b: number("b", line.b)?.ok_or_else(|| missing("b"))?,
                    modulus: number("mod", line.modulus)?.map(as_modulus).transpose()?,
                })
            }
        }
    }
}

/// An object from a line. `cut` says that the input ended without a line break.
pub(crate) fn json<'a, T: Deserialize<'a>>(line: &'a [u8], cut: bool) -> Result<T, String> {
    if !may_be_object(line) {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| {
        if cut && error.is_eof() {
            return "the input ends in the middle of this line".to_owned();
        }
        // The parser counts lines within its text, which is always line 1.
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        format!("bad JSON: {reason} at column {}", error.column())
    })
}

/// Whether a line begins as an object does, or may yet.
fn may_be_object(line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|&first| first == b'{')
}

fn missing(field: &str) -> String {
    format!("the field {field:?} is missing")
}

fn number(field: &str, text: Option<Text<'_>>) -> Result<Option<Number>, String> {
    text.map(|text| Number::from_hex(&text.0)).transpose().map_err(|reason| format!("{field}: {reason}"))
}

fn as_modulus(number: Number) -> Result<Number, String> {
    number.into_modulus().map_err(|reason| format!("mod: {reason}"))
}

/// One line of input.
pub(crate) struct Line {
    /// From one, as editors count.
    pub(crate) number: u64,
    /// Bytes it took in the input.
    pub(crate) bytes: usize,
    pub(crate) task: Result<Task, String>,
}

/// Reads tasks line by line.
pub(crate) struct Reader<R> {
    input: R,
    schema: Schema,
    number: u64,
    /// Most bytes of a line.
    longest: usize,
    buffer: Vec<u8>,
    /// Empty lines seen and not yet known to be at the end, and the line after them.
    empty: u64,
    held: Option<Line>,
}

impl<R: BufRead> Reader<R> {
    pub(crate) fn new(input: R, schema: Schema) -> Self {
        Self { input, schema, number: 0, longest: MAX_LINE, buffer: Vec::new(), empty: 0, held: None }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line>> {
        while self.held.is_none() {
            match self.read_line()? {
                None => return Ok(None),
                Some(line) => self.held = Some(line),
            }
        }
        if self.empty > 0 {
            // The held line is the last that was read, and follows the empty ones.
            let number = self.number - self.empty;
            self.empty -= 1;
            let task = Err("an empty line is only allowed at the end".to_owned());
            return Ok(Some(Line { number, bytes: 1, task }));
        }
        Ok(self.held.take())
    }

    /// The next line that is not empty; counts those it passes.
    fn read_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            self.buffer.clear();
            let (bytes, ended) = self.fill_buffer()?;
            if bytes == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            let task = if bytes > self.longest && may_be_object(&self.buffer) {
                Err(format!("the line has {bytes} bytes; the limit is {}", self.longest))
            } else if self.buffer.iter().all(u8::is_ascii_whitespace) {
                self.empty += 1;
                continue;
            } else {
                self.schema.parse(&self.buffer, !ended)
            };
            return Ok(Some(Line { number: self.number, bytes, task }));
        }
    }

    /// Reads up to a line break, keeping no more than the longest line allowed. Returns the
    /// bytes passed, and whether a line break ended them.
    fn fill_buffer(&mut self) -> io::Result<(usize, bool)> {
        let mut bytes = 0;
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                return Ok((bytes, false));
            }
            let line_break = available.iter().position(|&byte| byte == b'\n');
            let used = line_break.map_or(available.len(), |at| at + 1);
            let most = if may_be_object(&self.buffer) { self.longest + 1 } else { MAX_OTHER };
            let kept = line_break.unwrap_or(used).min(most.saturating_sub(self.buffer.len()));
            self.buffer.extend_from_slice(&available[..kept]);
            self.input.consume(used);
            bytes += used;
            if line_break.is_some() {
                return Ok((bytes, true));
            }
        }
    }
}

/// The line that answers line `number`.
pub(crate) fn write(number: u64, answer: &Answer) -> String {
    match answer {
        Ok(value) => format!("{{\"result\":\"{}\"}}\n", hex::format(value)),
        Err(reason) => {
            let error = serde_json::json!({ "error": format!("line {number}: {reason}") });
            format!("{error}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], schema: Schema) -> Vec<(u64, Result<Task, String>)> {
        let mut reader = Reader::new(text, schema);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push((line.number, line.task));
        }
        lines
    }

    fn errors(text: &[u8], schema: Schema) -> Vec<(u64, String)> {
        read(text, schema).into_iter().filter_map(|(number, task)| Some((number, task.err()?))).collect()
    }

    const GOOD: &str = r#"{"base":"2","exp":"3","mod":"5"}"#;

    #[test]
    fn empty_lines_matter_only_before_the_end() {
        assert_eq!(read(b"", Schema::Powm).len(), 0);
        assert_eq!(read(b"\n \r\n\n", Schema::Powm).len(), 0);
        assert_eq!(read(format!("{GOOD}\n\n\n").as_bytes(), Schema::Powm).len(), 1);
        let lines = read(format!("\n{GOOD}\n\n\t\n{GOOD}\n\n").as_bytes(), Schema::Powm);
        let found: Vec<(u64, bool)> = lines.iter().map(|(number, task)| (*number, task.is_ok())).collect();
        assert_eq!(found, [(1, false), (2, true), (3, false), (4, false), (5, true)]);
    }

    #[test]
    fn bad_lines_are_named() {
        let cases: [(&str, &str); 14] = [
            ("{", "bad JSON"),
            ("[]", "not a JSON object"),
            ("hello", "not a JSON object"),
            (r#"{"base":"2","exp":"3"}"#, "\"mod\" is missing"),
            (r#"{"base":"2","mod":"3"}"#, "\"exp\" is missing"),
            (r#"{"exp":"2","mod":"3"}"#, "\"base\" is missing"),
            (r#"{"base":2,"exp":"3","mod":"5"}"#, "invalid type: integer `2`"),
            (r#"{"base":null,"exp":"3","mod":"5"}"#, "null"),
            (r#"{"base":"","exp":"3","mod":"5"}"#, "base: an empty string"),
            (r#"{"base":"2","exp":"0x","mod":"5"}"#, "exp: an empty string"),
            (r#"{"base":"2g","exp":"3","mod":"5"}"#, "base: 'g' at position 1"),
            (r#"{"base":"-2","exp":"3","mod":"5"}"#, "base: '-' at position 0"),
            (r#"{"base":"2","exp":"3","mod":"0x0"}"#, "mod: the modulus is zero"),
            (r#"{"base":"2","base":"2","exp":"3","mod":"5"}"#, "duplicate field `base`"),
        ];
        for (line, reason) in cases {
            let found = errors(format!("{GOOD}\n{line}\n{GOOD}\n").as_bytes(), Schema::Powm);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].0, 2, "{line}");
            assert!(found[0].1.contains(reason), "{line}: {}", found[0].1);
        }
    }

    #[test]
    fn a_line_cut_short_is_said_to_be() {
        for cut in 1..GOOD.len() {
            let text = format!("{GOOD}\n{}", &GOOD[..cut]);
            let found = errors(text.as_bytes(), Schema::Powm);
            assert_eq!(found, [(2, "the input ends in the middle of this line".to_owned())]);
        }
        assert!(errors(GOOD.as_bytes(), Schema::Powm).is_empty());
    }

    #[test]
    fn long_lines_are_passed_over() {
        let long = "x".repeat(100_000);
        let text = format!("{GOOD}\n{{\"base\":\"{long}\"}}\n{GOOD}\n{long}\n{GOOD}\n");
        // From memory in pieces, as from a file.
        let input = std::io::BufReader::with_capacity(100, text.as_bytes());
        let mut reader = Reader { longest: 50_000, ..Reader::new(input, Schema::Powm) };
        let mut next = || reader.next_line().unwrap().unwrap().task;
        assert!(next().is_ok());
        assert_eq!(next(), Err("the line has 100012 bytes; the limit is 50000".to_owned()));
        assert!(next().is_ok());
        assert_eq!(next(), Err("not a JSON object".to_owned()));
        assert!(next().is_ok());
        assert!(reader.buffer.capacity() < 100_000);
    }

    #[test]
    fn other_fields_are_ignored_unless_they_may_be_the_modulus() {
        assert!(errors(br#"{"id":7,"base":"2","exp":"3","mod":"5"}"#, Schema::Powm).is_empty());
        let found = errors(br#"{"a":"2","b":"3","modulus":"5"}"#, Schema::Mul);
        assert!(found[0].1.contains("unknown field `modulus`"), "{found:?}");
        assert!(errors(br#"{"a":"2","b":"3"}"#, Schema::Mul).is_empty());
    }

    #[test]
    fn a_byte_order_mark_windows_lines_and_escapes_are_forgiven() {
        let text = b"\xef\xbb\xbf {\"base\":\"\\u0032\",\"exp\":\"3\",\"mod\":\"5\"}\r\n";
        let lines = read(text, Schema::Powm);
        assert_eq!(lines[0].1.as_ref().unwrap().a, Number::from_hex("2").unwrap());
        let text = b"{\"base\":\"\xff\",\"exp\":\"3\",\"mod\":\"5\"}\n";
        assert!(errors(text, Schema::Powm)[0].1.contains("bad JSON"));
    }
}
