//! A party that breaks the protocol: what it sends is refused with a reason, and nothing is lost silently.

use modmill::Engine;
use modmill_psi::{Error, Group, Outcome, Party, Receiver, Reveal, Sender};
use modmill_testing::rng::Rng;
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());
const GROUP: Group = Group::Ffdhe2048;
const ELEMENTS: u8 = 1;
const TAGS: u8 = 2;

fn hello(role: u8, reveal: u8, items: u64) -> Vec<u8> {
    [b"modmill-psi1".as_slice(), &[role, 0, reveal], &items.to_le_bytes()].concat()
}

fn frame(kind: u8, records: &[Vec<u8>]) -> Vec<u8> {
    [&[kind][..], &(records.len() as u32).to_le_bytes(), &records.concat()].concat()
}

fn element(low: u64) -> Vec<u8> {
    [vec![0; GROUP.octets() - 8], low.to_be_bytes().to_vec()].concat()
}

fn elements(numbers: &[u64]) -> Vec<u8> {
    frame(ELEMENTS, &numbers.iter().map(|&number| element(number)).collect::<Vec<_>>())
}

fn tags(count: u8) -> Vec<u8> {
    frame(TAGS, &(0..count).map(|tag| vec![tag; 16]).collect::<Vec<_>>())
}

/// The receiver of three items reads these messages.
fn receive(messages: &[u8]) -> Result<Outcome, Error> {
    let receiver = Receiver::new(&ENGINE, Party::new(GROUP).unwrap());
    receiver.run(["ann", "ben", "cid"], messages, std::io::sink())
}

/// The messages of an honest sender of three items.
fn honest() -> Vec<u8> {
    let parts = [
        hello(0, 0, 3),
        elements(&[4, 5]),
        tags(2),
        elements(&[9]),
        frame(ELEMENTS, &[]),
        tags(1),
        frame(TAGS, &[]),
    ];
    parts.concat()
}

#[track_caller]
fn refused(parts: &[Vec<u8>], reason: &str) {
    let error = receive(&parts.concat()).unwrap_err();
    assert!(matches!(&error, Error::Peer(text) if text.contains(reason)), "{error}");
}

#[test]
fn sets_that_are_short_unsorted_or_repeated_are_refused() {
    assert_eq!(receive(&honest()).unwrap(), Outcome::Items(vec![]));
    let rest = [frame(ELEMENTS, &[]), tags(3), frame(TAGS, &[])].concat();
    let sends = |announced: u64, frames: Vec<u8>| [hello(0, 0, announced), frames, rest.clone()];
    refused(&sends(3, elements(&[4, 5])), "sent 2 of the 3 elements that it announced");
    refused(&sends(1 << 40, elements(&[4, 5])), "sent 2 of the 1099511627776 elements");
    refused(&sends(1 << 63, elements(&[4, 5])), "announced 9223372036854775808 elements; the limit is");
    refused(&sends(1, elements(&[4, 5])), "more than the 1 elements");
    for numbers in [&[4, 9, 5], &[4, 4, 5], &[5, 9, 9], &[9, 5, 4]] {
        refused(&sends(3, elements(numbers)), "repeated or not in ascending order");
        let cut = [elements(&numbers[..2]), elements(&numbers[2..])].concat();
        refused(&sends(3, cut), "repeated or not in ascending order");
    }
    for number in [0, 1] {
        refused(&sends(3, elements(&[4, number, 9])), "sent element 1, which is not between 2 and p - 2");
    }
    refused(&[hello(0x80, 0, 0), rest.clone()], "unknown role 128");
    refused(&[hello(0, 0, 0), frame(ELEMENTS, &[]), tags(2), frame(TAGS, &[])], "sent 2 of the 3 tags");
}

#[test]
fn a_stream_that_ends_says_where() {
    let messages = honest();
    for length in (0..messages.len()).step_by(7) {
        let error = receive(&messages[..length]).unwrap_err();
        assert!(matches!(&error, Error::Peer(text) if text.starts_with("closed the connection")), "{error}");
    }
    let first = [hello(0, 0, 3), elements(&[4, 5]), tags(2)];
    refused(&first, "closed the connection after 2 of 3 elements and 2 of 3 tags");
    let sender = Sender::new(&ENGINE, Party::new(GROUP).unwrap()).reveal(Reveal::Size);
    let messages = [hello(1, 1, 5), elements(&[9, 4])].concat();
    let error = sender.run(["ann"], &messages[..], std::io::sink()).unwrap_err().to_string();
    assert_eq!(error, "the other party closed the connection after 2 of 5 elements");
}

/// An item that comes twice is announced and sent once.
#[test]
fn senders_announce_what_they_send() {
    let mut written = Vec::new();
    let messages = [hello(1, 0, 0), frame(ELEMENTS, &[])].concat();
    let sender = Sender::new(&ENGINE, Party::new(GROUP).unwrap());
    assert_eq!(sender.run(["ann", "ben", "ann", "ann"], &messages[..], &mut written).unwrap(), 0);
    assert_eq!(written[..23], hello(0, 0, 2));
}

/// Changed messages are answered or refused, and never end in a panic. `MODMILL_TEST_MUTATIONS` is how often
/// as many are tried.
#[test]
fn changed_messages_are_answered_or_refused() {
    let times = std::env::var("MODMILL_TEST_MUTATIONS").map_or(1, |text| text.parse::<usize>().unwrap());
    let messages = honest();
    let mut rng = Rng::new(1);
    let mut draw = |below: usize| rng.below(below);
    for _ in 0..400 * times {
        let mut changed = messages.clone();
        for _ in 0..=draw(3) {
            // Heads of messages are hit more often than the bytes of elements.
            let heads = [0, 12, 13, 14, 15, 16, 22, 23, 24, 25, 540, 541, 577, 578, 838, 839];
            let place = if draw(2) == 0 { heads[draw(heads.len())] } else { draw(changed.len()) };
            match draw(4) {
                0 => changed[place] ^= 1 << draw(8),
                1 => changed[place] = [0, 1, 0x7f, 0x80, 0xff][draw(5)],
                2 => drop(changed.drain(place..(place + draw(300)).min(changed.len()))),
                _ => changed.splice(place..place, messages[draw(messages.len())..].to_vec()).for_each(drop),
            }
            changed.resize(changed.len().max(messages.len()), 0);
        }
        match receive(&changed) {
            Ok(outcome) => assert_eq!(outcome, Outcome::Items(vec![])),
            Err(error) => assert!(matches!(error, Error::Peer(_)), "{error}"),
        }
    }
}
