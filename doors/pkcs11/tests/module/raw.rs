//! Calls through the function list, for what no client library does.
//!
//! The functions are those that the tests link, and not those of the shared library, so that this is a second
//! module on the same tokens.
#![allow(unsafe_code)]

use crate::common::{USER, folder, fresh_slot, initialise};
use cryptoki_sys::*;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Calls a function of the list.
macro_rules! call {
    ($name:ident($($argument:expr),*)) => {
        // SAFETY: pointers are null, or unaligned, or point to as much as their lengths say; or the lengths
        // are such that the module refuses them before it reads.
        unsafe { $crate::raw::list().$name.unwrap()($($argument),*) }
    };
}
pub(crate) use call;

pub(crate) fn list() -> &'static CK_FUNCTION_LIST {
    static READY: OnceLock<()> = OnceLock::new();
    let mut list = null_mut();
    // SAFETY: the pointer leads to memory for a pointer, and the list is a constant.
    let list: &CK_FUNCTION_LIST = unsafe {
        assert_eq!(modmill_pkcs11::C_GetFunctionList(&mut list), CKR_OK);
        &*list
    };
    READY.get_or_init(|| {
        folder();
        // SAFETY: null is the usual way.
        assert_eq!(unsafe { list.C_Initialize.unwrap()(null_mut()) }, CKR_OK);
    });
    list
}

pub(crate) fn attribute<T>(type_: CK_ATTRIBUTE_TYPE, value: &mut [T]) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE { type_, pValue: value.as_mut_ptr().cast(), ulValueLen: size_of_val(value) as CK_ULONG }
}

/// A session whose user is logged in.
pub(crate) fn session() -> CK_SESSION_HANDLE {
    let slot = fresh_slot();
    initialise(slot);
    let mut session = 0;
    let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
    assert_eq!(call!(C_OpenSession(slot.id() as CK_SLOT_ID, flags, null_mut(), None, &mut session)), CKR_OK);
    let mut pin = USER.as_bytes().to_vec();
    assert_eq!(call!(C_Login(session, CKU_USER, pin.as_mut_ptr(), pin.len() as CK_ULONG)), CKR_OK);
    session
}

pub(crate) fn mechanism(mechanism: CK_MECHANISM_TYPE) -> CK_MECHANISM {
    CK_MECHANISM { mechanism, pParameter: null_mut(), ulParameterLen: 0 }
}

/// A mechanism with a parameter that is a structure.
pub(crate) fn with_parameter<T>(mechanism: CK_MECHANISM_TYPE, parameter: &mut T) -> CK_MECHANISM {
    let len = size_of::<T>() as CK_ULONG;
    CK_MECHANISM { mechanism, pParameter: std::ptr::from_mut(parameter).cast(), ulParameterLen: len }
}

/// A key of 2048 bits: public and private.
pub(crate) fn key_pair(session: CK_SESSION_HANDLE) -> [CK_OBJECT_HANDLE; 2] {
    let (mut bits, mut yes) = ([2048 as CK_ULONG], [CK_TRUE]);
    let mut public = [attribute(CKA_MODULUS_BITS, &mut bits), attribute(CKA_WRAP, &mut yes)];
    let mut private = [attribute(CKA_UNWRAP, &mut [CK_TRUE]), attribute(CKA_EXTRACTABLE, &mut [CK_TRUE])];
    let mut handles = [0; 2];
    let [first, second] = &mut handles;
    let mut generate = mechanism(CKM_RSA_PKCS_KEY_PAIR_GEN);
    let code = call!(C_GenerateKeyPair(
        session,
        &mut generate,
        public.as_mut_ptr(),
        2,
        private.as_mut_ptr(),
        2,
        first,
        second
    ));
    assert_eq!(code, CKR_OK);
    handles
}
