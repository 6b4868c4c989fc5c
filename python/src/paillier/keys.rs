//! Keys of Paillier's encryption.

use crate::engine::Engine;
use crate::errors::OrRaise;
use crate::ints::Ints;
use crate::watching::{self, Extent};
use modmill_paillier::{Paillier, PrivateKey, PublicKey, Randomness};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};
use zeroize::Zeroizing;

/// Generates a private key.
#[pyfunction]
pub(crate) fn paillier_generate(
    py: Python<'_>,
    bits: usize,
    randomness: &str,
    engine: Option<Bound<'_, Engine>>,
) -> PyResult<PaillierPrivateKey> {
    let engine = Engine::or_shared(py, engine.as_ref())?;
    let randomness = read_randomness(randomness)?;
    let generate = |engine: &modmill::Engine| PrivateKey::generate(engine, bits, randomness);
    let key = watching::run(py, &engine, Extent { items: 1, counts: 1, is_long: true }, None, generate)?;
    Ok(PaillierPrivateKey { key: key.or_raise(py)?, is_picklable: false })
}

/// Compiles the kernels of GPUs for columns of `items` numbers; says whether there are GPUs.
#[pyfunction]
pub(crate) fn paillier_warm(
    py: Python<'_>,
    bits: usize,
    items: usize,
    randomness: &str,
    engine: Option<Bound<'_, Engine>>,
) -> PyResult<bool> {
    let engine = Engine::or_shared(py, engine.as_ref())?;
    let randomness = read_randomness(randomness)?;
    let warm = |engine: &modmill::Engine| Paillier::new(engine).warm(bits, randomness, items);
    let is_on_gpu = watching::run(py, &engine, Extent { items: 1, counts: 1, is_long: true }, None, warm)?;
    is_on_gpu.or_raise(py)
}

fn read_randomness(name: &str) -> PyResult<Randomness> {
    match name {
        "full" => Ok(Randomness::Full),
        "short" => Ok(Randomness::Short),
        "subgroup" => Ok(Randomness::Subgroup),
        other => {
            let text = format!("randomness is {other:?}; it must be \"full\", \"short\" or \"subgroup\"");
            Err(PyValueError::new_err(text))
        }
    }
}

/// A public key.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierPublicKey {
    pub(crate) key: PublicKey,
}

#[pymethods]
impl PaillierPublicKey {
    /// The length of n in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ints::new(py)?.read(self.key.modulus().value(), false)
    }

    /// A key from its modulus.
    #[staticmethod]
    fn of_modulus(n: &Bound<'_, PyInt>) -> PyResult<Self> {
        Ok(Self { key: PublicKey::new(&octets(n)?).or_raise(n.py())? })
    }

    /// Whether the key has a base for short exponents.
    #[getter]
    fn has_base(&self) -> bool {
        self.key.short_base().is_some()
    }

    /// This key with a new base for short exponents.
    fn with_new_base(&self, py: Python<'_>, engine: Option<Bound<'_, Engine>>) -> PyResult<Self> {
        let engine = Engine::or_shared(py, engine.as_ref())?;
        let key = py.detach(|| self.key.with_new_base(&engine));
        Ok(Self { key: key.or_raise(py)? })
    }

    fn to_json(&self, py: Python<'_>, kid: &str) -> PyResult<String> {
        self.key.to_json(kid).or_raise(py)
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { key: PublicKey::from_json(text).or_raise(py)? })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.key.to_bytes().or_raise(py)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(Self { key: PublicKey::from_bytes(data).or_raise(py)? })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().key == self.key)
    }

    fn __hash__(&self) -> u64 {
        self.key.fingerprint().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let unpickle = py.get_type::<Self>().getattr("from_bytes")?;
        (unpickle, (self.to_bytes(py)?,)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<modmill.paillier.PublicKey of {} bits>", self.key.bits())
    }
}

/// The big-endian bytes of a number that may be secret.
fn octets(number: &Bound<'_, PyInt>) -> PyResult<Zeroizing<Vec<u8>>> {
    let ints = Ints::new(number.py())?;
    let mut limbs = Zeroizing::new(vec![0; ints.bits(number)?.div_ceil(64)]);
    if ints.write(number, &mut limbs)? {
        return Err(PyValueError::new_err("a number of a key is negative"));
    }
    Ok(modmill::number::to_short_be_bytes(&limbs))
}

/// A private key. Its numbers are cleared when it is dropped.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierPrivateKey {
    pub(crate) key: PrivateKey,
    is_picklable: bool,
}

#[pymethods]
impl PaillierPrivateKey {
    /// The length of n in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The public key.
    #[getter]
    fn public_key(&self) -> PaillierPublicKey {
        PaillierPublicKey { key: self.key.public_key().clone() }
    }

    /// A key from its primes, without a base for short exponents.
    #[staticmethod]
    fn of_primes(p: &Bound<'_, PyInt>, q: &Bound<'_, PyInt>) -> PyResult<Self> {
        let key = PrivateKey::new(&octets(p)?, &octets(q)?);
        Ok(Self { key: key.or_raise(p.py())?, is_picklable: false })
    }

    /// The primes.
    fn primes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let ints = Ints::new(py)?;
        self.key.primes().iter().map(|prime| ints.read(prime, false)).collect()
    }

    fn to_json(&self, py: Python<'_>, kid: &str) -> PyResult<String> {
        Ok(self.key.to_json(kid).or_raise(py)?.to_string())
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { key: PrivateKey::from_json(text).or_raise(py)?, is_picklable: false })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.key.to_bytes().or_raise(py)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(Self { key: PrivateKey::from_bytes(data).or_raise(py)?, is_picklable: false })
    }

    /// This key, which can be pickled.
    fn picklable(&self) -> Self {
        Self { key: self.key.clone(), is_picklable: true }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if !self.is_picklable {
            let text = "a private key is pickled only on request, because a pickle shows it to all who read it: \
                        pickle key.picklable()";
            return Err(PyTypeError::new_err(text));
        }
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        (unpickle, (self.to_bytes(py)?,)).into_pyobject(py)
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(Self { is_picklable: true, ..Self::from_bytes(py, data)? })
    }

    fn __repr__(&self) -> String {
        format!("<modmill.paillier.PrivateKey of {} bits>", self.key.bits())
    }
}
