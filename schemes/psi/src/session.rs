//! The protocol over a stream.
//!
//! | | receiver, with the items x_i | sender, with the items y_j |
//! |---|---|---|
//! | 1 | blinds its items to X_i = H(x_i)^a | blinds its items to Y_j = H(y_j)^b |
//! | 2 | sends the X_i in their order | sends the Y_j in ascending order, each once |
//! | 3 | blinds every Y_j again to Y_j^a and keeps the tag | blinds every X_i again to X_i^b and sends the tag |
//! | 4 | item i is common if its tag is among those of 3 | |
//!
//! The Y_j look like random numbers to the receiver, so that their ascending order tells nothing about the
//! sender's order. Both parties do step 1 at the same time, and step 3 too.

use crate::partitions::Partitions;
use crate::reveal::Reveal;
use crate::wire::{self, Frame, Frames, Hello};
use crate::{Elements, Error, Group, Matcher, Party, TAG_OCTETS, Tag};
use modmill::Engine;
use modmill_core::sync::Mutex;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::thread;
use tempfile::SpooledTempFile;

/// The answer of an intersection, at the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The positions of the common items in the receiver's set, in ascending order.
    Items(Vec<u64>),
    /// The number of the receiver's items that are common.
    Size(u64),
}

/// The stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The party blinds its own items.
    Own,
    /// The party blinds the other's items again.
    Other,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The stage.
    pub stage: Stage,
    /// Items done in this stage.
    pub done: u64,
    /// All items of this stage.
    pub total: u64,
}

/// The settings that receiver and sender have in common.
struct Role<'a> {
    engine: &'a Engine,
    party: Party,
    reveal: Reveal,
    block: usize,
    progress: Box<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync + 'a>,
}

/// The party that learns the intersection.
///
/// ```
/// use modmill::Engine;
/// use modmill_psi::{Group, Outcome, Party, Receiver, Sender};
/// use std::os::unix::net::UnixStream;
///
/// let engine = Engine::new()?;
/// let party = || Party::new(Group::Ffdhe2048);
/// let (receiver, sender) = (Receiver::new(&engine, party()?), Sender::new(&engine, party()?));
/// let (here, there) = UnixStream::pair()?;
/// let outcome = std::thread::scope(|scope| {
///     scope.spawn(|| sender.run(["ben", "dora"], &there, &there));
///     receiver.run(["ann", "ben", "cid"], &here, &here)
/// })?;
/// assert_eq!(outcome, Outcome::Items(vec![1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Receiver<'a>(Role<'a>);

/// The party that learns nothing but the number of the receiver's items. See [`Receiver`].
pub struct Sender<'a>(Role<'a>);

macro_rules! settings {
    ($role:ident) => {
        impl<'a> $role<'a> {
            /// The role with default settings: common items are revealed, and blocks have 16384 items.
            #[must_use]
            pub fn new(engine: &'a Engine, party: Party) -> Self {
                let progress = Box::new(|_| ControlFlow::Continue(()));
                Self(Role { engine, party, reveal: Reveal::Items, block: 1 << 14, progress })
            }

            /// This run with another answer for the receiver. Both parties have to choose the same.
            #[must_use]
            pub fn reveal(mut self, reveal: Reveal) -> Self {
                self.0.reveal = reveal;
                self
            }

            /// This run with blocks of `items` items, 1 to 65536. The items of a block are computed
            /// and sent together.
            #[must_use]
            pub fn block(mut self, items: usize) -> Self {
                self.0.block = items.clamp(1, wire::MOST_RECORDS);
                self
            }

            /// This run with a function that is told after every block how far the run is, and may stop it.
            #[must_use]
            pub fn progress(
                mut self,
                progress: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'a,
            ) -> Self {
                self.0.progress = Box::new(progress);
                self
            }
        }
    };
}

settings!(Receiver);
settings!(Sender);

