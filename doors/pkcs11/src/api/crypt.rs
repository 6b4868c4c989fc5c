//! Encryption and decryption.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{Output, put, values};
use crate::operation::{Decrypting, Encrypting};
use crate::refusal::Answer;
use crate::session::{Begun, begun, idle, last, part};
use cryptoki_sys::*;

functions! {
    fn C_EncryptInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        if given.is_null() {
            work.encrypt = None;
            return Ok(());
        }
        idle(&work.encrypt)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let key = slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?;
        work.encrypt = Some(Begun::new(Encrypting::new(key, &mechanism)?));
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
        let mut work = session.work.lock();
        let output = || Output::new(ciphertext, ciphertext_len);
        match last(&mut work.encrypt, true, |encrypting| output()?.takes(encrypting.size()?))? {
            None => Ok(()),
            Some(mut encrypting) => {
                encrypting.update(values(data.cast_const(), len)?)?;
                output()?.give(&encrypting.finish()?)
            }
        }
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
        let mut work = session.work.lock();
        if ciphertext.is_null() {
            // The program asks how long the answer is, and calls again with the data.
            begun(&mut work.encrypt)?;
            return put(ciphertext_len, 0);
        }
        // The whole ciphertext comes at the end.
        part(&mut work.encrypt, |encrypting| {
            encrypting.update(values(data.cast_const(), len)?)?;
            put(ciphertext_len, 0)
        })
    }

    fn C_EncryptFinal(
        module,
        session: CK_SESSION_HANDLE,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let output = || Output::new(ciphertext, ciphertext_len);
        match last(&mut work.encrypt, false, |encrypting| output()?.takes(encrypting.size()?))? {
            None => Ok(()),
            Some(encrypting) => output()?.give(&encrypting.finish()?),
        }
    }

    fn C_DecryptInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        if given.is_null() {
            work.decrypt = None;
            return Ok(());
        }
        idle(&work.decrypt)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let key = slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?;
        let asks = key.flag(CKA_ALWAYS_AUTHENTICATE);
        work.decrypt = Some(Begun::with_pin(Decrypting::new(key, &mechanism)?, asks));
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
        let mut work = session.work.lock();
        finish(&mut work.decrypt, Some((ciphertext, len)), (data, data_len))
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
        let mut work = session.work.lock();
        if data.is_null() {
            begun(&mut work.decrypt)?;
            return put(data_len, 0);
        }
        part(&mut work.decrypt, |decrypting| {
            decrypting.update(values(ciphertext.cast_const(), len)?)?;
            put(data_len, 0)
        })
    }

    fn C_DecryptFinal(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: *mut CK_ULONG) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        finish(&mut work.decrypt, None, (data, data_len))
    }
}

/// Gives the message of a decryption, of the ciphertext `whole` or of its parts. The operation goes on if the
/// program asks for the length, or if the buffer is too small.
///
/// # Safety
/// As for [`values`] and [`Output::new`].
unsafe fn finish(
    operation: &mut Option<Begun<Decrypting>>,
    whole: Option<(*mut CK_BYTE, CK_ULONG)>,
    (data, data_len): (*mut CK_BYTE, *mut CK_ULONG),
) -> Answer {
    let begun = begun(operation)?;
    let mut give = || {
        begun.check_whole(whole.is_some())?;
        // SAFETY: as the caller promises.
        let output = unsafe { Output::new(data, data_len) }?;
        if data.is_null() && !begun.operation.has_message() {
            return output.takes(begun.operation.bound()?).map(drop);
        }
        begun.check_pin()?;
        let decrypting = &mut begun.operation;
        if let Some((ciphertext, len)) = whole.filter(|_| !decrypting.has_message()) {
            // SAFETY: as the caller promises.
            decrypting.update(unsafe { values(ciphertext.cast_const(), len) }?)?;
        }
        output.give(decrypting.message()?)
    };
    let answer = give();
    let goes_on = match &answer {
        Ok(()) => data.is_null(),
        Err(refusal) => refusal.code == CKR_BUFFER_TOO_SMALL,
    };
    if !goes_on {
        *operation = None;
    }
    answer
}
