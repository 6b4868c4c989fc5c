//! Changes of what the service keeps: keys, policies, grants, names, credentials. Each is noted in the audit
//! log.

use crate::audit::{Audit, Entry, Subject};
use crate::batch::Origin;
use crate::credentials::Principal;
use crate::uuid;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// A change as the log describes it, whether it was made or not.
pub(crate) struct Change {
    /// The principal, the operation and the key.
    pub(crate) origin: Origin,
    /// SHA-256 of what was received for it, if that is the material of a key.
    pub(crate) received: Option<[u8; 32]>,
    /// Its particulars, of which none is a secret.
    pub(crate) particulars: Value,
}

impl Change {
    /// A change that no client with a credential asks for. `who` is the operator or the service itself.
    pub(crate) fn of(who: &str, (door, operation): (&'static str, &'static str), key_id: &str) -> Self {
        let principal =
            Principal { name: who.to_owned(), access_key_id: String::new(), rights: BTreeSet::new() };
        let origin = Origin {
            principal: Arc::new(principal),
            door,
            operation,
            key_id: key_id.into(),
            request_id: uuid::of_request(),
            deadline: Instant::now(),
        };
        Self { origin, received: None, particulars: Value::Null }
    }
}

/// An error of a door, which says why a change was not made.
pub(crate) trait Failure: Send + 'static {
    /// The text of the error in the log.
    fn outcome(&self) -> String;

    /// The error of a change that the log cannot take.
    fn unaudited(reason: &str) -> Self;
}

/// Refuses changes while the log cannot be written.
pub(crate) fn check<E: Failure>(audit: Option<&Arc<Audit>>) -> Result<(), E> {
    match audit.is_none_or(Audit::is_writable) {
        true => Ok(()),
        false => Err(E::unaudited("the audit log cannot be written")),
    }
}

/// Notes a change that was made, or was not. If the log cannot take it, the caller gets an error although the
/// change was made.
pub(crate) async fn note<T, E: Failure>(
    audit: Option<&Arc<Audit>>,
    change: Change,
    result: Result<T, E>,
) -> Result<T, E> {
    let Some(audit) = audit.map(Arc::clone) else { return result };
    let error = result.as_ref().err().map(Failure::outcome);
    let write = move || {
        let Change { origin, received, particulars } = &change;
        let subject = Subject::Change { received: *received, particulars };
        audit.write(&[Entry { origin, subject, error }])
    };
    let failed = match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => return result,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(error = failed, "a change cannot be noted in the audit log");
    Err(E::unaudited(&failed))
}

/// Makes a change and notes it, unless there is nothing to note. It is brought to its end even if its client
/// goes away, so that none is made without its line.
pub(crate) async fn make<T: Send + 'static, E: Failure>(
    audit: Option<&Arc<Audit>>,
    change: impl Future<Output = (Option<Change>, Result<T, E>)> + Send + 'static,
) -> Result<T, E> {
    check(audit)?;
    let audit = audit.map(Arc::clone);
    let task = tokio::spawn(async move {
        match change.await {
            (Some(change), result) => note(audit.as_ref(), change, result).await,
            (None, result) => result,
        }
    });
    task.await.unwrap_or_else(|error| Err(E::unaudited(&error.to_string())))
}
