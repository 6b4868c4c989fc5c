//! The protocol against plain sets and an independent computation.

use modmill::{Batch, Engine};
use modmill_psi::*;
use num_bigint::BigUint;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

fn party(group: Group) -> Party {
    Party::new(group).unwrap()
}

fn names(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("item {n}")).collect()
}

/// Runs both roles on two ends of a socket. Each end is closed when its role ends, so that an error cannot
/// leave the other waiting.
fn run(
    receiver: Receiver<'_>,
    sender: Sender<'_>,
    hers: &[String],
    his: &[String],
) -> (Result<Outcome, Error>, Result<u64, Error>) {
    let (here, there) = UnixStream::pair().unwrap();
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let answer = sender.run(his, &there, &there);
            let _ = there.shutdown(std::net::Shutdown::Both);
            answer
        });
        let outcome = receiver.run(hers, &here, &here);
        let _ = here.shutdown(std::net::Shutdown::Both);
        (outcome, sending.join().unwrap())
    })
}

fn common(hers: &[String], his: &[String]) -> Vec<u64> {
    let his: HashSet<&String> = his.iter().collect();
    (0..hers.len() as u64).filter(|&index| his.contains(&hers[index as usize])).collect()
}

#[test]
fn intersections_are_those_of_sets() {
    for (group, hers, his) in [
        (Group::Ffdhe2048, names(0..300), names(150..1000)),
        (Group::Ffdhe3072, names(0..40), names(20..50)),
        (Group::Ffdhe4096, names(0..9), names(8..20)),
        (Group::Ffdhe2048, names(0..5), names(5..9)),
        (Group::Ffdhe2048, names(0..5), vec![]),
        (Group::Ffdhe2048, vec![], names(0..5)),
        (Group::Ffdhe2048, vec![], vec![]),
        (
            Group::Ffdhe2048,
            [names(0..3), names(1..4), vec![String::new()]].concat(),
            [names(2..3), names(2..3), vec![String::new()]].concat(),
        ),
    ] {
        let expected = common(&hers, &his);
        for reveal in [Reveal::Items, Reveal::Size] {
            let receiver = Receiver::new(&ENGINE, party(group)).block(64).reveal(reveal);
            let sender = Sender::new(&ENGINE, party(group)).block(100).reveal(reveal);
            let (outcome, items) = run(receiver, sender, &hers, &his);
            let expected = match reveal {
                Reveal::Items => Outcome::Items(expected.clone()),
                Reveal::Size => Outcome::Size(expected.len() as u64),
            };
            assert_eq!(outcome.unwrap(), expected, "{group}");
            assert_eq!(items.unwrap(), hers.len() as u64);
        }
    }
}

#[test]
fn progress_counts_every_item_of_both_stages() {
    let last = std::sync::Mutex::new(Vec::new());
    let receiver = Receiver::new(&ENGINE, party(Group::Ffdhe2048)).block(10).progress(|seen| {
        last.lock().unwrap().push(seen);
        ControlFlow::Continue(())
    });
    let sender = Sender::new(&ENGINE, party(Group::Ffdhe2048)).block(7);
    let (outcome, _) = run(receiver, sender, &names(0..25), &names(20..41));
    assert_eq!(outcome.unwrap(), Outcome::Items((20..25).collect()));
    let last = last.into_inner().unwrap();
    let of = |stage| {
        last.iter().filter(|seen| seen.stage == stage).map(|seen| (seen.done, seen.total)).collect::<Vec<_>>()
    };
    assert_eq!(of(Stage::Own), [(10, 25), (20, 25), (25, 25)]);
    assert_eq!(of(Stage::Other), [(7, 21), (14, 21), (21, 21)]);
}

