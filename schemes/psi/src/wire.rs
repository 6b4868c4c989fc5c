//! The messages of the protocol on a stream.
//!
//! Both parties begin with a [`Hello`]. Then come frames: a byte for the kind, the number of records as four
//! bytes, and the records. All numbers are little-endian, elements big-endian.

use crate::reveal::Reveal;
use crate::{Elements, Error, Group, TAG_OCTETS, Tag};
use std::io::{ErrorKind, Read, Write};

/// The first bytes of a stream: the protocol and its version.
const MAGIC: [u8; 12] = *b"modmill-psi1";

/// The most records of a frame: it bounds the memory that a frame of the other party takes.
pub(crate) const MOST_RECORDS: usize = 1 << 16;

/// The most items that a party may announce. Memory and files follow what arrives, and not what is announced.
pub(crate) const MOST_ITEMS: u64 = 1 << 40;

/// The first message of a party: its role and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) is_receiver: bool,
    pub(crate) group: Group,
    pub(crate) reveal: Reveal,
    /// Elements that the party will send.
    pub(crate) items: u64,
}

/// Some records of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Items that the party has blinded.
    Elements(Elements),
    /// Tags of items that the other party had blinded.
    Tags(Vec<Tag>),
    /// The party has sent all of its elements.
    EndOfElements,
    /// The party has sent all tags.
    EndOfTags,
}

const ELEMENTS: u8 = 1;
const TAGS: u8 = 2;

impl Hello {
    pub(crate) fn write(&self, stream: &mut impl Write) -> Result<(), Error> {
        let mut octets = MAGIC.to_vec();
        octets.extend([u8::from(self.is_receiver), self.group as u8, self.reveal as u8]);
        octets.extend(self.items.to_le_bytes());
        stream.write_all(&octets).and_then(|()| stream.flush()).map_err(Error::stream)
    }

    /// Reads the other party's hello. It has to be the other role with the same group and the same answer.
    pub(crate) fn read_counterpart(&self, stream: &mut impl Read) -> Result<Self, Error> {
        let mut octets = [0; MAGIC.len() + 11];
        read_exact(stream, &mut octets, || "before its first message was complete".into())?;
        let (magic, rest) = octets.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(Error::Peer("does not speak this protocol or another version of it".into()));
        }
        if rest[0] == u8::from(self.is_receiver) {
            let role = if self.is_receiver { "receives" } else { "sends" };
            return Err(Error::Peer(format!("{role} too: one party has to send and the other to receive")));
        }
        if rest[0] != u8::from(!self.is_receiver) {
            return Err(Error::Peer(format!("has the unknown role {}", rest[0])));
        }
        if (rest[1], rest[2]) != (self.group as u8, self.reveal as u8) {
            let [ours, theirs] =
                [(self.group as u8, self.reveal as u8), (rest[1], rest[2])].map(|(group, reveal)| {
                    let group = Group::ALL.get(usize::from(group)).map_or("unknown", |group| group.name());
                    format!("group {group}, revealing {}", if reveal == 0 { "items" } else { "their number" })
                });
            return Err(Error::Peer(format!("has other settings ({theirs}) than this one ({ours})")));
        }
        let items = rest[3..].iter().rev().fold(0, |items, &octet| items << 8 | u64::from(octet));
        if items > MOST_ITEMS {
            return Err(Error::Peer(format!("announced {items} elements; the limit is {MOST_ITEMS}")));
        }
        Ok(Self { is_receiver: !self.is_receiver, items, ..*self })
    }
}

/// Writes at most [`MOST_RECORDS`] elements.
pub(crate) fn write_elements(octets: &[u8], group: Group, stream: &mut impl Write) -> Result<(), Error> {
    write(ELEMENTS, octets.len() / group.octets(), octets, stream)
}

/// Writes at most [`MOST_RECORDS`] tags.
pub(crate) fn write_tags(tags: &[Tag], stream: &mut impl Write) -> Result<(), Error> {
    write(TAGS, tags.len(), tags.as_flattened(), stream)
}

