//! Records of one number that are handed on instead of answered.

use super::beside::Beside;
use super::format::Format;
use super::layout::Layout;
use super::line_reader::LineKind;
use super::lines::LineSource;
use super::pace::Pace;
use super::pipeline::{FileRules, Formatter, Operation, Places, Sink, answer_all};
use super::table::{Answers, Records};
use crate::failure::Failure;
use modmill::Engine;
use std::sync::Arc;

/// A record that was read.
pub(crate) struct Collected {
    /// Its place in the file, such as `line 3`.
    pub(crate) place: String,
    /// The field beside the number, if the record has it.
    pub(crate) beside: Option<String>,
    /// The number with its most significant byte first, or why there is none, after the place.
    pub(crate) number: Result<Vec<u8>, String>,
}

/// Hands all records on to `take`, in order.
pub(crate) fn collect(
    layout: Layout,
    places: &Places<'_>,
    engine: &Engine,
    take: impl FnMut(Collected) + Send,
) -> Result<(), Failure> {
    let pace = Arc::new(Pace::new(engine, places.memory));
    let (operation, sink) = (Reading(layout), Taking(take));
    let kind = match places.format {
        Format::Csv => {
            let source = LineSource::open_rows(layout, places, engine, &pace)?;
            return answer_all(source, sink, &operation, places, &pace).map(drop);
        }
        #[cfg(feature = "files")]
        Format::Parquet | Format::Arrow => {
            let reader = match places.format {
                Format::Parquet => super::parquet::open(&layout, places.input(), places.memory, &pace)?,
                _ => super::arrow::open(&layout, places.input(), places.memory)?,
            };
            let source = super::rows::RowSource::new(layout, reader, engine, &pace)?;
            return answer_all(source, sink, &operation, places, &pace).map(drop);
        }
        Format::Hex => LineKind::Number,
        Format::Lines => LineKind::Object,
        _ => {
            let reason = "this build reads no Parquet and no Arrow; build modmill-cli with --features files";
            return Err(Failure::Usage(format!("{}: {reason}", places.input())));
        }
    };
    let source = LineSource::open(layout, kind, places, engine, &pace)?;
    answer_all(source, sink, &operation, places, &pace).map(drop)
}

/// The operation whose answer is the number.
struct Reading(Layout);

impl Operation for Reading {
    type Prepared = Vec<Records>;
    type Computed = Vec<Records>;

    fn layout(&self) -> Layout {
        self.0
    }

    fn files(&self) -> Option<FileRules> {
        None
    }

    fn prepare(&self, records: Vec<Records>) -> Vec<Records> {
        records
    }

    fn compute(&self, records: Vec<Records>) -> Result<Vec<Records>, Failure> {
        Ok(records)
    }

    fn finish(&self, records: Vec<Records>) -> Vec<Answers> {
        let answer = |records: Records| {
            let octets = (0..records.len()).filter_map(|record| records.value(record, 0));
            let room = octets.map(|value| value.octets.len()).sum();
            let mut answers = Answers::with_room(room, records.len());
            let mut errors = records.errors().iter();
            for record in 0..records.len() {
                match records.value(record, 0) {
                    Some(value) => answers.push(value.octets),
                    None => {
                        let reason = errors.next().map_or("no number".into(), |(_, reason)| reason.clone());
                        answers.push_error(reason);
                    }
                }
            }
            answers
        };
        records.into_iter().map(answer).collect()
    }
}

/// Hands records on.
struct Taking<T>(T);

struct Naming;

impl<O: Beside> Formatter<O> for Naming {
    type Formatted = Vec<Collected>;

    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Vec<Collected>, Failure> {
        let mut collected = Vec::new();
        for (origin, answers) in pieces {
            let places: Vec<String> = (0..answers.len()).map(|record| origin.name(record)).collect();
            let kept = origin.into_text(answers.len());
            for (record, (place, answer)) in places.into_iter().zip(answers.iter()).enumerate() {
                let number = answer.map(<[u8]>::to_vec).map_err(str::to_owned);
                collected.push(Collected { place, beside: text(kept.get(record)), number });
            }
        }
        Ok(collected)
    }
}

/// The value of a field in JSON text with a comma before it: a string, or another value as it is written.
fn text(field: &[u8]) -> Option<String> {
    let object = format!("{{{}}}", std::str::from_utf8(field.get(1..)?).ok()?);
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&object).ok()?;
    match fields.into_iter().next()?.1 {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

impl<O: Beside, T: FnMut(Collected) + Send> Sink<O> for Taking<T> {
    const HOLDS_ERRORS: bool = true;
    type Formatter = Naming;

    fn formatter(&self) -> Naming {
        Naming
    }

    fn write(&mut self, collected: Vec<Collected>) -> Result<(), Failure> {
        collected.into_iter().for_each(&mut self.0);
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(())
    }
}
