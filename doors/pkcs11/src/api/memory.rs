//! The memory of the program: read and written once, by copies.

use crate::attributes;
use crate::refusal::{Answer, Refusal, refuse};
use crate::template::Template;
use cryptoki_sys::*;
use modmill_seal::SecretBytes;
use zeroize::Zeroizing;

/// The most attributes of a template, and the most bytes of a value. Both are far above what objects have.
const MOST_ATTRIBUTES: usize = 1024;
pub(super) const LONGEST_VALUE: usize = 16 << 20;

fn bad<T>(reason: &'static str) -> Answer<T> {
    refuse(CKR_ARGUMENTS_BAD, reason)
}

/// More bytes than any program has: half of the addresses of 48 bits, or all that a pointer can count.
const MOST_BYTES: usize = if usize::BITS > 48 { 1 << 47 } else { isize::MAX as usize };

/// Whether `count` values from `pointer` on can be an object in memory.
pub(super) fn is_possible<T>(pointer: *const T, count: usize) -> bool {
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes < MOST_BYTES);
    pointer.is_aligned() && bytes.is_some_and(|bytes| pointer.addr().checked_add(bytes).is_some())
}

/// `count` values from `pointer` on. Null is nothing, and may be given for no values.
///
/// # Safety
/// A pointer that is not null points to `count` values, which nobody writes while the answer is used.
pub(super) unsafe fn values<'a, T>(pointer: *const T, count: CK_ULONG) -> Answer<&'a [T]> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !is_possible(pointer, count) {
        return bad("a pointer is null or not aligned, or its length is impossible");
    }
    // SAFETY: the pointer is aligned and not null, the values lie within the address space, and the caller
    // promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// The value at `pointer`.
///
/// # Safety
/// As for [`values`].
pub(super) unsafe fn value<'a, T>(pointer: *const T) -> Answer<&'a T> {
    // SAFETY: the caller promises one value.
    match unsafe { values(pointer, 1) }? {
        [value] => Ok(value),
        _ => bad("a pointer is null"),
    }
}

