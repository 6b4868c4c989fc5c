//! A party of a private set intersection: its steps over columns.

use crate::answers::{Answers, OnFailure, Target};
use crate::arguments::{Call, Options};
use crate::column::Form;
use crate::errors::OrRaise;
use crate::psi::{complete, group_of, of_length};
use crate::strings::{Strings, objects};
use modmill_psi::{Elements, Error, Party};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// A party of an intersection, with a secret exponent.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PsiParty {
    party: Party,
    is_picklable: bool,
}

#[pymethods]
impl PsiParty {
    #[new]
    #[pyo3(signature = (group="ffdhe3072"))]
    fn new(py: Python<'_>, group: &str) -> PyResult<Self> {
        let party = Party::new(group_of(group)?).or_raise(py)?;
        Ok(Self { party, is_picklable: false })
    }

    /// This party, which can be pickled.
    fn picklable(&self, py: Python<'_>) -> PyResult<Self> {
        Self::_unpickle(py, self.group(), &self.party.to_octets())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if !self.is_picklable {
            let text = "a party is pickled only on request, because a pickle shows its secret to all who read it: \
                        pickle party.picklable()";
            return Err(PyTypeError::new_err(text));
        }
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        (unpickle, (self.group(), PyBytes::new(py, &self.party.to_octets()))).into_pyobject(py)
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, group: &str, octets: &[u8]) -> PyResult<Self> {
        let party = Party::from_octets(group_of(group)?, octets).or_raise(py)?;
        Ok(Self { party, is_picklable: true })
    }

    /// The name of the group.
    #[getter]
    fn group(&self) -> &'static str {
        self.party.group().name()
    }

    fn blind<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(options)?;
        let strings = Strings::read("items", items)?;
        let all = complete("items", &strings)?;
        let blinded = call.run(all.len(), usize::MAX, |engine| self.party.blind(engine, &all))?;
        self.deliver(py, &call, blinded, strings.form)
    }

    fn blind_again<'py>(
        &self,
        py: Python<'py>,
        elements: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(options)?;
        let strings = Strings::read("elements", elements)?;
        let elements = self.elements(py, &strings)?;
        let blinded =
            call.run(elements.len(), usize::MAX, |engine| self.party.blind_again(engine, &elements))?;
        self.deliver(py, &call, blinded, strings.form)
    }

    fn tags<'py>(&self, py: Python<'py>, elements: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let strings = Strings::read("elements", elements)?;
        let elements = self.elements(py, &strings)?;
        let tags = py.detach(|| elements.tags());
        let tags: Vec<Option<&[u8]>> = tags.iter().map(|tag| Some(&tag[..])).collect();
        objects(py, &tags, strings.form)
    }

    fn __repr__(&self) -> String {
        format!("<modmill.psi.Party of {}>", self.party.group())
    }
}

impl PsiParty {
    fn elements(&self, py: Python<'_>, strings: &Strings) -> PyResult<Elements> {
        let octets = of_length("elements", strings, self.party.group().octets())?.concat();
        Elements::from_octets(self.party.group(), &octets).or_raise(py)
    }

    fn deliver<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'py>,
        blinded: Result<Elements, Error>,
        given: Form,
    ) -> PyResult<Bound<'py, PyAny>> {
        let blinded = blinded.or_raise(py)?;
        let target = Target::New(call.form_of_strings(given)?);
        Answers::new(blinded.into_numbers()).deliver(py, &call.engine, &target, OnFailure::Raise)
    }
}
