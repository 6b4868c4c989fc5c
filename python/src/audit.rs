//! Audits of columns of RSA moduli.

use crate::answers::deliver;
use crate::arguments::{Call, Options, count, with_unread};
use crate::arrow_out::Column as ArrowColumn;
use crate::checks::whole;
use crate::column::Form;
use crate::errors::OrRaise;
use crate::powers::not_negative;
use arrow_array::builder::{LargeBinaryBuilder, ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, StructArray, UInt64Array};
use arrow_schema::Field;
use modmill::{Engine, hex, number};
use modmill_audit::{Addition, Audit, Collection, Corpus, Error, Finding, Key, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// The findings about a column of moduli, beside the keys of a corpus if a folder has one, to which they are
/// added if `adds`, when the findings are complete.
#[pyfunction]
pub(crate) fn audit<'py>(
    moduli: &Bound<'py, PyAny>,
    ids: Option<Vec<String>>,
    folder: Option<PathBuf>,
    adds: bool,
    memory: Option<&Bound<'py, PyAny>>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options.only(&["max_bits", "errors", "engine"])?;
    // One long number would make all as long.
    let call = Call::new(options)?.at_most(Key::MAX_BITS);
    let [column] = call.columns([("moduli", moduli)])?;
    let items = count(&[&column]);
    let memory = memory.map(|bytes| whole("memory", bytes, 1..=usize::MAX)).transpose()?;
    not_negative(&column)?;
    let ids = ids.unwrap_or_else(|| (0..items).map(|item| item.to_string()).collect());
    if ids.len() != items {
        let text = format!("moduli has {items} items and ids has {}", ids.len());
        return Err(PyValueError::new_err(text));
    }
    let moduli = column.batch().or_raise(call.py)?;
    let (mut named, mut failed) = (Vec::with_capacity(items), Vec::new());
    for (item, (id, modulus)) in ids.into_iter().zip(moduli.iter()).enumerate() {
        match Key::new(&number::to_short_be_bytes(modulus), &[]) {
            Ok(key) => named.push((id, key)),
            Err(error) => failed.push((item, error.to_string())),
        }
    }
    let mut corpus = match folder {
        Some(folder) => Some(Corpus::open(&folder, adds).or_raise(call.py)?),
        None => None,
    };
    let compute = |engine: &Engine| findings(engine, named, corpus.as_mut(), memory);
    let (findings, addition) = call.run(items, usize::MAX, compute)?.or_raise(call.py)?;
    let object = Bound::new(call.py, table(&findings)?)?.into_any();
    if let Some(addition) = addition {
        call.py.detach(|| addition.add()).or_raise(call.py)?;
    }
    deliver(call.py, object, items, with_unread(failed, &[&column]), Form::Arrow, call.on_failure)
}

/// The number of keys of a corpus.
#[pyfunction]
pub(crate) fn audit_corpus_len(py: Python<'_>, folder: PathBuf) -> PyResult<u64> {
    Ok(Corpus::open(&folder, false).or_raise(py)?.len())
}

fn findings<'a>(
    engine: &Engine,
    named: Vec<(String, Key)>,
    corpus: Option<&'a mut Corpus>,
    memory: Option<usize>,
) -> Result<(Vec<Finding>, Option<Addition<'a>>), Error> {
    let progress = engine.watched().map_or_else(Progress::new, Progress::watched_by);
    let mut audit = Audit::new(engine, &progress);
    if let Some(bytes) = memory {
        audit = audit.memory(bytes as u64);
    }
    match corpus {
        Some(corpus) => corpus.audit(&audit, named).map(|(_, findings, addition)| (findings, addition)),
        None => Ok((audit.run(&Collection::new(named))?, None)),
    }
}

/// Findings as rows: numbers are big-endian bytes.
fn table(findings: &[Finding]) -> PyResult<ArrowColumn> {
    let (mut kinds, mut moduli) = (StringBuilder::new(), LargeBinaryBuilder::new());
    let (mut ids, mut partners) =
        (ListBuilder::new(StringBuilder::new()), ListBuilder::new(StringBuilder::new()));
    let mut factors = ListBuilder::new(LargeBinaryBuilder::new());
    // The findings have the digits of numbers.
    let bytes = |digits: &String| number::to_short_be_bytes(&hex::parse(digits).unwrap_or_default());
    for finding in findings {
        kinds.append_value(finding.kind.name());
        moduli.append_value(bytes(&finding.modulus));
        ids.append_value(finding.ids.iter().map(Some));
        factors.append_value(finding.factors.iter().map(|digits| Some(bytes(digits))));
        partners.append_value(finding.partners.iter().map(Some));
    }
    let more: UInt64Array =
        findings.iter().map(|finding| finding.more_partners as u64).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 6] = [
        ("kind", Arc::new(kinds.finish())),
        ("ids", Arc::new(ids.finish())),
        ("modulus", Arc::new(moduli.finish())),
        ("factors", Arc::new(factors.finish())),
        ("partners", Arc::new(partners.finish())),
        ("more_partners", Arc::new(more)),
    ];
    let field = |(name, column): (&str, ArrayRef)| {
        (Arc::new(Field::new(name, column.data_type().clone(), false)), column)
    };
    let columns: Vec<_> = columns.into_iter().map(field).collect();
    Ok(ArrowColumn::of(Arc::new(StructArray::from(columns))))
}
