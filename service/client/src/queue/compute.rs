//! Computing a batch.

use super::request::{Request, all_failed};
use crate::{Answer, Error, Task};
use modmill::Engine;
use modmill_rsa::{ItemError, PrivateKey, Rsa};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The answers of requests whose keys have one length, in order.
pub(super) fn compute(engine: &Engine, requests: &[Request]) -> Vec<Answer> {
    let [Request { key, task, .. }] = requests else { return together(engine, requests) };
    let Some(alone) = &key.alone else { return together(engine, requests) };
    let by_engine = || {
        let missing = || Err(ItemError::Fault.into());
        together(engine, requests).pop().unwrap_or_else(missing)
    };
    let work = || alone.compute(&key.private, task, by_engine);
    catch_unwind(AssertUnwindSafe(work)).map_or_else(|_| all_failed(1, "it panicked"), |answer| vec![answer])
}

/// The answers of requests as one batch of the engine.
fn together(engine: &Engine, requests: &[Request]) -> Vec<Answer> {
    let work = || {
        let tasks: Vec<&Task> = requests.iter().map(|request| &request.task).collect();
        let each: Vec<&PrivateKey> = requests.iter().map(|request| &request.key.private).collect();
        Rsa::new(engine).private_tasks(&each[..], &tasks)
    };
    // A panic costs the answers of this batch. Locks of the engine that it poisoned are taken for unpoisoned.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(answers)) if answers.len() == requests.len() => {
            answers.into_iter().map(|answer| answer.map_err(Error::from)).collect()
        }
        Ok(Ok(_)) => requests.iter().map(|_| Err(ItemError::Fault.into())).collect(),
        Ok(Err(error)) => all_failed(requests.len(), &error.to_string()),
        Err(_) => all_failed(requests.len(), "it panicked"),
    }
}