/// Writes that no more elements come: a frame of none.
pub(crate) fn write_end_of_elements(stream: &mut impl Write) -> Result<(), Error> {
    write(ELEMENTS, 0, &[], stream)
}

/// Writes that no more tags come: a frame of none.
pub(crate) fn write_end_of_tags(stream: &mut impl Write) -> Result<(), Error> {
    write(TAGS, 0, &[], stream)
}

fn write(kind: u8, records: usize, octets: &[u8], stream: &mut impl Write) -> Result<(), Error> {
    debug_assert!(records <= MOST_RECORDS);
    let mut head = [kind, 0, 0, 0, 0];
    head[1..].copy_from_slice(&(records as u32).to_le_bytes());
    let written =
        stream.write_all(&head).and_then(|()| stream.write_all(octets)).and_then(|()| stream.flush());
    written.map_err(Error::stream)
}

/// The frames of the other party, with the records that came so far.
pub(crate) struct Frames<R> {
    pub(crate) group: Group,
    pub(crate) reader: R,
    /// Elements so far, and those that were announced.
    pub(crate) elements: (u64, u64),
    /// Tags so far, and those that are due.
    pub(crate) tags: (u64, u64),
}

impl<R: Read> Frames<R> {
    /// Frames of `elements` elements and `tags` tags in all.
    pub(crate) fn new(group: Group, reader: R, elements: u64, tags: u64) -> Self {
        Self { group, reader, elements: (0, elements), tags: (0, tags) }
    }

    /// Reads a frame. Records beyond their number are refused, and so is an end before all of them came.
    pub(crate) fn read(&mut self) -> Result<Frame, Error> {
        let mut head = [0; 5];
        self.fill(&mut head)?;
        let [kind, count @ ..] = head;
        let records = u32::from_le_bytes(count) as usize;
        if records > MOST_RECORDS {
            return Err(Error::Peer(format!(
                "sent a frame of {records} records; the limit is {MOST_RECORDS}"
            )));
        }
        let (octets, due, (done, total)) = match kind {
            ELEMENTS => (self.group.octets(), "elements that it announced", self.elements),
            TAGS => (TAG_OCTETS, "tags that are due", self.tags),
            _ => return Err(Error::Peer(format!("sent a frame of the unknown kind {kind}"))),
        };
        let after = done + records as u64;
        if after > total {
            return Err(Error::Peer(format!("sent more than the {total} {due}")));
        }
        if records == 0 && done < total {
            return Err(Error::Peer(format!("sent {done} of the {total} {due}")));
        }
        let mut body = vec![0; records * octets];
        self.fill(&mut body)?;
        let frame = match (kind, records) {
            (ELEMENTS, 0) => Frame::EndOfElements,
            (ELEMENTS, _) => Frame::Elements(self.checked(&body)?),
            (_, 0) => Frame::EndOfTags,
            _ => Frame::Tags(body.as_chunks().0.to_vec()),
        };
        match kind {
            ELEMENTS => self.elements.0 = after,
            _ => self.tags.0 = after,
        }
        Ok(frame)
    }

    fn checked(&self, octets: &[u8]) -> Result<Elements, Error> {
        Elements::from_octets(self.group, octets).map_err(|error| match error {
            Error::Element { index } => {
                let index = self.elements.0 + index as u64;
                Error::Peer(format!("sent element {index}, which is not between 2 and p - 2"))
            }
            other => other,
        })
    }

    fn fill(&mut self, octets: &mut [u8]) -> Result<(), Error> {
        let (elements, tags) = (self.elements, self.tags);
        read_exact(&mut self.reader, octets, || match tags.1 {
            0 => format!("after {} of {} elements", elements.0, elements.1),
            due => format!("after {} of {} elements and {} of {due} tags", elements.0, elements.1, tags.0),
        })
    }
}

