//! Hexadecimal numbers out: one a line. The line of an answer that is missing is empty.

use super::layout::Layout;
use super::pipeline::{Formatter, Sink};
use super::secret::SecretOctets;
use super::table::Answers;
use crate::failure::Failure;
use crate::io::Output;
use modmill::Engine;
use rayon::prelude::*;

/// Writes a line for each record.
pub(super) struct HexSink<'a> {
    formatter: HexFormatter<'a>,
    output: Output,
}

impl<'a> HexSink<'a> {
    pub(super) fn new(layout: Layout, output: Output, engine: &'a Engine) -> Self {
        Self { formatter: HexFormatter { layout, engine }, output }
    }
}

/// Formats the lines.
#[derive(Clone, Copy)]
pub(super) struct HexFormatter<'a> {
    layout: Layout,
    engine: &'a Engine,
}

impl<O: Send> Formatter<O> for HexFormatter<'_> {
    type Formatted = Vec<SecretOctets>;

    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Vec<SecretOctets>, Failure> {
        let format = |(_, answers): (O, Answers)| {
            // Two digits a byte and a line break: the memory never grows.
            let mut text = SecretOctets::with_capacity(2 * answers.octets_len() + answers.len());
            for answer in answers.iter() {
                if let Ok(octets) = answer {
                    self.layout.notation.append(&mut text, octets);
                }
                text.push(b'\n');
            }
            text
        };
        Ok(self.engine.install(|| pieces.into_par_iter().map(format).collect()))
    }
}

impl<'a, O: Send> Sink<O> for HexSink<'a> {
    const HOLDS_ERRORS: bool = false;
    type Formatter = HexFormatter<'a>;

    fn formatter(&self) -> HexFormatter<'a> {
        self.formatter
    }

    fn write(&mut self, texts: Vec<SecretOctets>) -> Result<(), Failure> {
        texts.iter().try_for_each(|text| self.output.write_bytes(text))
    }

    fn finish(self) -> Result<(), Failure> {
        self.output.finish()
    }
}
