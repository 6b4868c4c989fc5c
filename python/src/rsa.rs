//! RSA: keys, and batches of signatures and ciphertexts.

use crate::answers::{deliver, truth_values};
use crate::arguments::{Call, Options};
use crate::engine::Engine;
use crate::errors::OrRaise;
use crate::rsa_schemes::{encryption_scheme, signature_scheme, sizes};
use crate::strings::{Strings, objects};
use crate::watching::{self, Extent};
use modmill_rsa::{AnyKey, Error, Keys, PrivateKey, PublicKey, Rsa, Sizes};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

/// A private operation is one power for each prime, and little else.
const PRIVATE_COUNTS: usize = 2;

/// Generates `count` private keys.
#[pyfunction]
pub(crate) fn rsa_generate(
    py: Python<'_>,
    bits: usize,
    count: usize,
    allow_small: bool,
    engine: Option<Bound<'_, Engine>>,
) -> PyResult<Vec<RsaPrivateKey>> {
    let engine = Engine::or_shared(py, engine.as_ref())?;
    let generate =
        |engine: &modmill::Engine| PrivateKey::generate_many(engine, bits, count, sizes(allow_small));
    let keys = watching::run(py, &engine, Extent { items: count, counts: 1, is_long: true }, None, generate)?;
    let keys = keys.or_raise(py)?;
    Ok(keys.into_iter().map(|key| RsaPrivateKey { key, is_picklable: false }).collect())
}

/// Reads a key in PEM, DER or JSON.
#[pyfunction]
pub(crate) fn rsa_load<'py>(
    py: Python<'py>,
    data: &[u8],
    password: Option<&[u8]>,
    allow_small: bool,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match AnyKey::read(data, password, sizes(allow_small)).or_raise(py)? {
        AnyKey::Public(key) => Bound::new(py, RsaPublicKey { key })?.into_any(),
        AnyKey::Private(key) => Bound::new(py, RsaPrivateKey { key, is_picklable: false })?.into_any(),
    })
}

/// A public key of RSA.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct RsaPublicKey {
    key: PublicKey,
}

#[pymethods]
impl RsaPublicKey {
    /// The length of the modulus in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        integer(py, self.key.modulus_bytes())
    }

    /// The public exponent.
    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        integer(py, &self.key.exponent_bytes())
    }

    fn to_pem(&self, py: Python<'_>) -> PyResult<String> {
        self.key.to_pem().or_raise(py)
    }

    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.key.to_der().or_raise(py)?))
    }

    fn verify<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        signatures: &Bound<'py, PyAny>,
        padding: &str,
        hash: &str,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scheme = signature_scheme(padding, hash)?;
        let call = Call::new(options.only(&["engine", "progress"])?)?;
        let (messages, signatures) =
            (Strings::read("messages", messages)?, Strings::read("signatures", signatures)?);
        let (texts, marks) = (messages.all(), signatures.all());
        if texts.len() != marks.len() {
            let text = format!("there are {} signatures for {} messages", marks.len(), texts.len());
            return Err(PyValueError::new_err(text));
        }
        // Nothing is a signature of null, and null is no signature.
        let is_null: Vec<bool> = texts.iter().zip(&marks).map(|(a, b)| a.is_none() || b.is_none()).collect();
        let [texts, marks] =
            [texts, marks].map(|all| all.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>());
        let verify = |engine: &modmill::Engine| Rsa::new(engine).verify(&self.key, scheme, &texts, &marks);
        let verdicts = call.run(texts.len(), usize::MAX, verify)?.or_raise(py)?;
        let verdicts: Vec<bool> =
            verdicts.iter().zip(is_null).map(|(verdict, is_null)| verdict.is_ok() && !is_null).collect();
        truth_values(py, &verdicts, &[], messages.form)
    }

    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        padding: &str,
        hash: &str,
        label: &[u8],
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scheme = encryption_scheme(padding, hash, label)?;
        let work = |engine: &modmill::Engine, messages: &[&[u8]]| {
            Rsa::new(engine).encrypt(&self.key, scheme, messages)
        };
        answer_all(py, "messages", messages, 1, options, work)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |other: &Bound<'_, Self>| {
            let other = &other.get().key;
            (other.modulus_bytes(), other.exponent_bytes())
                == (self.key.modulus_bytes(), self.key.exponent_bytes())
        };
        other.cast::<Self>().is_ok_and(same)
    }

    fn __hash__(&self) -> u64 {
        // The lowest word of the modulus.
        let last = self.key.modulus_bytes().last_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(last)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let load = py.import("modmill._modmill")?.getattr("rsa_load")?;
        (load, (self.to_der(py)?, None::<&[u8]>, true)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<modmill.rsa.PublicKey of {} bits>", self.key.bits())
    }
}

