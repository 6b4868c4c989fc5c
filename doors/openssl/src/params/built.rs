//! Lists of parameters that this provider passes on.

use super::{INTEGER, OCTETS, UNSIGNED, UTF8};
use crate::ffi::{LAST, Param};
use std::ffi::{CStr, CString, c_void};
use zeroize::Zeroizing;

/// Numbers of a key by their names, big-endian.
pub(crate) type Numbers = Vec<(&'static CStr, Zeroizing<Vec<u8>>)>;

/// Parameters that the provider passes to a callback or to OpenSSL.
#[derive(Default)]
pub(crate) struct Built {
    params: Vec<Param>,
    /// The memory that the parameters point to. The heap memory of a vector does not move when the vector
    /// does.
    data: Vec<Zeroizing<Vec<u8>>>,
    texts: Vec<CString>,
}

impl Built {
    /// The list of a key's numbers.
    pub(crate) fn numbers(numbers: &Numbers) -> Self {
        let mut built = Self::default();
        numbers.iter().for_each(|(name, number)| built.number(name, number));
        built
    }

    fn push(&mut self, name: &'static CStr, data_type: u32, data: *mut c_void, data_size: usize) {
        let return_size = usize::MAX;
        self.params.push(Param { key: name.as_ptr(), data_type, data, data_size, return_size });
    }

    /// Adds a long number, given as big-endian bytes.
    pub(crate) fn number(&mut self, name: &'static CStr, number: &[u8]) {
        let mut octets = Zeroizing::new(number.to_vec());
        if cfg!(target_endian = "little") {
            octets.reverse();
        }
        self.push(name, UNSIGNED, octets.as_mut_ptr().cast(), octets.len());
        self.data.push(octets);
    }

    /// Adds bytes. Returns where they are until this value is dropped.
    pub(crate) fn octets(&mut self, name: &'static CStr, octets: &[u8]) -> *mut u8 {
        let mut octets = Zeroizing::new(octets.to_vec());
        let place = octets.as_mut_ptr();
        self.push(name, OCTETS, place.cast(), octets.len());
        self.data.push(octets);
        place
    }

    /// Adds a small number.
    pub(crate) fn integer(&mut self, name: &'static CStr, value: i32) {
        let mut octets = Zeroizing::new(value.to_ne_bytes().to_vec());
        self.push(name, INTEGER, octets.as_mut_ptr().cast(), octets.len());
        self.data.push(octets);
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, name: &'static CStr, text: &str) {
        let text = CString::new(text).unwrap_or_default();
        self.push(name, UTF8, text.as_ptr().cast_mut().cast(), text.as_bytes().len());
        self.texts.push(text);
    }

    /// Calls `work` with the list.
    pub(crate) fn with<T>(mut self, work: impl FnOnce(*const Param) -> T) -> T {
        self.params.push(LAST);
        work(self.params.as_ptr())
    }
}