impl Role<'_> {
    fn group(&self) -> Group {
        self.party.group()
    }

    /// Blinds items block by block and hands each block to `take`. Returns the number of items.
    fn blind_all<T: AsRef<[u8]> + Sync>(
        &self,
        items: impl IntoIterator<Item = T>,
        mut take: impl FnMut(Elements) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut items = items.into_iter();
        // The total is what the iterator says, if it knows.
        let expected = items.size_hint().1.unwrap_or(0) as u64;
        let mut done = 0;
        loop {
            let block: Vec<T> = items.by_ref().take(self.block).collect();
            if block.is_empty() {
                return Ok(done);
            }
            take(self.party.blind(self.engine, &block)?)?;
            done += block.len() as u64;
            self.report(Progress { stage: Stage::Own, done, total: expected.max(done) })?;
        }
    }

    /// Blinds elements of the other party again, and reports progress: `done` elements of `total` with these.
    fn blind_again(&self, elements: &Elements, (done, total): (u64, u64)) -> Result<Vec<Tag>, Error> {
        let tags = self.party.blind_again(self.engine, elements)?.tags();
        self.report(Progress { stage: Stage::Other, done, total })?;
        Ok(tags)
    }

    fn report(&self, progress: Progress) -> Result<(), Error> {
        if (self.progress)(progress).is_break() { Err(Error::Stopped) } else { Ok(()) }
    }
}

impl Receiver<'_> {
    /// Runs the protocol with this party's `items` over a stream, whose two directions are `reader` and
    /// `writer`.
    ///
    /// Items are taken block by block. Their order is that of the positions in the answer. Blinded items and
    /// tags wait in temporary files if they are many. A stream without time limits waits for the other party
    /// as long as it takes. The exponent is used up: a second run under it could be linked to the first.
    pub fn run<T: AsRef<[u8]> + Sync>(
        self,
        items: impl IntoIterator<Item = T>,
        reader: impl Read,
        writer: impl Write + Send,
    ) -> Result<Outcome, Error> {
        let Self(role) = &self;
        let group = role.group();
        let mut blinded = SpooledTempFile::new(1 << 26);
        let items =
            role.blind_all(items, |elements| blinded.write_all(&elements.to_octets()).map_err(Error::file))?;
        blinded.seek(SeekFrom::Start(0)).map_err(Error::file)?;
        let hello = Hello { is_receiver: true, group, reveal: role.reveal, items };
        let (mut reader, mut writer) = (BufReader::new(reader), BufWriter::new(writer));
        hello.write(&mut writer)?;
        let sender = hello.read_counterpart(&mut reader)?;
        thread::scope(|scope| {
            let sending = scope.spawn(move || send_blinded(blinded, items, group, role.block, &mut writer));
            let received = self.receive(Frames::new(group, &mut reader, sender.items, items));
            // If the other party fell silent, its error says more than that of writing to it.
            let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            received.and_then(|outcome| sent.map(|()| outcome))
        })
    }

    /// Reads the sender's frames until both of its streams of records have ended.
    fn receive(&self, mut frames: Frames<impl Read>) -> Result<Outcome, Error> {
        let Self(role) = self;
        let mut matcher = Matcher::new(frames.tags.1, frames.elements.1);
        let mut last = Vec::new();
        let (mut has_elements, mut has_tags) = (true, true);
        while has_elements || has_tags {
            match frames.read()? {
                Frame::Elements(elements) if has_elements => {
                    check_order(&elements, &mut last)?;
                    matcher.add_other(&role.blind_again(&elements, frames.elements)?)?;
                }
                Frame::Tags(tags) if has_tags => matcher.add_own(&tags)?,
                Frame::EndOfElements if has_elements => has_elements = false,
                Frame::EndOfTags if has_tags => has_tags = false,
                _ => return Err(Error::Peer("went on after the end of its records".into())),
            }
        }
        let common = matcher.intersect()?;
        Ok(match role.reveal {
            Reveal::Items => Outcome::Items(common),
            Reveal::Size => Outcome::Size(common.len() as u64),
        })
    }
}

/// Refuses elements that do not ascend. `last` is the element before them, or empty, and becomes their last.
fn check_order(elements: &Elements, last: &mut Vec<u64>) -> Result<(), Error> {
    for element in elements.numbers().iter() {
        if !last.is_empty() && element.iter().rev().le(last.iter().rev()) {
            return Err(Error::Peer("sent elements that are repeated or not in ascending order".into()));
        }
        last.clear();
        last.extend_from_slice(element);
    }
    Ok(())
}

