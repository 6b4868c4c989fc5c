//! JSON objects to records.

use super::layout::{Field, Layout, OtherFields, Record};
use super::line_reader::may_be_object;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use zeroize::Zeroizing;

/// The record of a line.
pub(super) struct ParsedLine {
    pub(super) record: Result<Record, String>,
    /// The fields that stand beside the answer, as JSON text: each with a comma before it.
    pub(super) kept: Zeroizing<String>,
}

impl ParsedLine {
    pub(super) fn error(reason: impl Into<String>) -> Self {
        Self { record: Err(reason.into()), kept: Zeroizing::default() }
    }
}

/// Reads a line without its line break. `is_cut` says that the input ended without one.
pub(super) fn parse(layout: Layout, line: &[u8], is_cut: bool) -> ParsedLine {
    if !may_be_object(line) {
        return ParsedLine::error("not a JSON object");
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    let object = Object { layout, length: line.len() }
        .deserialize(&mut json)
        .and_then(|fields| json.end().map(|()| fields));
    match object {
        Ok(fields) => ParsedLine { record: record(layout, &fields.values), kept: fields.kept },
        Err(error) if is_cut && error.is_eof() => {
            ParsedLine::error("the input ends in the middle of this line")
        }
        Err(error) => {
            // The parser counts lines within its text, which is always line 1.
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or(&text);
            ParsedLine::error(format!("bad JSON: {reason} at column {}", error.column()))
        }
    }
}

fn record(layout: Layout, values: &[Option<Text<'_>>]) -> Result<Record, String> {
    let parse = |(name, text): (&str, &Option<Text<'_>>)| {
        let field = text.as_ref().map(|text| layout.notation.parse(&text.0));
        field.transpose().map_err(|reason| format!("{name}: {reason}"))
    };
    let record = layout.names().zip(values).map(parse).collect::<Result<Vec<Option<Field>>, _>>()?;
    layout.check_required(|position| record[position].is_some(), "field")?;
    Ok(record)
}

/// A JSON string, borrowed from the line unless it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields of one object.
struct Fields<'a> {
    /// The known fields in the order of the layout.
    values: Vec<Option<Text<'a>>>,
    kept: Zeroizing<String>,
}

struct Object {
    layout: Layout,
    /// Bytes of the line.
    length: usize,
}

impl<'de> DeserializeSeed<'de> for Object {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let layout = self.layout;
        let mut values: Vec<Option<Text<'de>>> = layout.names().map(|_| None).collect();
        let mut others: HashSet<Cow<'de, str>> = HashSet::new();
        // No field is longer here than in the line, so that the text never moves and leaves no copy behind.
        let room = if layout.keeps_any() { self.length + 1 } else { 0 };
        let mut kept = Zeroizing::new(String::with_capacity(room));
        while let Some(Text(name)) = map.next_key()? {
            let repeated = || A::Error::custom(format!("duplicate field `{name}`"));
            match layout.position(&name) {
                Some(position) if values[position].is_some() => return Err(repeated()),
                Some(position) => {
                    // A field that is there must be a string: `null` is not "absent".
                    let text: Text<'de> = map.next_value()?;
                    if layout.keeps(&name) {
                        keep(&mut kept, &name, &Zeroizing::new(to_json(&text.0)));
                    }
                    values[position] = Some(text);
                }
                None => match layout.others {
                    OtherFields::Ignore => drop(map.next_value::<IgnoredAny>()?),
                    OtherFields::Refuse => {
                        let known: Vec<&str> = layout.names().collect();
                        let known = known.join(", ");
                        return Err(A::Error::custom(format!("unknown field `{name}`; known: {known}")));
                    }
                    _ if others.contains(&name) => {
                        return Err(repeated());
                    }
                    _ => {
                        let value: &RawValue = map.next_value()?;
                        if layout.keeps(&name) {
                            keep(&mut kept, &name, value.get());
                        }
                        others.insert(name);
                    }
                },
            }
        }
        Ok(Fields { values, kept })
    }
}

/// Appends a field to a list of fields.
fn keep(kept: &mut String, name: &str, value: &str) {
    kept.extend([",", &to_json(name), ":", value]);
}

/// A text as a JSON string.
pub(super) fn to_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::layout::samples::{POWER, PRODUCT, SIGN};
    use super::*;

    const GOOD: &str = r#"{"base":"2","exp":"3","mod":"5"}"#;

    fn error(layout: Layout, line: &str) -> Option<String> {
        parse(layout, line.as_bytes(), false).record.err()
    }

    #[test]
    fn bad_lines_are_explained() {
        assert_eq!(error(POWER, GOOD), None);
        for (line, reason) in [
            ("{", "bad JSON"),
            ("{} {}", "bad JSON: trailing characters"),
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
            (r#"{"base":"2","base":"2","exp":"3","mod":"5"}"#, "duplicate field `base`"),
        ] {
            let found = error(POWER, line).unwrap();
            assert!(found.contains(reason), "{line}: {found}");
        }
        assert!(parse(POWER, b"{\"base\":\"\xff\"}", false).record.err().unwrap().contains("bad JSON"));
    }

    #[test]
    fn a_line_cut_short_is_said_to_be() {
        for cut in 1..GOOD.len() {
            let found = parse(POWER, &GOOD.as_bytes()[..cut], true).record.err().unwrap();
            assert_eq!(found, "the input ends in the middle of this line");
        }
        assert!(parse(POWER, GOOD.as_bytes(), true).record.is_ok());
    }

    #[test]
    fn numbers_keep_the_length_they_are_written_with() {
        let line = r#" {"base":"\u0030\u0032","exp":"0x003","mod":"5"}"#;
        let record = parse(POWER, line.as_bytes(), false).record.ok().unwrap();
        let fields: Vec<_> = record.iter().flatten().map(|field| (&field.octets[..], field.bits)).collect();
        assert_eq!(fields, [(&[2][..], 8), (&[0, 3], 12), (&[5], 4)]);
    }

    #[test]
    fn other_fields_are_ignored_unless_they_may_be_the_modulus() {
        assert_eq!(error(POWER, r#"{"id":7,"base":"2","exp":"3","mod":"5"}"#), None);
        let found = error(PRODUCT, r#"{"a":"2","b":"3","modulus":"5"}"#).unwrap();
        assert!(found.contains("unknown field `modulus`; known: a, b, mod"), "{found}");
        assert_eq!(error(PRODUCT, r#"{"a":"2","b":"3"}"#), None);
    }

    #[test]
    fn other_fields_are_kept_and_none_may_be_repeated() {
        let line = r#"{"id": {"a": [1, "x"]},"message":"00","signature":"11","error":1,"note\n":null}"#;
        let kept = parse(SIGN, line.as_bytes(), false).kept;
        assert_eq!(*kept, r#","id":{"a": [1, "x"]},"message":"00","note\n":null"#);
        let verify = Layout { required: &["message", "signature"], others: OtherFields::Keep, ..SIGN };
        assert_eq!(*parse(verify, line.as_bytes(), false).kept, r#","id":{"a": [1, "x"]},"note\n":null"#);
        for line in [r#"{"message":"00","message":"00"}"#, r#"{"id":1,"message":"00","id":1}"#] {
            assert!(error(SIGN, line).unwrap().contains("duplicate field"), "{line}");
        }
        // A value that is no bytes stands beside its error.
        let bad = parse(SIGN, br#"{"message":"\"0"}"#, false);
        assert!(bad.record.is_err());
        assert_eq!(*bad.kept, r#","message":"\"0""#);
    }
}
