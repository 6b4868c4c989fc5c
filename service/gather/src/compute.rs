//! Computing a batch of pieces.

use crate::{Answer, Caller, Part, Piece, Refused, Work};
use modmill::Engine;
use modmill_rsa::{Digest, ItemError, Keys, PrivateKey, PrivateTask, PublicKey, PublicTask, Rsa};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zeroize::Zeroizing;

/// Computes pieces, which are all private or all public, in one batch. Every piece gets a part with as many
/// answers as it has items.
pub fn compute<C: Caller>(engine: &Engine, pieces: &[Piece<C>]) -> Result<Vec<Part>, String> {
    let work = || match pieces {
        [Piece { call, items }] if matches!(call.work, Work::Rows { .. }) => rows(engine, &call.work, items),
        pieces if pieces.iter().any(|piece| matches!(piece.call.work, Work::Public { .. })) => {
            public(engine, pieces)
        }
        pieces => private(engine, pieces),
    };
    // A panic costs the answers of this batch. The engine's locks may be poisoned, which it takes for
    // unpoisoned, and nothing of the batch is looked at again.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(parts) => parts.map_err(|error| error.to_string()),
        Err(_) => Err("it panicked in the middle of a batch".to_owned()),
    }
}

/// Answers the calls of pieces, or ends them if there are no answers.
pub fn hand_out<C: Caller>(pieces: &[Piece<C>], computed: Result<Vec<Part>, String>) {
    match computed {
        Ok(parts) => {
            pieces.iter().zip(parts).for_each(|(piece, part)| piece.call.answer(piece.items.start, part));
        }
        Err(error) => pieces.iter().for_each(|piece| piece.call.refuse(Refused::Failed(error.clone()))),
    }
}

/// Signs digests of one call.
fn rows(
    engine: &Engine,
    work: &Work,
    items: &std::ops::Range<usize>,
) -> Result<Vec<Part>, modmill_rsa::Error> {
    let Work::Rows { key, scheme, digests } = work else { return Ok(Vec::new()) };
    let size = scheme.hash().len();
    let digests: Vec<&[u8]> = digests[items.start * size..items.end * size].chunks_exact(size).collect();
    Ok(vec![Part::Rows(Rsa::new(engine).sign_digests_rows(&**key, *scheme, &digests)?)])
}

fn private<C: Caller>(engine: &Engine, pieces: &[Piece<C>]) -> Result<Vec<Part>, modmill_rsa::Error> {
    let (mut keys, mut tasks): (Vec<&PrivateKey>, Vec<Cow<'_, PrivateTask>>) = (Vec::new(), Vec::new());
    for Piece { call, items } in pieces {
        match &call.work {
            Work::Private { key, tasks: of_call } => {
                keys.extend(items.clone().map(|_| &**key));
                tasks.extend(of_call[items.clone()].iter().map(Cow::Borrowed));
            }
            Work::Rows { key, scheme, digests } => {
                let size = scheme.hash().len();
                keys.extend(items.clone().map(|_| &**key));
                let digests = digests[items.start * size..items.end * size].chunks_exact(size);
                let digests = digests.filter_map(Digest::from_bytes);
                tasks.extend(digests.map(|digest| Cow::Owned(PrivateTask::Sign { scheme: *scheme, digest })));
            }
            Work::Public { .. } => {}
        }
    }
    // Private keys are compared by their addresses, never by their numbers.
    let answers =
        Rsa::new(engine).private_tasks(keys_of(&keys, |one, other| std::ptr::eq(one, other)), &tasks)?;
    Ok(split(pieces, answers.into_iter()))
}

fn public<C: Caller>(engine: &Engine, pieces: &[Piece<C>]) -> Result<Vec<Part>, modmill_rsa::Error> {
    let (mut keys, mut tasks): (Vec<&PublicKey>, Vec<&PublicTask>) = (Vec::new(), Vec::new());
    for Piece { call, items } in pieces {
        if let Work::Public { key, tasks: of_call } = &call.work {
            keys.extend(items.clone().map(|_| key));
            tasks.extend(&of_call[items.clone()]);
        }
    }
    let answers = Rsa::new(engine).public_tasks(keys_of(&keys, PublicKey::eq), &tasks)?;
    Ok(split(pieces, answers.into_iter().map(|answer| answer.map(Zeroizing::new))))
}

/// One key if all items have it: a batch with one key is faster.
fn keys_of<'a, K>(keys: &'a [&'a K], is_same: impl Fn(&K, &K) -> bool) -> Keys<'a, K> {
    match keys {
        [first, others @ ..] if others.iter().all(|other| is_same(first, other)) => Keys::One(first),
        _ => Keys::Each(keys),
    }
}

/// The answers of all pieces, piece by piece.
fn split<C: Caller>(pieces: &[Piece<C>], mut answers: impl Iterator<Item = Answer>) -> Vec<Part> {
    let part = |piece: &Piece<C>| {
        let answers = piece.items.clone().map(|_| answers.next().unwrap_or(Err(ItemError::Fault)));
        Part::Items(answers.collect())
    };
    pieces.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Reply};
    use modmill::Backend;
    use modmill_rsa::{Hash, SignatureScheme, Sizes};
    use std::sync::Arc;
    use std::time::Instant;

    struct Nobody;

    impl Caller for Nobody {
        type Way = ();

        fn principal(&self) -> &str {
            ""
        }

        fn is_late(&self, _: Instant) -> bool {
            false
        }

        fn is_wanted((): &()) -> bool {
            true
        }

        fn send((): (), _: Reply) {}
    }

    #[test]
    fn clones_of_a_public_key_are_one_key() {
        let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
        let public = || PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap().public_key().clone();
        let (one, other) = (public(), public());
        assert!(matches!(keys_of(&[&one, &one.clone()], PublicKey::eq), Keys::One(_)));
        assert!(matches!(keys_of(&[&one, &other], PublicKey::eq), Keys::Each(_)));
    }

    #[test]
    fn a_panic_costs_one_batch() {
        let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
        let key = Arc::new(PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap());
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let work = Work::Rows { key, scheme, digests: vec![0; 64].into() };
        let call = Call::new(Nobody, work, ());
        let piece = |items| Piece { call: Arc::clone(&call), items };
        assert!(compute(&engine, &[piece(0..1000)]).is_err());
        assert_eq!(compute(&engine, &[piece(0..2)]).unwrap()[0].len(), 2);
    }
}
