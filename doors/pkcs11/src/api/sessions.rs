//! Sessions, logins and PINs.

use super::functions;
use super::memory::{pin, put};
use crate::refusal::refuse;
use crate::session::Work;
use cryptoki_sys::*;
use std::ffi::c_void;

functions! {
    fn C_OpenSession(
        module,
        slot: CK_SLOT_ID,
        flags: CK_FLAGS,
        _application: *mut c_void,
        _notify: CK_NOTIFY,
        session: *mut CK_SESSION_HANDLE,
    ) {
        // A null pointer is found before there is a session that nobody knows.
        put(session, CK_INVALID_HANDLE)?;
        put(session, module.open(slot, flags)?)
    }

    fn C_CloseSession(module, session: CK_SESSION_HANDLE) {
        module.close(session)
    }

    fn C_CloseAllSessions(module, slot: CK_SLOT_ID) {
        module.close_all(slot)
    }

    fn C_GetSessionInfo(module, session: CK_SESSION_HANDLE, info: *mut CK_SESSION_INFO) {
        put(info, module.session_info(&*module.session(session)?)?)
    }

    fn C_Login(module, session: CK_SESSION_HANDLE, user: CK_USER_TYPE, text: *mut CK_UTF8CHAR, len: CK_ULONG) {
        let session = module.session(session)?;
        module.log_in(&session, user, &pin(text, len)?)
    }

    fn C_LoginUser(
        module,
        session: CK_SESSION_HANDLE,
        user: CK_USER_TYPE,
        text: *mut CK_UTF8CHAR,
        len: CK_ULONG,
        _name: *mut CK_UTF8CHAR,
        name_len: CK_ULONG,
    ) {
        if name_len != 0 {
            return refuse(CKR_ARGUMENTS_BAD, "the users of a token have no names");
        }
        let session = module.session(session)?;
        module.log_in(&session, user, &pin(text, len)?)
    }

    fn C_Logout(module, session: CK_SESSION_HANDLE) {
        let session = module.session(session)?;
        module.slot_of(&session)?.log_out()
    }

    fn C_InitPIN(module, session: CK_SESSION_HANDLE, text: *mut CK_UTF8CHAR, len: CK_ULONG) {
        let session = module.session(session)?;
        module.slot_of(&session)?.token().set_user_pin(&pin(text, len)?)
    }

    fn C_SetPIN(
        module,
        session: CK_SESSION_HANDLE,
        old: *mut CK_UTF8CHAR,
        old_len: CK_ULONG,
        new: *mut CK_UTF8CHAR,
        new_len: CK_ULONG,
    ) {
        let session = module.session(session)?;
        if !session.writable {
            return refuse(CKR_SESSION_READ_ONLY, "a PIN is changed in a session that may write");
        }
        module.slot_of(&session)?.token().change_pin(&pin(old, old_len)?, &pin(new, new_len)?)
    }

    fn C_SessionCancel(module, session: CK_SESSION_HANDLE, flags: CK_FLAGS) {
        let session = module.session(session)?;
        let mut guard = session.work.lock();
        let Work { found, digest, sign, verify, recover, encrypt, decrypt } = &mut *guard;
        let has = |flag| flags & flag != 0;
        found.take_if(|_| has(CKF_FIND_OBJECTS));
        digest.take_if(|_| has(CKF_DIGEST));
        sign.take_if(|_| has(CKF_SIGN));
        verify.take_if(|_| has(CKF_VERIFY));
        recover.take_if(|_| has(CKF_VERIFY_RECOVER));
        encrypt.take_if(|_| has(CKF_ENCRYPT));
        decrypt.take_if(|_| has(CKF_DECRYPT));
        Ok(())
    }
}
