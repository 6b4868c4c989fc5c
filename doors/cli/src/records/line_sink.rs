//! JSON Lines out: one object a line, formatted on the threads of the engine.

use super::beside::Beside;
use super::block_parser::Kept;
use super::layout::{AnswerField, ERROR, Layout, sign};
use super::line_parser::to_json;
use super::pipeline::{Formatter, Sink};
use super::secret::SecretOctets;
use super::table::Answers;
use crate::failure::Failure;
use crate::io::Output;
use modmill::Engine;
use rayon::prelude::*;

/// Writes an object for each record.
pub(super) struct LineSink<'a> {
    formatter: LineFormatter<'a>,
    output: Output,
}

impl<'a> LineSink<'a> {
    pub(super) fn new(layout: Layout, output: Output, engine: &'a Engine) -> Self {
        Self { formatter: LineFormatter { layout, engine }, output }
    }
}

/// Formats the objects.
#[derive(Clone, Copy)]
pub(super) struct LineFormatter<'a> {
    layout: Layout,
    engine: &'a Engine,
}

impl<O: Beside> Formatter<O> for LineFormatter<'_> {
    type Formatted = Vec<SecretOctets>;

    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Vec<SecretOctets>, Failure> {
        let format = |(origin, answers): (O, Answers)| {
            let kept = origin.into_text(answers.len());
            format(&self.layout, &kept, &answers)
        };
        Ok(match pieces.len() {
            1 => pieces.into_iter().map(format).collect(),
            _ => self.engine.install(|| pieces.into_par_iter().map(format).collect()),
        })
    }
}

/// The lines of some answers.
fn format(layout: &Layout, kept: &Kept, answers: &Answers) -> SecretOctets {
    // Room for everything from the start, so that no copy of an answer stays behind in freed memory. An
    // answer takes two digits a byte, and an error at most six characters a byte.
    let errors: usize = answers.errors().iter().map(|(_, reason)| 6 * reason.len()).sum();
    let room = 2 * answers.octets_len() + errors + kept.text.len() + 64 * answers.len();
    let mut text = SecretOctets::with_capacity(room);
    for (record, answer) in answers.iter().enumerate() {
        append(layout, &mut text, answer);
        text.extend_from_slice(kept.get(record));
        text.extend_from_slice(b"}\n");
    }
    debug_assert!(text.len() <= room);
    text
}

/// Appends the beginning of an object.
fn append(layout: &Layout, text: &mut Vec<u8>, answer: Result<&[u8], &str>) {
    text.push(b'{');
    match (layout.answer, answer) {
        (AnswerField::Octets(name), Ok(octets)) => {
            append_all(text, ["\"", name, "\":\""]);
            layout.notation.append(text, octets);
            text.push(b'"');
        }
        (AnswerField::Pair(names), Ok(octets)) => {
            let (first, second) = octets.split_at(octets.len() / 2);
            append_all(text, ["\"", names[0], "\":\""]);
            layout.notation.append(text, first);
            append_all(text, ["\",\"", names[1], "\":\""]);
            layout.notation.append(text, second);
            text.push(b'"');
        }
        (AnswerField::Sign(name), Ok(octets)) => {
            append_all(text, ["\"", name, "\":\"", &sign(octets).to_string(), "\""]);
        }
        (AnswerField::Octets(_) | AnswerField::Pair(_) | AnswerField::Sign(_), Err(reason)) => {
            append_error(text, reason);
        }
        (AnswerField::Verdict, Ok(_)) => append_all(text, ["\"valid\":true"]),
        (AnswerField::Verdict, Err(reason)) => {
            append_all(text, ["\"valid\":false,"]);
            append_error(text, reason);
        }
    }
}

fn append_error(text: &mut Vec<u8>, reason: &str) {
    append_all(text, ["\"", ERROR, "\":", &to_json(reason)]);
}

fn append_all<const N: usize>(text: &mut Vec<u8>, parts: [&str; N]) {
    parts.into_iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
}

impl<'a, O: Beside> Sink<O> for LineSink<'a> {
    const HOLDS_ERRORS: bool = true;
    type Formatter = LineFormatter<'a>;

    fn formatter(&self) -> LineFormatter<'a> {
        self.formatter
    }

    fn write(&mut self, texts: Vec<SecretOctets>) -> Result<(), Failure> {
        texts.iter().try_for_each(|text| self.output.write_bytes(text))?;
        // All threads zeroize the texts.
        self.formatter.engine.install(|| texts.into_par_iter().for_each(drop));
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        self.output.finish()
    }
}