#[test]
fn a_run_can_be_stopped() {
    let stop = |seen: Progress| match seen.done {
        20 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let receiver = Receiver::new(&ENGINE, party(Group::Ffdhe2048)).block(10).progress(stop);
    let (here, _there) = UnixStream::pair().unwrap();
    assert!(matches!(receiver.run(names(0..25), &here, &here), Err(Error::Stopped)));
}

/// Exponents are even, so that they take every number into the group, and as long as the group asks for.
#[test]
fn parties_differ_and_their_exponents_are_even() {
    for group in Group::ALL {
        let two = Elements::new(group, Batch::from_values([[2]])).unwrap();
        let raised: Vec<_> = (0..3).map(|_| party(group).blind_again(&ENGINE, &two).unwrap()).collect();
        assert!(raised[0] != raised[1] && raised[1] != raised[2]);
    }
}

#[test]
fn parties_that_disagree_stop_with_a_reason() {
    let (outcome, _) = run(
        Receiver::new(&ENGINE, party(Group::Ffdhe2048)),
        Sender::new(&ENGINE, party(Group::Ffdhe3072)),
        &names(0..2),
        &names(0..2),
    );
    assert!(outcome.unwrap_err().to_string().contains("group ffdhe3072"));
    let (outcome, _) = run(
        Receiver::new(&ENGINE, party(Group::Ffdhe2048)),
        Sender::new(&ENGINE, party(Group::Ffdhe2048)).reveal(Reveal::Size),
        &names(0..2),
        &names(0..2),
    );
    assert!(outcome.unwrap_err().to_string().contains("their number"));
}

#[test]
fn a_party_that_falls_silent_is_an_error() {
    let (here, there) = UnixStream::pair().unwrap();
    drop(there);
    let receiver = Receiver::new(&ENGINE, party(Group::Ffdhe2048));
    assert!(matches!(receiver.run(names(0..3), &here, &here), Err(Error::Io { .. })));
}

/// Raising to the exponents of both parties commutes, every element is a square, and the hash is the one that
/// the documentation names.
#[test]
fn elements_are_squares_and_blinding_commutes() {
    for group in [Group::Ffdhe2048, Group::Ffdhe3072] {
        let (a, b) = (party(group), party(group));
        let items = names(0..5);
        let (once_a, once_b) = (a.blind(&ENGINE, &items).unwrap(), b.blind(&ENGINE, &items).unwrap());
        assert_eq!(b.blind_again(&ENGINE, &once_a).unwrap(), a.blind_again(&ENGINE, &once_b).unwrap());
        assert_ne!(once_a, once_b);
        let prime = BigUint::from_bytes_be(&hex_octets(group));
        let half = &prime >> 1;
        for index in 0..5 {
            let element = BigUint::from_bytes_be(&once_a.numbers().to_be_bytes(index));
            assert_eq!(element.modpow(&half, &prime), BigUint::from(1u32), "a square");
        }
        // A number that is no square becomes one: the largest below p - 1 or the second largest, as p = 3
        // modulo 4.
        let minus_four = &prime - 4u32;
        assert_eq!(minus_four.modpow(&half, &prime), &prime - 1u32, "no square");
        let stranger = Elements::from_octets(group, &minus_four.to_bytes_be()).unwrap();
        let raised = a.blind_again(&ENGINE, &stranger).unwrap();
        let raised = BigUint::from_bytes_be(&raised.numbers().to_be_bytes(0));
        assert_eq!(raised.modpow(&half, &prime), BigUint::from(1u32), "a square");
    }
}

fn hex_octets(group: Group) -> Vec<u8> {
    group.modulus().value().iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
}

#[test]
fn elements_outside_of_the_group_are_refused() {
    let group = Group::Ffdhe2048;
    let prime = BigUint::from_bytes_be(&hex_octets(group));
    let element = |number: &BigUint| {
        let octets = number.to_bytes_be();
        [vec![0; 256 - octets.len()], octets].concat()
    };
    let good = element(&(&prime - 2u32));
    assert_eq!(Elements::from_octets(group, &good).unwrap().to_octets(), good);
    assert_eq!(Elements::from_octets(group, &element(&BigUint::from(2u32))).unwrap().len(), 1);
    for bad in [
        BigUint::from(0u32),
        1u32.into(),
        &prime - 1u32,
        prime.clone(),
        &prime + 1u32,
        (BigUint::from(1u32) << 2048) - 1u32,
    ] {
        let octets = [good.clone(), element(&bad)].concat();
        assert!(matches!(Elements::from_octets(group, &octets), Err(Error::Element { index: 1 })), "{bad:x}");
    }
    assert!(matches!(
        Elements::from_octets(group, &[0; 300]),
        Err(Error::Ragged { octets: 300, element: 256 })
    ));
    let other = party(Group::Ffdhe3072).blind_again(&ENGINE, &Elements::from_octets(group, &good).unwrap());
    assert!(matches!(other, Err(Error::OtherGroup { .. })));
    assert_eq!(Elements::new(group, Batch::from_values([[7]])).unwrap().len(), 1);
}

#[test]
fn a_party_is_written_and_read() {
    let engine = Engine::new().unwrap();
    for group in [Group::Ffdhe2048, Group::Ffdhe3072, Group::Ffdhe4096] {
        let first = party(group);
        let octets = first.to_octets();
        let again = Party::from_octets(group, &octets).unwrap();
        let items = [b"one".as_slice(), b"", &[7; 300]];
        assert_eq!(again.blind(&engine, &items).unwrap(), first.blind(&engine, &items).unwrap());
        assert_eq!(*again.to_octets(), *octets);
        let mut odd = octets.to_vec();
        *odd.last_mut().unwrap() |= 1;
        let long = [&[1], &octets[..]].concat();
        let full = vec![0xfe; octets.len() + 8];
        for wrong in [&[][..], &[0], &[0; 32], &odd, &long, &full, &[2; 1000]] {
            let refused = Party::from_octets(group, wrong);
            assert!(matches!(refused, Err(Error::Exponent { .. })), "{wrong:?}");
        }
    }
}
