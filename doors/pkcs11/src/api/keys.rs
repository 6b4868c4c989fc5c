//! Keys that are made, wrapped and unwrapped.

use super::functions;
use super::mechanism::mechanism;
use super::memory::{LONGEST_VALUE, Output, put, template, values};
use crate::attributes::Value;
use crate::operation::{aes_key, key_pair, unwrap, wrap};
use crate::refusal::Refusal;
use crate::template::{Template, given};
use cryptoki_sys::*;

/// Whether the object of a template is to be on the token.
fn is_on_token(template: &Template) -> bool {
    given(template, CKA_TOKEN) == Some(&Value::Flag(true))
}

/// Whether the private or secret key of a template needs a login.
fn is_private(template: &Template) -> bool {
    given(template, CKA_PRIVATE) != Some(&Value::Flag(false))
}

functions! {
    fn C_GenerateKey(
        module,
        session: CK_SESSION_HANDLE,
        given: *mut CK_MECHANISM,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        handle: *mut CK_OBJECT_HANDLE,
    ) {
        put(handle, CK_INVALID_HANDLE)?;
        let owner = session;
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let object = aes_key(&mechanism, &template(entries, count)?)?;
        put(handle, slot.add(&session, owner, vec![object])?[0] as CK_OBJECT_HANDLE)
    }

    fn C_GenerateKeyPair(
        module,
        session: CK_SESSION_HANDLE,
        given: *mut CK_MECHANISM,
        public_entries: *mut CK_ATTRIBUTE,
        public_count: CK_ULONG,
        private_entries: *mut CK_ATTRIBUTE,
        private_count: CK_ULONG,
        public_handle: *mut CK_OBJECT_HANDLE,
        private_handle: *mut CK_OBJECT_HANDLE,
    ) {
        put(public_handle, CK_INVALID_HANDLE)?;
        put(private_handle, CK_INVALID_HANDLE)?;
        let owner = session;
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let public = template(public_entries, public_count)?;
        let private = template(private_entries, private_count)?;
        // Before the long search for primes.
        slot.may_make(&session, is_on_token(&private) || is_on_token(&public), is_private(&private))?;
        let pair = key_pair(&mechanism, &public, &private)?;
        let handles = slot.add(&session, owner, pair.into())?;
        put(public_handle, handles[0] as CK_OBJECT_HANDLE)?;
        put(private_handle, handles[1] as CK_OBJECT_HANDLE)
    }

    fn C_WrapKey(
        module,
        session: CK_SESSION_HANDLE,
        given: *mut CK_MECHANISM,
        wrapper: CK_OBJECT_HANDLE,
        key: CK_OBJECT_HANDLE,
        wrapped: *mut CK_BYTE,
        wrapped_len: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let output = Output::new(wrapped, wrapped_len)?;
        let wrapper = slot.key(wrapper as u64, CKR_WRAPPING_KEY_HANDLE_INVALID)?;
        let key = slot.key(key as u64, CKR_KEY_HANDLE_INVALID)?;
        output.give(&wrap(&mechanism, &wrapper, &key)?)
    }

    fn C_UnwrapKey(
        module,
        session: CK_SESSION_HANDLE,
        given: *mut CK_MECHANISM,
        wrapper: CK_OBJECT_HANDLE,
        wrapped: *mut CK_BYTE,
        wrapped_len: CK_ULONG,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        handle: *mut CK_OBJECT_HANDLE,
    ) {
        put(handle, CK_INVALID_HANDLE)?;
        let owner = session;
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mechanism = mechanism(given.cast_const(), slot)?;
        let wrapper = slot.key(wrapper as u64, CKR_UNWRAPPING_KEY_HANDLE_INVALID)?;
        let template = template(entries, count)?;
        slot.may_make(&session, is_on_token(&template), is_private(&template))?;
        let wrapped = values(wrapped.cast_const(), wrapped_len)?;
        if wrapped.is_empty() || wrapped.len() > LONGEST_VALUE {
            return Err(Refusal::new(CKR_WRAPPED_KEY_LEN_RANGE, "the wrapped key is empty, or longer than any key"));
        }
        let object = unwrap(&mechanism, &wrapper, wrapped, &template)?;
        put(handle, slot.add(&session, owner, vec![object])?[0] as CK_OBJECT_HANDLE)
    }
}
