//! Signatures.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{Output, values};
use crate::operation::{Recovering, Signing, Verifying};
use crate::session::{Begun, idle, last, part, take};
use cryptoki_sys::*;

functions! {
    fn C_SignInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        // Version 3.0 cancels an operation by a null mechanism.
        if given.is_null() {
            work.sign = None;
            return Ok(());
        }
        idle(&work.sign)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let key = slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?;
        let asks = key.flag(CKA_ALWAYS_AUTHENTICATE);
        work.sign = Some(Begun::with_pin(Signing::new(key, &mechanism)?, asks));
        Ok(())
    }

    fn C_Sign(
        module,
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let output = || Output::new(signature, signature_len);
        match last(&mut work.sign, true, |signing| output()?.takes(signing.size()?))? {
            None => Ok(()),
            Some(mut signing) => {
                signing.update(values(data.cast_const(), len)?)?;
                output()?.give(&signing.finish()?)
            }
        }
    }

    fn C_SignUpdate(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, len: CK_ULONG) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        part(&mut work.sign, |signing| signing.update(values(data.cast_const(), len)?))
    }

    fn C_SignFinal(
        module,
        session: CK_SESSION_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let output = || Output::new(signature, signature_len);
        match last(&mut work.sign, false, |signing| output()?.takes(signing.size()?))? {
            None => Ok(()),
            Some(signing) => output()?.give(&signing.finish()?),
        }
    }

    fn C_VerifyInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        if given.is_null() {
            work.verify = None;
            return Ok(());
        }
        idle(&work.verify)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let key = slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?;
        work.verify = Some(Begun::new(Verifying::new(key, &mechanism)?));
        Ok(())
    }

    fn C_Verify(
        module,
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        let session = module.session(session)?;
        let begun = take(&mut session.work.lock().verify)?;
        begun.check_whole(true)?;
        let mut verifying = begun.operation;
        verifying.update(values(data.cast_const(), len)?)?;
        verifying.finish(values(signature.cast_const(), signature_len)?)
    }

    fn C_VerifyUpdate(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, len: CK_ULONG) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        part(&mut work.verify, |verifying| verifying.update(values(data.cast_const(), len)?))
    }

    fn C_VerifyFinal(
        module,
        session: CK_SESSION_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        let session = module.session(session)?;
        take(&mut session.work.lock().verify)?.operation.finish(values(signature.cast_const(), signature_len)?)
    }

    fn C_VerifyRecoverInit(
        module,
        session: CK_SESSION_HANDLE,
        given: *mut CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
    ) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        if given.is_null() {
            work.recover = None;
            return Ok(());
        }
        idle(&work.recover)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        work.recover = Some(Recovering::new(slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?, &mechanism)?);
        Ok(())
    }

    fn C_VerifyRecover(
        module,
        session: CK_SESSION_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let recovering = take(&mut work.recover)?;
        let found = recovering.recover(values(signature.cast_const(), signature_len)?)?;
        let given = Output::new(data, data_len)?.give(&found);
        // The program knows the length now, and calls again.
        if data.is_null() || given.as_ref().is_err_and(|refusal| refusal.code == CKR_BUFFER_TOO_SMALL) {
            work.recover = Some(recovering);
        }
        given
    }
}
