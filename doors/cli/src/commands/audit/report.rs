//! Findings as lines, as a table for people, and as an exit status.

use crate::failure::{Failure, say};
use crate::io::Output;
use modmill_audit::{Finding, Kind};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The outcome of an audit.
pub(super) struct Report<'a> {
    /// The entries that are keys.
    pub(super) entries: usize,
    /// Why others are none.
    pub(super) errors: &'a [String],
    pub(super) findings: &'a [Finding],
}

/// The most names of one finding in a table.
const NAMES: usize = 5;

impl Report<'_> {
    /// Writes errors and findings, an object each.
    pub(super) fn write_lines(&self, output: &mut Output) -> Result<(), Failure> {
        for error in self.errors {
            output.write(&format!("{}\n", serde_json::json!({ "error": error })))?;
        }
        self.findings.iter().try_for_each(|finding| output.write(&format!("{}\n", finding.to_json())))
    }

    /// Errors and findings as text for people.
    pub(super) fn table(&self) -> String {
        let names = |ids: &[String]| {
            let more = ids.len().saturating_sub(NAMES);
            let shown = ids[..ids.len() - more].join(", ");
            if more > 0 { format!("{shown} and {more} more") } else { shown }
        };
        let mut text = String::new();
        for error in self.errors {
            let _ = writeln!(text, "{:<18} {error}", "not audited");
        }
        for finding in self.findings {
            let _ = write!(text, "{:<18} {}", finding.kind.name(), names(&finding.ids));
            if !finding.partners.is_empty() {
                let _ = write!(text, "  with {}", names(&finding.partners));
            }
            text.push('\n');
        }
        text
    }

    /// The number of weak keys, and those of each kind.
    fn counts(&self) -> String {
        let weak: BTreeSet<usize> = self.findings.iter().map(|finding| finding.key).collect();
        let of = |kind: Kind| self.findings.iter().filter(|finding| finding.kind == kind).count();
        let kinds: Vec<String> = Kind::ALL
            .into_iter()
            .filter(|&kind| of(kind) > 0)
            .map(|kind| format!("{} {}", of(kind), kind.name()))
            .collect();
        let mut text = format!("{} keys, {} with findings", self.entries, weak.len());
        if !kinds.is_empty() {
            text += &format!(": {}", kinds.join(", "));
        }
        if let Some(first) = self.errors.first() {
            text += &format!("; {} entries not audited, the first: {first}", self.errors.len());
        }
        text
    }

    /// Tells the counts, as the failure that has the exit status or, if there is none, by itself.
    pub(super) fn finish(&self, quiet: bool) -> Result<(), Failure> {
        match (self.findings, self.errors) {
            ([_, ..], _) => Err(Failure::Weak(self.counts())),
            ([], [_, ..]) => Err(Failure::Items(self.counts())),
            _ if quiet => Ok(()),
            _ => {
                say(&self.counts());
                Ok(())
            }
        }
    }
}