/// Writes `value` to `pointer`.
///
/// # Safety
/// A pointer that is not null points to memory for one value, which nobody else uses during the call.
pub(super) unsafe fn put<T: Copy>(pointer: *mut T, value: T) -> Answer {
    if pointer.is_null() || !is_possible(pointer.cast_const(), 1) {
        return bad("a pointer to an answer is null or not aligned");
    }
    // SAFETY: the pointer is aligned and not null, and the caller promises the rest.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The PIN at `pointer`. Null is an empty PIN, which no token takes.
///
/// # Safety
/// As for [`values`].
pub(super) unsafe fn pin(pointer: *const CK_UTF8CHAR, len: CK_ULONG) -> Answer<SecretBytes> {
    if pointer.is_null() {
        return Ok(SecretBytes::new(Zeroizing::default()));
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { values(pointer, len) }?;
    if bytes.len() > LONGEST_VALUE {
        return refuse(CKR_PIN_LEN_RANGE, "the PIN is too long");
    }
    Ok(SecretBytes::new(Zeroizing::new(bytes.to_vec())))
}

/// The template of `count` attributes at `pointer`.
///
/// # Safety
/// As for [`values`], also for the values of the attributes.
pub(super) unsafe fn template(pointer: *const CK_ATTRIBUTE, count: CK_ULONG) -> Answer<Template> {
    // SAFETY: as the caller promises.
    let entries = unsafe { values(pointer, count) }?;
    if entries.len() > MOST_ATTRIBUTES {
        return bad("the template has too many attributes");
    }
    let read = |entry: &CK_ATTRIBUTE| {
        // SAFETY: as the caller promises.
        let bytes = unsafe { values(entry.pValue.cast::<u8>().cast_const(), entry.ulValueLen) }?;
        if bytes.len() > LONGEST_VALUE {
            return refuse(CKR_ATTRIBUTE_VALUE_INVALID, "the value of an attribute is longer than 16 MiB");
        }
        Ok((entry.type_, attributes::parse(entry.type_, bytes)?))
    };
    entries.iter().map(read).collect()
}

/// A buffer for an answer whose length the program may not know.
pub(super) struct Output<T = u8> {
    buffer: *mut T,
    len: *mut CK_ULONG,
    room: usize,
}

impl<T: Copy> Output<T> {
    /// The buffer at `buffer`, with room for as many values as `len` points to.
    ///
    /// # Safety
    /// Pointers that are not null point to memory which nobody else uses during the call, as long as `len`
    /// says.
    pub(super) unsafe fn new(buffer: *mut T, len: *mut CK_ULONG) -> Answer<Self> {
        // SAFETY: as the caller promises.
        let room = usize::try_from(*unsafe { value(len.cast_const()) }?).unwrap_or(usize::MAX);
        // Programs give a large room with a null pointer to ask for the length.
        if !buffer.is_null() && room > 0 && !buffer.is_aligned() {
            return bad("a buffer is not aligned");
        }
        Ok(Self { buffer, len, room })
    }

    /// Whether the program gave a buffer with room for `count` values. If it gave none, it learns `count`. A
    /// buffer that is too small is refused.
    pub(super) fn takes(&self, count: usize) -> Answer<bool> {
        if !self.buffer.is_null() && count <= self.room {
            return Ok(true);
        }
        // SAFETY: `new` has read this place, and its caller promises that it may be written.
        unsafe { self.len.write(count as CK_ULONG) };
        match self.buffer.is_null() {
            true => Ok(false),
            false => Err(Refusal::new(CKR_BUFFER_TOO_SMALL, format!("the answer has a length of {count}"))),
        }
    }

    /// Gives the answer, or what [`Output::takes`] says.
    pub(super) fn give(&self, answer: &[T]) -> Answer {
        if self.takes(answer.len())? {
            // SAFETY: the buffer is not null, is aligned unless it has no room, and has room for the answer.
            // The answer is in memory of this module, so that the two do not overlap. `new` has read the
            // place of the length.
            unsafe {
                std::ptr::copy_nonoverlapping(answer.as_ptr(), self.buffer, answer.len());
                self.len.write(answer.len() as CK_ULONG);
            }
        }
        Ok(())
    }
}

/// `text` in a field of fixed length, with spaces after it.
pub(super) fn padded<const LEN: usize>(text: &str) -> [u8; LEN] {
    let mut field = [b' '; LEN];
    let end = (0..=LEN.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    field[..end].copy_from_slice(&text.as_bytes()[..end]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_pointers_are_refused() {
        let numbers = [1u64, 2];
        let start = numbers.as_ptr();
        // SAFETY: the pointers are null, or point to the two numbers, or are refused.
        unsafe {
            assert_eq!(values(start, 2).unwrap(), [1, 2]);
            assert!(values::<u64>(std::ptr::null(), 0).unwrap().is_empty());
            assert!(values::<u64>(std::ptr::null(), 1).is_err());
            for count in [CK_ULONG::MAX, CK_ULONG::MAX / 8, CK_ULONG::MAX / 16 + 1, 1 << 44, 1 << 59] {
                assert!(values(start, count).is_err(), "{count}");
            }
            assert!(values(start.byte_add(1), 1).is_err());
            assert!(put(std::ptr::null_mut::<u64>(), 1).is_err());
            assert!(pin(std::ptr::null(), 7).unwrap().expose().is_empty());
        }
    }

    #[test]
    fn a_buffer_is_filled_or_its_length_told() {
        let mut buffer = [0u8; 4];
        let give = |buffer: *mut u8, mut room: CK_ULONG, answer: &[u8]| {
            // SAFETY: the buffer is null, or has the room.
            let output = unsafe { Output::new(buffer, &mut room) }.unwrap();
            let code = output.give(answer).map_or_else(|refusal| refusal.code, |()| CKR_OK);
            (code, room)
        };
        assert_eq!(give(std::ptr::null_mut(), CK_ULONG::MAX, b"abc"), (CKR_OK, 3));
        assert_eq!(give(buffer.as_mut_ptr(), 2, b"abc"), (CKR_BUFFER_TOO_SMALL, 3));
        assert_eq!(buffer, [0; 4]);
        assert_eq!(give(buffer.as_mut_ptr(), 4, b"abc"), (CKR_OK, 3));
        assert_eq!(&buffer, b"abc\0");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(&padded::<4>("ab"), b"ab  ");
        assert_eq!(&padded::<2>("abc"), b"ab");
        assert_eq!(&padded::<2>("a\u{e9}"), b"a ");
    }
}
