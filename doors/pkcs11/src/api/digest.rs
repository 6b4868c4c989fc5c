//! Digests.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{Output, values};
use crate::refusal::{Refusal, refuse};
use crate::session::{Begun, begun, idle, last, part};
use cryptoki_sys::*;

functions! {
    fn C_DigestInit(module, session: CK_SESSION_HANDLE, given: *mut CK_MECHANISM) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        if given.is_null() {
            work.digest = None;
            return Ok(());
        }
        idle(&work.digest)?;
        let row = mechanism(given.cast_const(), slot)?.row;
        row.serves(CKF_DIGEST)?;
        let none = || Refusal::new(CKR_MECHANISM_INVALID, "the mechanism has no hash");
        work.digest = Some(Begun::new(row.hash.ok_or_else(none)?.hasher()));
        Ok(())
    }

    fn C_Digest(
        module,
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        len: CK_ULONG,
        digest: *mut CK_BYTE,
        digest_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let output = || Output::new(digest, digest_len);
        match last(&mut work.digest, true, |hasher| output()?.takes(hasher.hash().len()))? {
            None => Ok(()),
            Some(mut hasher) => {
                hasher.update(values(data.cast_const(), len)?);
                output()?.give(hasher.finish().as_ref())
            }
        }
    }

    fn C_DigestUpdate(module, session: CK_SESSION_HANDLE, data: *mut CK_BYTE, len: CK_ULONG) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        part(&mut work.digest, |hasher| {
            hasher.update(values(data.cast_const(), len)?);
            Ok(())
        })
    }

    fn C_DigestKey(module, session: CK_SESSION_HANDLE, _key: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        begun(&mut session.work.lock().digest)?;
        refuse(CKR_FUNCTION_NOT_SUPPORTED, "the digest of a key says something of the key")
    }

    fn C_DigestFinal(module, session: CK_SESSION_HANDLE, digest: *mut CK_BYTE, digest_len: *mut CK_ULONG) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let output = || Output::new(digest, digest_len);
        match last(&mut work.digest, false, |hasher| output()?.takes(hasher.hash().len()))? {
            None => Ok(()),
            Some(hasher) => output()?.give(hasher.finish().as_ref()),
        }
    }
}
