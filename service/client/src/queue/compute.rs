//! Computing a batch.

use super::request::Asker;
use modmill::Engine;
use modmill_gather::{Part, Piece, Work, compute as together};

/// The answers of pieces that are one batch.
pub(super) fn compute(engine: &Engine, pieces: &[Piece<Asker>]) -> Result<Vec<Part>, String> {
    let by_engine = || together(engine, pieces);
    let [Piece { call, .. }] = pieces else { return by_engine() };
    match (&call.caller.key.alone, &call.work) {
        (Some(alone), Work::Private { key, tasks }) => match &tasks[..] {
            [task] => alone.compute(key, task, by_engine),
            _ => by_engine(),
        },
        _ => by_engine(),
    }
}
