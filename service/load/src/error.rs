//! Why a load run has no result.

use std::collections::BTreeMap;

/// Why a load run has no result. A request that fails during the run is counted in its [`Failures`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be used.
    #[error("{0}")]
    Endpoint(String),
    /// The server did not answer a request that the run needs beforehand.
    #[error("{what}: {failure}")]
    SetUp {
        /// The request.
        what: String,
        /// The answer or the failure.
        failure: String,
    },
    /// A setting that makes no sense, or is missing.
    #[error("{0}")]
    Settings(String),
    /// The process of the server cannot be looked at.
    #[error("process {pid}: {why}")]
    Process {
        /// Its number.
        pid: u32,
        /// The reason why not.
        why: String,
    },
    /// The engine that verifies signatures failed.
    #[error("cannot verify signatures: {0}")]
    Verify(String),
}

/// The most kinds of failures that are told apart. A server names kinds, so their number is not ours.
const MOST_KINDS: usize = 32;
const OTHER: &str = "other";

/// Requests without an answer, counted by kind: the server's own name of the error, or what happened to the
/// connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Failures(BTreeMap<String, u64>);

impl Failures {
    /// Counts failures of a kind.
    pub fn add(&mut self, kind: &str, count: u64) {
        if count == 0 {
            return;
        }
        let known = self.0.contains_key(kind) || self.0.len() < MOST_KINDS;
        *self.0.entry(if known { kind } else { OTHER }.to_owned()).or_default() += count;
    }

    /// Adds other failures.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, &count)| self.add(kind, count));
    }

    /// How many there are of all kinds.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// How many there are of one kind.
    #[must_use]
    pub fn of(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }
}

impl std::fmt::Display for Failures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds: Vec<String> = self.0.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        f.write_str(if kinds.is_empty() { "none" } else { "" })?;
        f.write_str(&kinds.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_bounded() {
        let mut failures = Failures::default();
        (0..1000).for_each(|kind| failures.add(&kind.to_string(), 2));
        failures.add("5", 1);
        assert_eq!((failures.count(), failures.of("5")), (2001, 3));
        assert_eq!(failures.of(OTHER), 2 * (1000 - MOST_KINDS as u64));
        assert!(Failures::default().to_string() == "none" && failures.to_string().contains("5 3"));
    }
}
