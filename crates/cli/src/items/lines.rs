//! JSON Lines: an object a line, its fields hexadecimal.

use super::{Answer, CHUNK_BYTES, CHUNK_ITEMS, Item, Summary, Work};
use crate::failure::Failure;
use crate::io::{Input, Output};
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
    loop {
        let (mut items, mut bytes) = (Vec::new(), 0);
        while items.len() < CHUNK_ITEMS && bytes < CHUNK_BYTES {
            let mut line = Zeroizing::new(String::new());
            let read = input.reader.read_line(&mut line);
            match read.map_err(|error| Failure::file("read", &input.name, &error))? {
                0 => break,
                length => bytes += length,
            }
            if !line.trim().is_empty() {
                items.push(parse(work.inputs, &line));
            }
        }
        if items.is_empty() {
            break;
        }
        for answer in compute(work, items)? {
            let number = summary.items + 1;
            summary.count(&answer, || format!("line {number}"));
            output.write(&format!("{}\n", to_json(work.output, number, &answer)))?;
        }
        output.flush()?;
        bar.advance(bytes as u64);
    }
    bar.finish();
    Ok(summary)
}

/// Answers the items that could be read; the others keep their errors.
pub(super) fn compute(work: &Work<'_>, items: Vec<Result<Item, String>>) -> Result<Vec<Answer>, Failure> {
    let mut good = Vec::new();
    let places: Vec<Result<(), String>> =
        items.into_iter().map(|item| item.map(|item| good.push(item))).collect();
    let mut answers = (work.compute)(&good)?.into_iter();
    let missing = || Err("no answer".to_owned());
    Ok(places.into_iter().map(|place| place.and_then(|()| answers.next().unwrap_or_else(missing))).collect())
}

fn parse(fields: &[&str], line: &str) -> Result<Item, String> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("bad JSON: {error}"))?;
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
