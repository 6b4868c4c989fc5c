//! Private operations as the audit log notes them.

use super::task::Origin;
use crate::audit::{Entry, Subject};
use crate::sha256::sha256;
use modmill_gather::{Part, Piece, Work};
use modmill_rsa::PrivateTask;

/// One entry for each operation of a piece, or one for a piece of many digests. Public operations have none.
pub(super) fn entries<'a>(piece: &'a Piece<Origin>, part: &'a Part) -> Vec<Entry<'a>> {
    let origin = &piece.call.caller;
    let outcome = |item: usize| part.get(item).err().map(ToString::to_string);
    match &piece.call.work {
        Work::Private { tasks, .. } => {
            let entry = |(item, task): (usize, &'a PrivateTask)| {
                let subject = match task {
                    PrivateTask::Sign { digest, .. } => Subject::Digest(digest.as_ref()),
                    PrivateTask::Decrypt { ciphertext, .. } => Subject::Hashed(sha256(&[ciphertext])),
                    PrivateTask::Raw { number } => Subject::Hashed(sha256(&[number])),
                };
                Entry { origin, subject, error: outcome(item) }
            };
            tasks[piece.items.clone()].iter().enumerate().map(entry).collect()
        }
        Work::Rows { scheme, digests, .. } => {
            let size = scheme.hash().len();
            let digests = &digests[piece.items.start * size..piece.items.end * size];
            let failed = (0..part.len()).filter(|&item| part.get(item).is_err()).count();
            let error = (failed > 0).then(|| format!("{failed} of {} have no signature", part.len()));
            vec![Entry { origin, subject: Subject::Digests { digests, count: piece.items.len() }, error }]
        }
        Work::Public { .. } => Vec::new(),
    }
}
