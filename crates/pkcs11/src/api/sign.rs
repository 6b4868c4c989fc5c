//! Signatures.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{Output, values};
use crate::locks::lock;
use crate::operation::{Signing, Verifying};
use crate::session::{begun, idle, take};
use cryptoki_sys::*;

functions! {
    fn C_SignInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = lock(&session.work);
        // Version 3.0 cancels an operation by a null mechanism.
        if given.is_null() {
            work.sign = None;
            return Ok(());
        }
        idle(&work.sign)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        work.sign = Some(Signing::new(slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?, &mechanism)?);
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
        let mut work = lock(&session.work);
        let size = begun(&mut work.sign)?.size()?;
        let output = Output::new(signature, signature_len)?;
        if !output.takes(size)? {
            return Ok(());
        }
        let mut signing = take(&mut work.sign)?;
        signing.update(values(data.cast_const(), len)?)?;
        output.give(&signing.finish()?)
    }

    fn C_SignUpdate(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, len: CK_ULONG) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let data = values(data.cast_const(), len);
        let updated = data.and_then(|data| begun(&mut work.sign)?.update(data));
        // An error ends the operation.
        updated.inspect_err(|_| work.sign = None)
    }

    fn C_SignFinal(
        module,
        session: CK_SESSION_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let size = begun(&mut work.sign)?.size()?;
        let output = Output::new(signature, signature_len)?;
        if !output.takes(size)? {
            return Ok(());
        }
        output.give(&take(&mut work.sign)?.finish()?)
    }

    fn C_VerifyInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = lock(&session.work);
        if given.is_null() {
            work.verify = None;
            return Ok(());
        }
        idle(&work.verify)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        work.verify = Some(Verifying::new(slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?, &mechanism)?);
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
        let mut verifying = take(&mut lock(&session.work).verify)?;
        verifying.update(values(data.cast_const(), len)?)?;
        verifying.finish(values(signature.cast_const(), signature_len)?)
    }

    fn C_VerifyUpdate(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, len: CK_ULONG) {
        let session = module.session(session)?;
        let mut work = lock(&session.work);
        let data = values(data.cast_const(), len);
        let updated = data.and_then(|data| begun(&mut work.verify)?.update(data));
        updated.inspect_err(|_| work.verify = None)
    }

    fn C_VerifyFinal(
        module,
        session: CK_SESSION_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        let session = module.session(session)?;
        let verifying = take(&mut lock(&session.work).verify)?;
        verifying.finish(values(signature.cast_const(), signature_len)?)
    }
}
