//! Reading and writing OpenSSL's parameters (`OSSL_PARAM`, openssl-core.h(7)).

mod built;

pub(crate) use built::{Built, Numbers};

use crate::failure::Failure;
use crate::ffi::{Param, octets};
use crate::names::param;
use std::ffi::{CStr, c_char};
use zeroize::Zeroizing;

pub(crate) const INTEGER: u32 = 1;
pub(crate) const UNSIGNED: u32 = 2;
pub(crate) const UTF8: u32 = 4;
pub(crate) const OCTETS: u32 = 5;
pub(crate) const UTF8_POINTER: u32 = 6;
pub(crate) const OCTETS_POINTER: u32 = 7;

/// The longest text and the longest byte string that a caller may pass: longer ones are errors of the caller.
const LONGEST: usize = 1 << 20;

/// Parameters that a caller passes.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    first: *const Param,
    lifetime: std::marker::PhantomData<&'a Param>,
}

impl<'a> Given<'a> {
    /// The parameters at `first`.
    ///
    /// # Safety
    /// `first` is null, or a list of parameters that one without a name ends. Their data can be read until
    /// `'a` ends.
    pub(crate) unsafe fn new(first: *const Param) -> Self {
        Self { first, lifetime: std::marker::PhantomData }
    }

    fn find(self, name: &CStr) -> Option<&'a Param> {
        let mut param = self.first;
        // SAFETY: as Given::new demands, every parameter can be read up to one without a name, and names end
        // with a zero.
        unsafe {
            while !param.is_null() && !(*param).key.is_null() {
                if CStr::from_ptr((*param).key) == name {
                    return Some(&*param);
                }
                param = param.add(1);
            }
        }
        None
    }

    /// Whether a parameter is given.
    pub(crate) fn has(self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    /// A small number, or `None` if it is not given. It may have any length: OpenSSL makes numbers from text
    /// with as few bytes as they need, and none for 0.
    pub(crate) fn integer(self, name: &CStr) -> Result<Option<i64>, Failure> {
        let Some(param) = self.find(name) else { return Ok(None) };
        let is_signed = match param.data_type {
            INTEGER => true,
            UNSIGNED => false,
            _ => return Err(wrong(name, "is not a number")),
        };
        // SAFETY: as Given::new demands, data_size bytes can be read.
        let mut octets = unsafe { octets(param.data.cast(), param.data_size) }.to_vec();
        if cfg!(target_endian = "big") {
            octets.reverse();
        }
        let is_negative = is_signed && octets.last().is_some_and(|last| last & 0x80 != 0);
        let fill = if is_negative { 0xff } else { 0 };
        octets.resize(octets.len().max(9), fill);
        let (low, high) = octets.split_first_chunk().ok_or_else(|| wrong(name, "is empty"))?;
        let value = i64::from_le_bytes(*low);
        match high.iter().all(|octet| *octet == fill) && (value < 0) == is_negative {
            true => Ok(Some(value)),
            false => Err(wrong(name, "has more than 63 bits")),
        }
    }

    /// A long number as big-endian bytes, or `None` if it is not given.
    pub(crate) fn number(self, name: &CStr) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
        let Some(param) = self.find(name) else { return Ok(None) };
        if param.data_type != UNSIGNED || param.data_size > LONGEST {
            return Err(wrong(name, "is not an unsigned number"));
        }
        // SAFETY: as Given::new demands, data_size bytes can be read.
        let mut number = Zeroizing::new(unsafe { octets(param.data.cast(), param.data_size) }.to_vec());
        // Numbers are in the order of the machine.
        if cfg!(target_endian = "little") {
            number.reverse();
        }
        Ok(Some(number))
    }

    /// The numbers of a key that are given.
    pub(crate) fn numbers(self) -> Result<Numbers, Failure> {
        let mut numbers = Numbers::new();
        for name in param::NUMBERS.into_iter().chain(param::FURTHER.into_iter().flatten()) {
            numbers.extend(self.number(name)?.map(|number| (name, number)));
        }
        Ok(numbers)
    }

    /// A text, or `None` if it is not given or is of another type.
    pub(crate) fn text(self, name: &CStr) -> Result<Option<String>, Failure> {
        let Some(param) = self.find(name) else { return Ok(None) };
        // SAFETY: as Given::new demands, the data can be read: data_size bytes, or a pointer to them.
        let data = unsafe {
            match param.data_type {
                UTF8 => octets(param.data.cast(), param.data_size.min(LONGEST)),
                UTF8_POINTER if !param.data.is_null() => {
                    octets(*param.data.cast::<*const u8>(), param.data_size.min(LONGEST))
                }
                _ => return Ok(None),
            }
        };
        let data = data.split(|octet| *octet == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(data).map_err(|_| wrong(name, "is no UTF-8 text"))?;
        Ok(Some(text.to_owned()))
    }

    /// Bytes, or `None` if they are not given.
    pub(crate) fn octets(self, name: &CStr) -> Result<Option<Vec<u8>>, Failure> {
        let Some(param) = self.find(name) else { return Ok(None) };
        if param.data_type != OCTETS || param.data_size > LONGEST {
            return Err(wrong(name, "is no octet string"));
        }
        // SAFETY: as Given::new demands, data_size bytes can be read.
        Ok(Some(unsafe { octets(param.data.cast(), param.data_size) }.to_vec()))
    }
}

