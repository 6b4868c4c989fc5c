//! JSON Lines: an object a line, its fields hexadecimal. Empty lines are passed over.

use super::{Answer, CHUNK_BYTES, CHUNK_ITEMS, Item, Summary, Work};
use crate::failure::Failure;
use crate::io::{Input, Output};
use crate::jsonl;
use crate::octets::{from_hex, to_hex};
use crate::stream::Bar;
use serde_json::{Map, Value, json};
use std::io::BufRead;
use zeroize::Zeroizing;

pub(super) fn run(work: &Work<'_>) -> Result<Summary, Failure> {
    let mut input = Input::open(work.sources[0])?;
    let mut output = Output::create(work.sink)?;
    let bar = Bar::new(input.size, work.quiet, "bytes");
    let mut summary = Summary::default();
    let (mut number, mut ended) = (0, false);
    while !ended {
        let (mut numbers, mut items, mut bytes) = (Vec::new(), Vec::new(), 0);
        while items.len() < CHUNK_ITEMS && bytes < CHUNK_BYTES && !ended {
            let mut line = Zeroizing::new(Vec::new());
            let read = input.reader.read_until(b'\n', &mut line);
            bytes += read.map_err(|error| Failure::file("read", &input.name, &error))?;
            ended = !line.ends_with(b"\n");
            number += 1;
            if !line.trim_ascii().is_empty() {
                numbers.push(number);
                items.push(parse(work.inputs, &line, ended));
            }
        }
        for (number, answer) in numbers.into_iter().zip(work.answer(items)?) {
            summary.count(&answer, || format!("line {number}"));
            output.write(&format!("{}\n", to_json(work.output, number, &answer)))?;
        }
        output.flush()?;
        bar.advance(bytes as u64);
    }
    bar.finish();
    Ok(summary)
}

/// The fields of a line. `cut` says that the input ended without a line break.
fn parse(fields: &[&str], line: &[u8], cut: bool) -> Result<Item, String> {
    let object: Map<String, Value> = jsonl::json(line, cut)?;
    let field = |name: &&str| match object.get(*name) {
        Some(Value::String(text)) => {
            from_hex(text).map(Zeroizing::new).map_err(|reason| format!("{name}: {reason}"))
        }
        Some(_) => Err(format!("the field {name:?} is no string")),
        None => Err(format!("the field {name:?} is missing")),
    };
    fields.iter().map(field).collect()
}

fn to_json(output: Option<&str>, number: u64, answer: &Answer) -> Value {
    match (output, answer) {
        (Some(name), Ok(bytes)) => json!({ name: to_hex(bytes) }),
        (Some(_), Err(reason)) => json!({ "error": format!("line {number}: {reason}") }),
        (None, Ok(_)) => json!({ "valid": true }),
        (None, Err(reason)) => json!({ "valid": false, "error": format!("line {number}: {reason}") }),
    }
}
