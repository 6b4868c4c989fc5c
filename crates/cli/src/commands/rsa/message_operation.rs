//! An operation of RSA on records of messages, signatures and ciphertexts.

use crate::failure::Failure;
use crate::records::{Answers, FileRules, Layout, Operation, Reason, Records};
use modmill::Engine;
use rayon::prelude::*;

/// The fields of readable records, one list of octets for each field.
pub(crate) type Columns<'a> = Vec<Vec<&'a [u8]>>;

/// An operation that `compute` does: it answers the items of columns in order. `T` is an answer.
pub(crate) struct MessageOperation<'a, F> {
    pub(crate) layout: Layout,
    pub(crate) files: FileRules,
    pub(crate) engine: &'a Engine,
    pub(crate) compute: F,
}

/// Some records, and the answers to the readable ones.
pub(crate) struct Computed<T> {
    records: Vec<Records>,
    answers: modmill_rsa::Answers<T>,
}

impl<F, T> Operation for MessageOperation<'_, F>
where
    F: Fn(Columns<'_>) -> Result<modmill_rsa::Answers<T>, modmill_rsa::Error> + Sync,
    T: AsRef<[u8]> + Send + Sync,
{
    type Prepared = Vec<Records>;
    type Computed = Computed<T>;

    fn layout(&self) -> Layout {
        self.layout
    }

    fn files(&self) -> Option<FileRules> {
        Some(self.files)
    }

    fn prepare(&self, records: Vec<Records>) -> Vec<Records> {
        records
    }

    fn compute(&self, records: Vec<Records>) -> Result<Computed<T>, Failure> {
        let answers = (self.compute)(
            (0..self.layout.names().len()).map(|position| column(&records, position)).collect(),
        )?;
        Ok(Computed { records, answers })
    }

    fn finish(&self, Computed { records, answers }: Computed<T>) -> Vec<Answers> {
        let mut rest = &answers[..];
        let mut pieces = Vec::with_capacity(records.len());
        for records in &records {
            let (own, others) = rest.split_at(readable(records).count().min(rest.len()));
            rest = others;
            pieces.push((records, own));
        }
        self.engine.install(|| pieces.into_par_iter().map(|(records, own)| join(records, own)).collect())
    }
}

/// One field of each readable record.
fn column(pieces: &[Records], position: usize) -> Vec<&[u8]> {
    let all = pieces.iter().flat_map(|records| readable(records).map(move |record| (records, record)));
    all.map(|(records, record)| records.value(record, position).map_or(&[][..], |value| value.octets))
        .collect()
}

/// The records that have their fields.
fn readable(records: &Records) -> impl Iterator<Item = usize> {
    (0..records.len()).filter(|&record| records.is_readable(record))
}

/// The answers to all records of a piece, from those to the readable ones.
fn join<T: AsRef<[u8]>>(records: &Records, readable: &[Result<T, modmill_rsa::ItemError>]) -> Answers {
    let octets = readable.iter().flatten().map(|answer| answer.as_ref().len()).sum();
    let mut answers = Answers::with_room(octets, records.len());
    let (mut errors, mut readable) = (records.errors().iter(), readable.iter());
    for record in 0..records.len() {
        if !records.is_readable(record) {
            answers.push_error(errors.next().map_or("no answer".into(), |(_, reason)| reason.clone()));
            continue;
        }
        match readable.next() {
            Some(Ok(octets)) => answers.push(octets.as_ref()),
            Some(Err(error)) => answers.push_error(Reason::from(error.to_string())),
            None => answers.push_error("no answer".into()),
        }
    }
    answers
}