/// Fills `octets` from the stream. `place` says where the other party was if the stream ends before.
fn read_exact(
    stream: &mut impl Read,
    octets: &mut [u8],
    place: impl FnOnce() -> String,
) -> Result<(), Error> {
    stream.read_exact(octets).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => Error::Peer(format!("closed the connection {}", place())),
        _ => Error::stream(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Hello =
        Hello { is_receiver: true, group: Group::Ffdhe3072, reveal: Reveal::Items, items: 77 };

    fn answer(hello: Hello) -> Result<Hello, Error> {
        let mut octets = Vec::new();
        hello.write(&mut octets).unwrap();
        HELLO.read_counterpart(&mut &octets[..])
    }

    #[test]
    fn parties_have_to_agree() {
        let sender = Hello { is_receiver: false, items: MOST_ITEMS, ..HELLO };
        assert_eq!(answer(sender).unwrap(), sender);
        let refused = |hello| answer(hello).unwrap_err().to_string();
        assert!(refused(HELLO).contains("receives too"));
        assert!(
            refused(Hello { group: Group::Ffdhe2048, ..sender }).contains("group ffdhe2048, revealing items")
        );
        assert!(refused(Hello { reveal: Reveal::Size, ..sender }).contains("their number"));
        let garbage = HELLO.read_counterpart(&mut &[b'x'; 40][..]).unwrap_err();
        assert!(garbage.to_string().contains("does not speak this protocol"));
        let silent = HELLO.read_counterpart(&mut &b"modmill-psi1"[..]).unwrap_err();
        assert!(
            matches!(&silent, Error::Peer(text) if text.contains("before its first message")),
            "{silent}"
        );
        // More than anybody has, and a role that is none.
        assert!(refused(Hello { items: MOST_ITEMS + 1, ..sender }).contains("announced 1099511627777"));
        let mut octets = Vec::new();
        sender.write(&mut octets).unwrap();
        for role in [2, 0x80, 0xff] {
            octets[MAGIC.len()] = role;
            let error = HELLO.read_counterpart(&mut &octets[..]).unwrap_err();
            assert!(error.to_string().contains(&format!("unknown role {role}")), "{error}");
        }
    }

    #[test]
    fn frames_are_read_back() {
        let group = Group::Ffdhe2048;
        let octets = [[0; 255].as_slice(), &[4], &[1; 256]].concat();
        let mut stream = Vec::new();
        write_elements(&octets, group, &mut stream).unwrap();
        write_tags(&[[1; 16], [2; 16]], &mut stream).unwrap();
        write_end_of_elements(&mut stream).unwrap();
        write_end_of_tags(&mut stream).unwrap();
        let mut frames = Frames::new(group, &stream[..], 2, 2);
        let elements = Elements::from_octets(group, &octets).unwrap();
        assert_eq!(frames.read().unwrap(), Frame::Elements(elements));
        assert_eq!(frames.read().unwrap(), Frame::Tags(vec![[1; 16], [2; 16]]));
        assert_eq!(frames.read().unwrap(), Frame::EndOfElements);
        assert_eq!(frames.read().unwrap(), Frame::EndOfTags);
        let end = frames.read().unwrap_err().to_string();
        assert_eq!(end, "the other party closed the connection after 2 of 2 elements and 2 of 2 tags");
    }

    #[test]
    fn bad_frames_are_refused() {
        let refused = |octets: &[u8]| {
            let error = Frames::new(Group::Ffdhe2048, octets, 5, 0).read().unwrap_err();
            assert!(matches!(error, Error::Peer(_)), "{error}");
            error.to_string()
        };
        assert!(refused(&[9, 0, 0, 0, 0]).contains("unknown kind 9"));
        assert!(refused(&[1, 1, 0, 1, 0]).contains("65537 records"));
        assert!(refused(&[1, 1, 0, 0, 0, 7]).contains("closed the connection after 0 of 5 elements"));
        assert!(refused(&[1, 6, 0, 0, 0]).contains("more than the 5 elements"));
        assert!(refused(&[1, 0, 0, 0, 0]).contains("sent 0 of the 5 elements"));
        assert!(refused(&[2, 1, 0, 0, 0]).contains("more than the 0 tags"));
        let element = [[0; 255].as_slice(), &[4]].concat();
        let second = [[1, 2, 0, 0, 0].as_slice(), &element, &[255; 256]].concat();
        assert!(refused(&second).contains("sent element 1, which is not between"));
    }
}
