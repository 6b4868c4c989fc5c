//! Lines of the usual form: a flat object whose strings have no escapes.
//!
//! Such a line is read in one pass, straight into the records. Any other line, and any line with an error, is
//! left to `line_parser`, which reads all of JSON and explains errors. A line that both can read gives the
//! same record and the same kept fields with both.

use super::layout::{Layout, OtherFields};
use super::table::Records;
use memchr::memchr;

/// The most fields that stand beside the answer; a line with more is left to the other parser.
const MAX_KEPT: usize = 16;

/// Appends the record of a line, and to `kept` the fields that stand beside the answer. Returns whether the
/// line was read; if it was not, nothing was appended. `line` has no line break.
pub(super) fn parse(layout: &Layout, line: &[u8], records: &mut Records, kept: &mut Vec<u8>) -> bool {
    let (octets, kept_length) = (records.octets_len(), kept.len());
    records.begin();
    let is_read = Cursor(line).object(layout, records, kept).is_some()
        && (0..layout.required.len()).all(|position| records.has(position));
    if !is_read {
        records.drop_last(octets);
        kept.truncate(kept_length);
    }
    is_read
}

/// The rest of a line. Methods return `None` where the line is not of the usual form.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn object(mut self, layout: &Layout, records: &mut Records, kept: &mut Vec<u8>) -> Option<()> {
        // The names that were seen besides the known ones.
        let (mut others, mut other_count) = ([&b""[..]; MAX_KEPT], 0);
        self.space();
        self.byte(b'{')?;
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            self.byte(b':')?;
            self.space();
            let position = layout.names().position(|known| known.as_bytes() == name);
            let before = self.0;
            match position {
                Some(position) if !records.has(position) => {
                    // A character that is no digit is seen when the digits are read.
                    let text = self.quoted()?;
                    records.set_text(position, layout.notation, text).then_some(())?;
                }
                Some(_) => return None,
                None if layout.others == OtherFields::Refuse => return None,
                None => self.plain_value()?,
            }
            if position.is_none() && layout.keeps_any() {
                if other_count == MAX_KEPT || others[..other_count].contains(&name) {
                    return None;
                }
                others[other_count] = name;
                other_count += 1;
            }
            if layout.keeps_any() && layout.keeps(str::from_utf8(name).ok()?) {
                let value = &before[..before.len() - self.0.len()];
                [b",\"", name, b"\":", value].into_iter().for_each(|part| kept.extend_from_slice(part));
            }
            self.space();
            match self.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        self.space();
        self.0.is_empty().then_some(())
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Passes over the spaces of JSON.
    fn space(&mut self) {
        while let Some((b' ' | b'\t' | b'\r', rest)) = self.0.split_first() {
            self.0 = rest;
        }
    }

    /// Bytes between quotation marks, whatever they are.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        self.byte(b'"')?;
        let end = memchr(b'"', self.0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    /// A string of ASCII characters without escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let is_plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'\\';
        self.quoted().filter(|text| text.iter().all(is_plain))
    }

    /// Passes over a string, a short integer or a word.
    fn plain_value(&mut self) -> Option<()> {
        match *self.0.first()? {
            b'"' => self.string().map(drop),
            b'0'..=b'9' => {
                let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
                // No leading zero, no fraction and no exponent.
                let is_integer = (length == 1 || self.0[0] != b'0') && length <= 18;
                self.0 = &self.0[length..];
                (is_integer && !matches!(self.0.first(), Some(b'.' | b'e' | b'E'))).then_some(())
            }
            _ => {
                let words = [&b"true"[..], b"false", b"null"];
                self.0 = words.into_iter().find_map(|word| self.0.strip_prefix(word))?;
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::samples::{POWER, PRODUCT, SIGN};
    use super::super::line_parser;
    use super::*;

    /// Whether the line is read. If it is, the other parser must agree; if not, nothing may be left of it.
    fn is_read(layout: Layout, line: &str) -> bool {
        let fields = layout.names().len();
        let mut records = Records::with_room(fields, line.len(), 2);
        let mut kept = Vec::new();
        let is_read = parse(&layout, line.as_bytes(), &mut records, &mut kept);
        if !is_read {
            assert_eq!((records.len(), records.octets_len(), kept.len()), (0, 0, 0), "{line}");
            return false;
        }
        let other = line_parser::parse(layout, line.as_bytes(), false);
        assert_eq!(*other.kept, String::from_utf8(kept).unwrap(), "{line}");
        for (position, field) in other.record.ok().unwrap().iter().enumerate() {
            let found = records.value(0, position).map(|value| (value.octets, value.bits));
            assert_eq!(found, field.as_ref().map(|field| (&field.octets[..], field.bits)), "{line}");
        }
        true
    }

    #[test]
    fn usual_lines_are_read_as_the_other_parser_reads_them() {
        for line in [
            r#"{"base":"2","exp":"0x003","mod":"5"}"#,
            "\t { \"mod\" : \"0X5\" , \"exp\":\"Ff\",\"base\":\"00000000000000012\" } \r",
            r#"{"id":7,"note":"{}, [","base":"2","x":true,"y":null,"z":0,"exp":"3","id":8,"mod":"5"}"#,
        ] {
            assert!(is_read(POWER, line), "{line}");
        }
        for line in [r#"{"a":"2","b":"3"}"#, r#"{"mod":"7","a":"2","b":"3"}"#] {
            assert!(is_read(PRODUCT, line), "{line}");
        }
        for line in [
            r#"{"id": "x y","message":"00ff","signature":"11","error":1,"n":12345}"#,
            r#"{"message" : "","a":false}"#,
        ] {
            assert!(is_read(SIGN, line), "{line}");
        }
    }

    #[test]
    fn other_lines_are_left_alone() {
        for line in [
            "",
            "{",
            "{}",
            "[]",
            r#"{"base":"2","exp":"3"}"#,
            r#"{"base":"2","exp":"3","mod":"5""#,
            r#"{"base":"2","exp":"3","mod":"5",}"#,
            r#"{"base":"2","exp":"3","mod":"5"} x"#,
            r#"{"base":"2","base":"2","exp":"3","mod":"5"}"#,
            r#"{"base":"\u0032","exp":"3","mod":"5"}"#,
            r#"{"base":"2g","exp":"3","mod":"5"}"#,
            r#"{"base":"","exp":"3","mod":"5"}"#,
            r#"{"base":2,"exp":"3","mod":"5"}"#,
            r#"{"base":null,"exp":"3","mod":"5"}"#,
            r#"{"id":1.5,"base":"2","exp":"3","mod":"5"}"#,
            r#"{"id":1e5,"base":"2","exp":"3","mod":"5"}"#,
            r#"{"id":01,"base":"2","exp":"3","mod":"5"}"#,
            r#"{"id":-,"base":"2","exp":"3","mod":"5"}"#,
            r#"{"id":truely,"base":"2","exp":"3","mod":"5"}"#,
            r#"{"id":[1],"base":"2","exp":"3","mod":"5"}"#,
            r#"{"i\nd":1,"base":"2","exp":"3","mod":"5"}"#,
            "{\"id\":\"\u{1}\",\"base\":\"2\",\"exp\":\"3\",\"mod\":\"5\"}",
            "{\"id\":\"ü\",\"base\":\"2\",\"exp\":\"3\",\"mod\":\"5\"}",
        ] {
            assert!(!is_read(POWER, line), "{line}");
        }
        assert!(!is_read(PRODUCT, r#"{"a":"2","b":"3","modulus":"5"}"#));
        for line in [r#"{"id":1,"message":"00","id":1}"#, r#"{"message":"0"}"#, r#"{"message":"\"0"}"#] {
            assert!(!is_read(SIGN, line), "{line}");
        }
    }
}
