//! Lines of fields between commas (RFC 4180, without line breaks in fields).

use super::layout::{Layout, OtherFields};
use crate::failure::Failure;
use crate::io::Input;
use std::borrow::Cow;
use std::io::Read;

/// The most bytes of the line with the names.
const MOST: usize = 1 << 20;

/// The positions of the field that is read and of the one that stands beside the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowColumns {
    number: usize,
    beside: Option<usize>,
}

impl RowColumns {
    /// The number of a line, and what stands beside its answer as JSON text.
    pub(super) fn parse<'a>(
        &self,
        layout: &Layout,
        line: &'a [u8],
    ) -> Result<(Cow<'a, str>, String), String> {
        let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
        let mut fields = fields(text).ok_or("a quotation mark has no partner")?;
        let beside = match (self.beside.and_then(|position| fields.get(position)), layout.others) {
            (Some(value), OtherFields::KeepOne(name)) => {
                let object = serde_json::json!({ name: value }).to_string();
                // A comma stands before the field, instead of what surrounds the object.
                format!(",{}", &object[1..object.len() - 1])
            }
            _ => String::new(),
        };
        match fields.get_mut(self.number) {
            Some(number) => Ok((std::mem::take(number), beside)),
            None => Err(format!(
                "{} fields, and {:?} is number {}",
                fields.len(),
                layout.required[0],
                self.number + 1
            )),
        }
    }
}

/// The fields of a line, without blanks around them.
fn fields(line: &str) -> Option<Vec<Cow<'_, str>>> {
    let (mut fields, mut rest) = (Vec::new(), line.trim());
    loop {
        let (field, more) = match rest.strip_prefix('"') {
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim_end()), &rest[end..])
            }
            Some(mut quoted) => {
                let mut field = String::new();
                loop {
                    let end = quoted.find('"')?;
                    field += &quoted[..end];
                    quoted = &quoted[end + 1..];
                    // A mark in a field is doubled.
                    match quoted.strip_prefix('"') {
                        Some(more) => (field, quoted) = (field + "\"", more),
                        None => break,
                    }
                }
                (Cow::Owned(field), quoted.trim_start())
            }
        };
        fields.push(field);
        match more.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return more.is_empty().then_some(fields),
        }
    }
}

/// The columns of an input, and the number of lines that were read to find them. Names that are numbers are
/// positions, counted from one: there is no line with names then.
pub(super) fn open(input: &mut Input, layout: &Layout) -> Result<(RowColumns, u64), Failure> {
    let name = input.name.clone();
    let wrong = |reason: String| Failure::Usage(format!("cannot read {name}: {reason}"));
    let beside = if let OtherFields::KeepOne(name) = layout.others { Some(name) } else { None };
    let position = |name: &str| name.parse::<usize>().ok()?.checked_sub(1);
    if let Some(number) = position(layout.required[0]) {
        return Ok((RowColumns { number, beside: beside.and_then(position) }, 0));
    }
    let mut line = Vec::new();
    // The lines after it are left to others.
    let mut byte = [0];
    while line.len() < MOST
        && input.read(&mut byte).map_err(|error| Failure::file("read", &name, &error))? == 1
        && byte != *b"\n"
    {
        line.push(byte[0]);
    }
    let text = String::from_utf8(line).map_err(|_| wrong("the line with names is not UTF-8".to_owned()))?;
    let names = fields(text.trim_start_matches('\u{feff}'));
    let names =
        names.ok_or_else(|| wrong("a quotation mark of the line with names has no partner".to_owned()))?;
    let find = |name: &str| names.iter().position(|known| known == name);
    let number = find(layout.required[0])
        .ok_or_else(|| wrong(format!("no column {:?} among {}", layout.required[0], shown(&names))))?;
    Ok((RowColumns { number, beside: beside.and_then(find) }, 1))
}

/// The names of columns for people. A line that is no line of names may have anything in its fields, also a
/// private key: a field that is long for a name is left out.
fn shown(names: &[Cow<'_, str>]) -> String {
    const LONGEST: usize = 40;
    let name = |name: &Cow<'_, str>| if name.len() > LONGEST { "..".to_owned() } else { name.to_string() };
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::layout::samples::POWER;
    use super::*;

    #[test]
    fn fields_are_split_at_commas() {
        let split = |line| fields(line).map(|fields| fields.join("|"));
        for (line, expected) in [
            ("a,b", "a|b"),
            (" a , b \r", "a|b"),
            ("", ""),
            (",", "|"),
            ("\"a,b\",c", "a,b|c"),
            ("\"a \"\"b\"\"\" , c", "a \"b\"|c"),
            ("\"\"", ""),
        ] {
            assert_eq!(split(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!((split("\"a"), split("\"a\"b")), (None, None));
    }

    #[test]
    fn numbers_and_names_are_taken_by_position() {
        let layout = Layout { required: &["n"], others: OtherFields::KeepOne("id"), ..POWER };
        let columns = RowColumns { number: 1, beside: Some(0) };
        assert_eq!(columns.parse(&layout, b"\"x\"\"y\",ff"), Ok(("ff".into(), r#","id":"x\"y""#.to_owned())));
        assert!(columns.parse(&layout, b"x").unwrap_err().contains("number 2"));
        assert!(columns.parse(&layout, b"\xff").is_err());
    }
}
