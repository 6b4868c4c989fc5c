//! An operation of RSA or of elliptic curves on records of messages, signatures and ciphertexts.

use crate::failure::Failure;
use crate::records::{Answers, FileRules, Layout, Operation, Reason, Records};
use modmill::Engine;
use modmill_rsa::Rows;
use rayon::prelude::*;
use std::fmt::Display;
use std::ops::Range;

/// The fields of readable records, one list of bytes for each field.
pub(crate) type Columns<'a> = Vec<Vec<&'a [u8]>>;

/// The answers of an operation in order.
pub(crate) trait AnswerList: Send + Sync {
    fn len(&self) -> usize;

    /// The bytes of an answer. A verdict has none.
    fn get(&self, item: usize) -> Result<&[u8], &dyn Display>;
}

impl AnswerList for Rows {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, item: usize) -> Result<&[u8], &dyn Display> {
        self.get(item).map_err(|error| error as &dyn Display)
    }
}

/// An answer, or why there is none.
impl<T: AnswerBytes, E: Display + Send + Sync> AnswerList for Vec<Result<T, E>> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn get(&self, item: usize) -> Result<&[u8], &dyn Display> {
        self[item].as_ref().map(T::octets).map_err(|error| error as &dyn Display)
    }
}

/// An answer with its bytes, of which a verdict has none.
pub(crate) trait AnswerBytes: Send + Sync {
    fn octets(&self) -> &[u8];
}

impl AnswerBytes for () {
    fn octets(&self) -> &[u8] {
        &[]
    }
}

#[cfg(feature = "ec")]
impl AnswerBytes for Vec<u8> {
    fn octets(&self) -> &[u8] {
        self
    }
}

#[cfg(feature = "ec")]
impl AnswerBytes for zeroize::Zeroizing<Vec<u8>> {
    fn octets(&self) -> &[u8] {
        self
    }
}

/// An operation that `compute` does: it answers the items of columns in order.
pub(crate) struct MessageOperation<'a, F> {
    pub(crate) layout: Layout,
    pub(crate) files: FileRules,
    /// The mode of files with answers, on Unix, if it is not that of other new files.
    pub(crate) mode: Option<u32>,
    pub(crate) engine: &'a Engine,
    pub(crate) compute: F,
}

/// Some records, and the answers to the readable ones.
pub(crate) struct Computed<A> {
    records: Vec<Records>,
    answers: A,
}

impl<F, A, E> Operation for MessageOperation<'_, F>
where
    F: Fn(Columns<'_>) -> Result<A, E> + Sync,
    A: AnswerList,
    E: Into<Failure>,
{
    type Prepared = Vec<Records>;
    type Computed = Computed<A>;

    fn layout(&self) -> Layout {
        self.layout
    }

    fn files(&self) -> Option<FileRules> {
        Some(self.files)
    }

    fn mode(&self) -> Option<u32> {
        self.mode
    }

    fn prepare(&self, records: Vec<Records>) -> Vec<Records> {
        records
    }

    fn compute(&self, records: Vec<Records>) -> Result<Computed<A>, Failure> {
        let columns = |position| self.engine.install(|| column(&records, position));
        let columns = (0..self.layout.names().len()).map(columns).collect();
        let answers = (self.compute)(columns).map_err(Into::into)?;
        Ok(Computed { records, answers })
    }

    fn finish(&self, Computed { records, answers }: Computed<A>) -> Vec<Answers> {
        let mut next = 0;
        let mut pieces = Vec::with_capacity(records.len());
        for records in &records {
            let end = (next + readable(records).count()).min(answers.len());
            pieces.push((records, next..end));
            next = end;
        }
        self.engine
            .install(|| pieces.into_par_iter().map(|(records, own)| join(records, &answers, own)).collect())
    }
}

/// One field of each readable record.
fn column(pieces: &[Records], position: usize) -> Vec<&[u8]> {
    pieces.par_iter().map(|records| column_of(records, position)).collect::<Vec<_>>().concat()
}

fn column_of(records: &Records, position: usize) -> Vec<&[u8]> {
    let octets = |record| records.value(record, position).map_or(&[][..], |value| value.octets);
    readable(records).map(octets).collect()
}

/// The records that have their fields.
fn readable(records: &Records) -> impl Iterator<Item = usize> {
    (0..records.len()).filter(|&record| records.is_readable(record))
}

/// The answers to all records of a piece. Those to the readable ones are `own` of all answers.
fn join(records: &Records, answers: &impl AnswerList, own: Range<usize>) -> Answers {
    let octets = own.clone().filter_map(|item| answers.get(item).ok()).map(<[u8]>::len).sum();
    let mut joined = Answers::with_room(octets, records.len());
    let (mut errors, mut own) = (records.errors().iter(), own);
    for record in 0..records.len() {
        if !records.is_readable(record) {
            joined.push_error(errors.next().map_or("no answer".into(), |(_, reason)| reason.clone()));
            continue;
        }
        match own.next().map(|item| answers.get(item)) {
            Some(Ok(octets)) => joined.push(octets),
            Some(Err(error)) => joined.push_error(Reason::from(error.to_string())),
            None => joined.push_error("no answer".into()),
        }
    }
    joined
}
