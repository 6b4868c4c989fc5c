//! Lines on standard error.
//!
//! A thread of its own writes them. Whoever logs waits for nothing: if standard error cannot be written, or
//! is read too slowly, lines are lost and counted ([`modmill_server::log`]).

use crate::failure::Failure;
use modmill_server::log;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;

/// Lines that wait to be written at most.
const WAITING: usize = 1024;

/// How long the end of the program waits for lines to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// How lines are written.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

/// A message to the thread that writes the log.
enum Message {
    Line(Vec<u8>),
    /// All lines before this are written when the sender is dropped.
    Flush(Sender<()>),
}

/// The lines of the process. When it is dropped, lines that wait are written.
pub(super) struct Lines(SyncSender<Message>);

impl Drop for Lines {
    fn drop(&mut self) {
        let (flushed, waits) = channel();
        if self.0.try_send(Message::Flush(flushed)).is_ok() {
            // It fails when the lines are written, and when the time is over.
            let _ = waits.recv_timeout(PATIENCE);
        }
    }
}

/// The place of one line.
struct Line(SyncSender<Message>);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.try_send(Message::Line(line.to_vec())).is_err() {
            log::lose();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what the service says to standard error from now on.
pub(super) fn start(format: LogFormat) -> Result<Lines, Failure> {
    let (sender, messages) = sync_channel(WAITING);
    let thread = std::thread::Builder::new().name("modmill-log".to_owned());
    let spawned = thread.spawn(move || write(&messages, io::stderr()));
    spawned.map_err(|error| Failure::Usage(format!("threads cannot be started: {error}")))?;
    let lines = Lines(sender.clone());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || Line(sender.clone()))
        .with_max_level(LevelFilter::INFO)
        .log_internal_errors(false);
    match format {
        LogFormat::Text => subscriber.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => subscriber.json().init(),
    }
    log::take_panics();
    Ok(lines)
}

/// Writes lines until nobody can send more.
fn write(messages: &Receiver<Message>, mut to: impl Write) {
    for message in messages {
        match message {
            Message::Line(line) => {
                if to.write_all(&line).is_err() {
                    log::lose();
                }
            }
            Message::Flush(flushed) => drop(flushed),
        }
    }
}