/// A private key of RSA. Its numbers are cleared when it is dropped.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct RsaPrivateKey {
    key: PrivateKey,
    is_picklable: bool,
}

#[pymethods]
impl RsaPrivateKey {
    /// The length of the modulus in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The public key.
    #[getter]
    fn public_key(&self) -> RsaPublicKey {
        RsaPublicKey { key: self.key.public_key().clone() }
    }

    #[pyo3(signature = (password=None))]
    fn to_pem(&self, py: Python<'_>, password: Option<&[u8]>) -> PyResult<String> {
        match password {
            Some(password) => self.key.to_encrypted_pem(password).or_raise(py),
            None => Ok(self.key.to_pem().or_raise(py)?.to_string()),
        }
    }

    #[pyo3(signature = (password=None))]
    fn to_der<'py>(&self, py: Python<'py>, password: Option<&[u8]>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(match password {
            Some(password) => PyBytes::new(py, &self.key.to_encrypted_der(password).or_raise(py)?),
            None => PyBytes::new(py, &self.key.to_der().or_raise(py)?),
        })
    }

    fn sign<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        padding: &str,
        hash: &str,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scheme = signature_scheme(padding, hash)?;
        let work =
            |engine: &modmill::Engine, messages: &[&[u8]]| Rsa::new(engine).sign(&self.key, scheme, messages);
        answer_all(py, "messages", messages, PRIVATE_COUNTS, options, work)
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: &Bound<'py, PyAny>,
        padding: &str,
        hash: &str,
        label: &[u8],
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scheme = encryption_scheme(padding, hash, label)?;
        let keys = || Keys::from(&self.key);
        let work =
            |engine: &modmill::Engine, texts: &[&[u8]]| Rsa::new(engine).decrypt(keys(), scheme, texts);
        answer_all(py, "ciphertexts", ciphertexts, PRIVATE_COUNTS, options, work)
    }

    /// This key, which can be pickled.
    fn picklable(&self) -> Self {
        Self { key: self.key.clone(), is_picklable: true }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if !self.is_picklable {
            let text = "a private key is pickled only on request, because a pickle shows it to all who read it: \
                        pickle key.picklable()";
            return Err(PyTypeError::new_err(text));
        }
        Ok((py.get_type::<Self>().getattr("_unpickle")?, (self.to_der(py, None)?,)))
    }

    #[classmethod]
    fn _unpickle(class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let key = PrivateKey::read(data, None, Sizes::AllowSmall).or_raise(class.py())?;
        Ok(Self { key, is_picklable: true })
    }

    fn __repr__(&self) -> String {
        format!("<modmill.rsa.PrivateKey of {} bits>", self.key.bits())
    }
}

/// Python's integer of a big-endian byte string.
fn integer<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<pyo3::types::PyInt>().call_method1("from_bytes", (PyBytes::new(py, bytes), "big"))
}

/// Answers every string of a column, which the engine counts `counts` times; null items fail.
fn answer_all<'py, T: AsRef<[u8]> + Send>(
    py: Python<'py>,
    name: &str,
    inputs: &Bound<'py, PyAny>,
    counts: usize,
    options: Options<'py>,
    work: impl Fn(&modmill::Engine, &[&[u8]]) -> Result<modmill_rsa::Answers<T>, Error> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(options.only(&["out", "errors", "engine", "progress"])?)?;
    let strings = Strings::read(name, inputs)?;
    let all = strings.all();
    let given: Vec<&[u8]> = all.iter().flatten().copied().collect();
    let answers =
        call.run_counted(given.len(), (usize::MAX, counts), |engine| work(engine, &given))?.or_raise(py)?;
    let mut answers = answers.iter();
    let mut failed = Vec::new();
    let mut outputs: Vec<Option<&[u8]>> = Vec::with_capacity(all.len());
    for (index, string) in all.iter().enumerate() {
        let answer = match string {
            None => Err(format!("{name} is null")),
            Some(_) => match answers.next() {
                Some(Ok(answer)) => Ok(answer.as_ref()),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("there is no answer".to_owned()),
            },
        };
        outputs.push(answer.as_ref().ok().copied());
        failed.extend(answer.err().map(|reason| (index, reason)));
    }
    let form = call.form_of_strings(strings.form)?;
    deliver(py, objects(py, &outputs, form)?, all.len(), failed, form, call.on_failure)
}
