//! The ports of one bank around the border of two stages, as a logic analyser shows them.

use super::canvas::{Anchor, COLOURS, Canvas, GRID, INK, MUTED};
use crate::design::Design;
use crate::error::{Error, Port};
use crate::multiplier::{Multiplier, Ports};

const LEFT: f64 = 150.0;
const STEP: f64 = 44.0;
const TOP: f64 = 56.0;
const ROW: f64 = 36.0;
const HIGH: f64 = 22.0;
/// Cycles before and after the border.
const BEFORE: u64 = 4;
const CYCLES: u64 = 32;

/// A signal: its name and its value in each cycle.
struct Signal {
    name: String,
    colour: &'static str,
    values: Vec<Option<String>>,
}

/// A picture of the ports of bank 0 of both memories, from four cycles before the stage `stage` begins.
///
/// # Errors
///
/// [`Error::Design`] if the design has no such stage.
pub fn waveform(design: Design, stage: &str) -> Result<String, Error> {
    let mut machine = Multiplier::new(design)?;
    if !design.sequence().into_iter().any(|other| design.stage_name(other) == stage) {
        return Err(Error::Design(format!(
            "there is no stage {stage}: the stages are F1 to F{0} and I1 to I{0}",
            design.stages
        )));
    }
    // A first run finds the cycle in which the stage begins.
    machine.offer(&[1], &[1])?;
    let mut first = machine.clone();
    while first.next_step() != Some((stage, 0)) {
        first.clock(Ports::OPEN)?;
    }
    let from = first.cycle().saturating_sub(BEFORE);
    while machine.cycle() < from {
        machine.clock(Ports::OPEN)?;
    }
    Ok(draw(&format!("Bank 0 around the first step of {stage}"), from, &trace(&mut machine)?))
}

/// Clocks the machine and notes its signals.
fn trace(machine: &mut Multiplier) -> Result<Vec<Signal>, Error> {
    let signal = |name: &str, colour| Signal { name: name.to_owned(), colour, values: Vec::new() };
    let mut signals = vec![signal("stage", COLOURS[0]), signal("step", COLOURS[0])];
    for memory in ["A", "B"] {
        signals.push(signal(&format!("{memory}: row read"), COLOURS[2]));
        signals.push(signal(&format!("{memory}: row written"), COLOURS[1]));
    }
    for _ in 0..CYCLES {
        let cycle = machine.cycle();
        let (stage, step) =
            machine.next_step().map(|(stage, step)| (stage.to_owned(), format!("{step:03x}"))).unzip();
        machine.clock(Ports::OPEN)?;
        let rows = machine.memories().iter().flat_map(|memory| {
            [Port::Read, Port::Write].map(|port| memory.used(cycle, 0, port).map(|row| format!("{row:03x}")))
        });
        let values = [stage, step].into_iter().chain(rows);
        for (signal, value) in signals.iter_mut().zip(values) {
            signal.values.push(value);
        }
    }
    Ok(signals)
}

fn draw(title: &str, from: u64, signals: &[Signal]) -> String {
    let width = LEFT + STEP * CYCLES as f64 + 16.0;
    let height = TOP + ROW * (signals.len() + 1) as f64 + 8.0;
    let mut canvas = Canvas::new(width, height, title);
    canvas.text(12.0, 20.0, Anchor::Start, 14.0, INK, title);
    canvas.text(LEFT - 10.0, TOP - 8.0, Anchor::End, 11.5, MUTED, "cycle");
    canvas.text(LEFT - 10.0, TOP + 17.0, Anchor::End, 12.5, INK, "clock");
    for index in 0..CYCLES {
        let x = LEFT + STEP * index as f64;
        canvas.line((x, TOP), (x, height - 8.0), GRID);
        canvas.text(x + STEP / 2.0, TOP - 8.0, Anchor::Middle, 10.0, MUTED, &(from + index).to_string());
        let (low, high) = (TOP + HIGH, TOP + 4.0);
        let clock = [(x, low), (x, high), (x + STEP / 2.0, high), (x + STEP / 2.0, low), (x + STEP, low)];
        canvas.path(&clock, MUTED);
    }
    for (row, signal) in signals.iter().enumerate() {
        let y = TOP + ROW * (row + 1) as f64;
        canvas.text(LEFT - 10.0, y + 17.0, Anchor::End, 12.5, INK, &signal.name);
        draw_values(&mut canvas, signal, y);
    }
    canvas.finish()
}

/// Equal values that follow each other share a box, as on a bus. No value is a line in the middle.
fn draw_values(canvas: &mut Canvas, signal: &Signal, y: f64) {
    let (high, low, middle) = (y + 2.0, y + HIGH + 2.0, y + 2.0 + HIGH / 2.0);
    let mut start = 0;
    while start < signal.values.len() {
        let value = &signal.values[start];
        let length = signal.values[start..].iter().take_while(|other| *other == value).count();
        let (x, end) = (LEFT + STEP * start as f64, LEFT + STEP * (start + length) as f64);
        match value {
            None => canvas.line((x, middle), (end, middle), GRID),
            Some(text) => {
                let corners = [
                    (x, middle),
                    (x + 4.0, high),
                    (end - 4.0, high),
                    (end, middle),
                    (end - 4.0, low),
                    (x + 4.0, low),
                ];
                let closed: Vec<_> = corners.into_iter().chain([corners[0]]).collect();
                canvas.path(&closed, signal.colour);
                canvas.text((x + end) / 2.0, middle + 4.0, Anchor::Middle, 11.5, INK, text);
            }
        }
        start += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_follow_reads_by_the_latency() {
        let design = Design::improved().with_stages(2);
        let mut machine = Multiplier::new(design).unwrap();
        machine.offer(&[1], &[1]).unwrap();
        while machine.next_step() != Some(("F2", 0)) {
            machine.clock(Ports::OPEN).unwrap();
        }
        let signals = trace(&mut machine).unwrap();
        let (read, written) = (&signals[2].values, &signals[3].values);
        assert!(read[0].is_some());
        assert_eq!(read[0], written[design.latency]);
        assert!(waveform(design, "F2").unwrap().contains("row written"));
        assert!(waveform(design, "F9").unwrap_err().to_string().contains("I1 to I2"));
    }
}