fn wrong(name: &CStr, problem: &str) -> Failure {
    Failure::Parameter(format!("the parameter {} {problem}", name.to_string_lossy()))
}

/// Parameters that a caller asks for.
pub(crate) struct Wanted {
    first: *mut Param,
}

impl Wanted {
    /// The parameters at `first`.
    ///
    /// # Safety
    /// `first` is null, or a list of parameters that one without a name ends. Their data can be written by
    /// this thread alone while this value exists.
    pub(crate) unsafe fn new(first: *mut Param) -> Self {
        Self { first }
    }

    /// Writes the value that `value` returns, if the parameter is asked for.
    pub(crate) fn set<'v>(
        &mut self,
        name: &CStr,
        value: impl FnOnce() -> Result<Value<'v>, Failure>,
    ) -> Result<(), Failure> {
        let mut param = self.first;
        // SAFETY: as Wanted::new demands, every parameter can be read and written up to one without a name.
        unsafe {
            while !param.is_null() && !(*param).key.is_null() {
                if CStr::from_ptr((*param).key) == name {
                    return value()?.write(&mut *param, name);
                }
                param = param.add(1);
            }
        }
        Ok(())
    }
}

/// The value of a parameter.
pub(crate) enum Value<'a> {
    /// A small number.
    Integer(i64),
    /// A long number, as big-endian bytes.
    Number(&'a [u8]),
    /// A text that never changes.
    Text(&'static CStr),
    /// A text.
    String(String),
    /// Bytes.
    Octets(&'a [u8]),
    /// Bytes that stay where they are for as long as the object that is asked, or until they are set anew.
    Kept(&'a [u8]),
}

impl Value<'_> {
    /// Writes the value to the memory of a parameter. Without memory only the length is written.
    ///
    /// # Safety
    /// `param.data` is null, or `param.data_size` bytes can be written there.
    unsafe fn write(&self, param: &mut Param, name: &CStr) -> Result<(), Failure> {
        let (bytes, len): (Zeroizing<Vec<u8>>, usize) = match (self, param.data_type) {
            (Self::Integer(value), INTEGER | UNSIGNED) => {
                let size = if param.data_size == 0 { 8 } else { param.data_size };
                let fill = if *value < 0 { 0xff } else { 0 };
                let mut bytes = value.to_le_bytes().to_vec();
                // A number that needs more bytes than there are would be cut.
                if bytes.iter().skip(size).any(|octet| *octet != fill) {
                    return Err(wrong(name, "does not fit in the memory of the caller"));
                }
                bytes.resize(size, fill);
                (bytes.into(), size)
            }
            (Self::Number(number), UNSIGNED) => {
                let mut bytes = Zeroizing::new(number.to_vec());
                bytes.reverse();
                let len = bytes.len();
                if !param.data.is_null() {
                    bytes.resize(len.max(param.data_size), 0);
                }
                (bytes, len)
            }
            (Self::Text(text), UTF8) => (Zeroizing::new(text.to_bytes().to_vec()), text.to_bytes().len()),
            (Self::Text(text), UTF8_POINTER) => {
                param.return_size = text.to_bytes().len();
                if !param.data.is_null() {
                    // SAFETY: the data of this type is a pointer, as OpenSSL documents.
                    unsafe { *param.data.cast::<*const c_char>() = text.as_ptr() };
                }
                return Ok(());
            }
            (Self::String(text), UTF8) => (Zeroizing::new(text.clone().into_bytes()), text.len()),
            (Self::Kept(octets), OCTETS_POINTER) => {
                param.return_size = octets.len();
                if !param.data.is_null() {
                    let start = if octets.is_empty() { std::ptr::null() } else { octets.as_ptr() };
                    // SAFETY: the data of this type is a pointer, as OpenSSL documents.
                    unsafe { *param.data.cast::<*const u8>() = start };
                }
                return Ok(());
            }
            (Self::Octets(octets) | Self::Kept(octets), OCTETS) => {
                (Zeroizing::new(octets.to_vec()), octets.len())
            }
            _ => return Err(wrong(name, "is asked for as another type than it has")),
        };
        param.return_size = len;
        if param.data.is_null() {
            return Ok(());
        }
        if bytes.len() > param.data_size {
            return Err(Failure::Room { needed: len, room: param.data_size });
        }
        if cfg!(target_endian = "big") && matches!(self, Self::Integer(_) | Self::Number(_)) {
            return Err(wrong(name, "cannot be written on a machine of this byte order"));
        }
        // SAFETY: there is room for as many bytes as there are, as was checked.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), param.data.cast::<u8>(), bytes.len());
            if matches!(self, Self::Text(_) | Self::String(_)) && param.data_size > bytes.len() {
                *param.data.cast::<u8>().add(bytes.len()) = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_read() {
        let read = |data_type, octets: &mut [u8]| {
            let (data, data_size) = (octets.as_mut_ptr().cast(), octets.len());
            let param = Param { key: c"number".as_ptr(), data_type, data, data_size, return_size: 0 };
            let list = [param, crate::ffi::LAST];
            // SAFETY: the list ends, and its data lives until the number is read.
            unsafe { Given::new(list.as_ptr()) }.integer(c"number").ok().flatten()
        };
        for (data_type, octets, expected) in [
            (UNSIGNED, &[][..], Some(0)),
            (INTEGER, &[], Some(0)),
            (UNSIGNED, &[200], Some(200)),
            (INTEGER, &[200], Some(-56)),
            (UNSIGNED, &[0, 0, 1], Some(65_536)),
            (INTEGER, &[0xff, 0xff, 0xff], Some(-1)),
            (UNSIGNED, &[0xff; 8], None),
            (INTEGER, &[0xff; 8], Some(-1)),
            (INTEGER, &[0xff; 12], Some(-1)),
            (UNSIGNED, &[7, 0, 0, 0, 0, 0, 0, 0, 0, 0], Some(7)),
            (UNSIGNED, &[7, 0, 0, 0, 0, 0, 0, 0, 1], None),
            (UTF8, b"7", None),
        ] {
            let mut octets = octets.to_vec();
            if cfg!(target_endian = "big") {
                octets.reverse();
            }
            assert_eq!(read(data_type, &mut octets), expected, "{data_type} {octets:?}");
        }
    }
}
