//! Counts of answered records.

use super::table::Answers;
use crate::failure::Failure;

/// How many records there were, and how many of them have no answer.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Tally {
    pub(crate) items: u64,
    pub(crate) failed: u64,
    /// The name of the first record without an answer, and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_failure: Option<String>,
    /// The plural of the word for a record.
    #[serde(skip)]
    pub(crate) unit: &'static str,
    /// Whether the errors still have to be told to the user.
    #[serde(skip)]
    tells_first: bool,
}

impl Tally {
    /// `tells_first` says that the closing error repeats the first error, which was not printed before.
    pub(super) fn new(unit: &'static str, tells_first: bool) -> Self {
        Self { items: 0, failed: 0, first_failure: None, unit, tells_first }
    }

    pub(super) fn count(&mut self, answers: &Answers) {
        self.items += answers.len() as u64;
        self.failed += answers.errors().len() as u64;
        if let Some((_, reason)) = answers.errors().first() {
            self.first_failure.get_or_insert_with(|| reason.to_string());
        }
    }

    /// An error if any record has no answer.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { items, failed, unit, .. } = self;
        self.finish_in_words(&format!("{failed} of {items} {unit} could not be answered"))
    }

    /// Ends as [`Self::finish`] does; `summary` is the text that counts the failures.
    pub(crate) fn finish_in_words(self, summary: &str) -> Result<(), Failure> {
        match self.first_failure {
            None => Ok(()),
            Some(first) if self.items == 1 && self.tells_first => Err(Failure::Items(first)),
            Some(first) if self.tells_first => Err(Failure::Items(format!("{summary}; the first: {first}"))),
            Some(_) => Err(Failure::Items(summary.to_owned())),
        }
    }
}
