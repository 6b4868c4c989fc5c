//! Encryption and decryption.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{Output, put, values};
use crate::locks::lock;
use crate::operation::{Decrypting, Encrypting};
use crate::refusal::Answer;
use crate::session::{begun, idle, take};
use cryptoki_sys::*;

functions! {
    fn C_EncryptInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = lock(&session.work);
        if given.is_null() {
            work.encrypt = None;
            return Ok(());
        }
        idle(&work.encrypt)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        work.encrypt = Some(Encrypting::new(slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?, &mechanism)?);
        Ok(())
    }

    fn C_Encrypt(
        module,
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        len: CK_ULONG,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let size = begun(&mut work.encrypt)?.size()?;
        let output = Output::new(ciphertext, ciphertext_len)?;
        if !output.takes(size)? {
            return Ok(());
        }
        let mut encrypting = take(&mut work.encrypt)?;
        encrypting.update(values(data.cast_const(), len)?)?;
        output.give(&encrypting.finish()?)
    }

    fn C_EncryptUpdate(
        module,
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        len: CK_ULONG,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        if ciphertext.is_null() {
            // The program asks how long the answer is, and calls again with the data.
            begun(&mut work.encrypt)?;
            return put(ciphertext_len, 0);
        }
        let data = values(data.cast_const(), len);
        let updated = data.and_then(|data| begun(&mut work.encrypt)?.update(data));
        // An error ends the operation. The whole ciphertext comes at the end.
        updated.and_then(|()| put(ciphertext_len, 0)).inspect_err(|_| work.encrypt = None)
    }

    fn C_EncryptFinal(
        module,
        session: CK_SESSION_HANDLE,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let size = begun(&mut work.encrypt)?.size()?;
        let output = Output::new(ciphertext, ciphertext_len)?;
        if !output.takes(size)? {
            return Ok(());
        }
        output.give(&take(&mut work.encrypt)?.finish()?)
    }

    fn C_DecryptInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = lock(&session.work);
        if given.is_null() {
            work.decrypt = None;
            return Ok(());
        }
        idle(&work.decrypt)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        work.decrypt = Some(Decrypting::new(slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?, &mechanism)?);
        Ok(())
    }

    fn C_Decrypt(
        module,
        session: CK_SESSION_HANDLE,
        ciphertext: *mut CK_BYTE,
        len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let decrypting = begun(&mut work.decrypt)?;
        if !decrypting.has_message() {
            let output = Output::new(data, data_len)?;
            if data.is_null() {
                return output.takes(decrypting.bound()?).map(drop);
            }
            let updated = values(ciphertext.cast_const(), len).and_then(|bytes| decrypting.update(bytes));
            updated.inspect_err(|_| work.decrypt = None)?;
        }
        finish(&mut work.decrypt, data, data_len)
    }

    fn C_DecryptUpdate(
        module,
        session: CK_SESSION_HANDLE,
        ciphertext: *mut CK_BYTE,
        len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        if data.is_null() {
            begun(&mut work.decrypt)?;
            return put(data_len, 0);
        }
        let ciphertext = values(ciphertext.cast_const(), len);
        let updated = ciphertext.and_then(|bytes| begun(&mut work.decrypt)?.update(bytes));
        updated.and_then(|()| put(data_len, 0)).inspect_err(|_| work.decrypt = None)
    }

    fn C_DecryptFinal(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: *mut CK_ULONG) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let decrypting = begun(&mut work.decrypt)?;
        if data.is_null() && !decrypting.has_message() {
            return Output::new(data, data_len)?.takes(decrypting.bound()?).map(drop);
        }
        finish(&mut work.decrypt, data, data_len)
    }
}

/// Gives the message of a decryption. The operation goes on if the program asks for the length, or if the buffer is too small.
///
/// # Safety
/// As for [`Output::new`].
unsafe fn finish(operation: &mut Option<Decrypting>, data: *mut CK_BYTE, data_len: *mut CK_ULONG) -> Answer {
    // SAFETY: as the caller promises.
    let output = unsafe { Output::new(data, data_len) }?;
    let answer = begun(operation)?.message().and_then(|message| output.give(message));
    let goes_on = match &answer {
        Ok(()) => data.is_null(),
        Err(refusal) => refusal.code == CKR_BUFFER_TOO_SMALL,
    };
    if !goes_on {
        *operation = None;
    }
    answer
}