/// Sends the receiver's blinded items from their file.
fn send_blinded(
    mut blinded: impl Read,
    items: u64,
    group: Group,
    block: usize,
    writer: &mut impl Write,
) -> Result<(), Error> {
    let mut left = items;
    let mut octets = vec![0; block * group.octets()];
    while left > 0 {
        let now = left.min(block as u64);
        let octets = &mut octets[..now as usize * group.octets()];
        blinded.read_exact(octets).map_err(Error::file)?;
        wire::write_elements(octets, group, writer)?;
        left -= now;
    }
    wire::write_end_of_elements(writer)
}

impl Sender<'_> {
    /// Runs the protocol with this party's `items` over a stream, whose two directions are `reader` and
    /// `writer`. Returns the number of the receiver's items.
    ///
    /// Items are taken block by block, and an item that comes twice is sent once. Blinded items wait in
    /// temporary files if they are many. [`Receiver::run`] says more.
    pub fn run<T: AsRef<[u8]> + Sync>(
        self,
        items: impl IntoIterator<Item = T>,
        reader: impl Read,
        writer: impl Write + Send,
    ) -> Result<u64, Error> {
        let Self(role) = &self;
        let (group, items) = (role.group(), items.into_iter());
        let expected = items.size_hint().1.unwrap_or(usize::MAX) as u64;
        let parts = Partitions::parts_for(expected.saturating_mul(group.octets() as u64));
        let mut blinded = Partitions::new(group.octets(), parts);
        role.blind_all(items, |elements| {
            elements.to_octets().chunks_exact(group.octets()).try_for_each(|element| blinded.push(element))
        })?;
        // The announced number is that of the items sent: an item that came twice counts once.
        let (blinded, items) = blinded.sorted_once()?;
        let hello = Hello { is_receiver: false, group, reveal: role.reveal, items };
        let (mut reader, mut writer) = (BufReader::new(reader), BufWriter::new(writer));
        hello.write(&mut writer)?;
        let receiver = hello.read_counterpart(&mut reader)?;
        let writer = Mutex::new(writer);
        thread::scope(|scope| {
            let sending = scope.spawn(|| send_sorted(blinded, group, role.block, &writer));
            let answered = self.answer(Frames::new(group, &mut reader, receiver.items, 0), &writer);
            let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            answered.and(sent).map(|()| receiver.items)
        })
    }

    /// Blinds the receiver's elements again and sends their tags.
    fn answer(&self, mut frames: Frames<impl Read>, writer: &Mutex<impl Write>) -> Result<(), Error> {
        let Self(role) = self;
        // For the size alone, the tags wait for the last one, and their order is lost.
        let mut unordered = (role.reveal == Reveal::Size).then(|| {
            let octets = frames.elements.1.saturating_mul(TAG_OCTETS as u64);
            Partitions::new(TAG_OCTETS, Partitions::parts_for(octets))
        });
        loop {
            match frames.read()? {
                Frame::Elements(elements) => {
                    let tags = role.blind_again(&elements, frames.elements)?;
                    match &mut unordered {
                        Some(unordered) => tags.iter().try_for_each(|tag| unordered.push(tag))?,
                        None => wire::write_tags(&tags, &mut *writer.lock())?,
                    }
                }
                Frame::EndOfElements => break,
                Frame::Tags(_) | Frame::EndOfTags => {
                    return Err(Error::Peer("sent tags, which only the sender does".into()));
                }
            }
        }
        for tags in unordered.into_iter().flat_map(Partitions::into_sorted_parts) {
            for tags in tags?.as_chunks().0.chunks(wire::MOST_RECORDS) {
                wire::write_tags(tags, &mut *writer.lock())?;
            }
        }
        wire::write_end_of_tags(&mut *writer.lock())
    }
}

/// Sends the sender's blinded items, which are sorted.
fn send_sorted(
    blinded: Partitions,
    group: Group,
    block: usize,
    writer: &Mutex<impl Write>,
) -> Result<(), Error> {
    for elements in blinded.into_parts() {
        for elements in elements?.chunks(block * group.octets()) {
            wire::write_elements(elements, group, &mut *writer.lock())?;
        }
    }
    wire::write_end_of_elements(&mut *writer.lock())
}
