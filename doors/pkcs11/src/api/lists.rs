//! The function lists of three versions of PKCS #11, and the interfaces that name them.

use super::crypt::*;
use super::digest::*;
use super::finish;
use super::general::*;
use super::keys::*;
use super::memory::{Output, put, value};
use super::objects::*;
use super::sessions::*;
use super::sign::*;
use super::slots::*;
use super::unsupported::*;
use crate::refusal::refuse;
use cryptoki_sys::*;
use std::ffi::CStr;

/// Calls `$make` with its arguments and the names of all functions of version 2.40.
macro_rules! with_version_2 {
    ($make:ident, $list:ident, $version:expr $(, $more:ident)*) => {
        $make!(
            $list, $version,
            C_Initialize C_Finalize C_GetInfo C_GetFunctionList C_GetSlotList C_GetSlotInfo C_GetTokenInfo
            C_GetMechanismList C_GetMechanismInfo C_InitToken C_InitPIN C_SetPIN C_OpenSession C_CloseSession
            C_CloseAllSessions C_GetSessionInfo C_GetOperationState C_SetOperationState C_Login C_Logout
            C_CreateObject C_CopyObject C_DestroyObject C_GetObjectSize C_GetAttributeValue C_SetAttributeValue
            C_FindObjectsInit C_FindObjects C_FindObjectsFinal C_EncryptInit C_Encrypt C_EncryptUpdate C_EncryptFinal
            C_DecryptInit C_Decrypt C_DecryptUpdate C_DecryptFinal C_DigestInit C_Digest C_DigestUpdate C_DigestKey
            C_DigestFinal C_SignInit C_Sign C_SignUpdate C_SignFinal C_SignRecoverInit C_SignRecover C_VerifyInit
            C_Verify C_VerifyUpdate C_VerifyFinal C_VerifyRecoverInit C_VerifyRecover C_DigestEncryptUpdate
            C_DecryptDigestUpdate C_SignEncryptUpdate C_DecryptVerifyUpdate C_GenerateKey C_GenerateKeyPair C_WrapKey
            C_UnwrapKey C_DeriveKey C_SeedRandom C_GenerateRandom C_GetFunctionStatus C_CancelFunction
            C_WaitForSlotEvent
            $($more)*
        )
    };
}

/// Makes a list of the functions of version 2 and of those that version 3.0 adds.
macro_rules! with_version_3_0 {
    ($make:ident, $list:ident, $version:expr $(, $more:ident)*) => {
        with_version_2!(
            $make, $list, $version,
            C_GetInterfaceList, C_GetInterface, C_LoginUser, C_SessionCancel, C_MessageEncryptInit, C_EncryptMessage,
            C_EncryptMessageBegin, C_EncryptMessageNext, C_MessageEncryptFinal, C_MessageDecryptInit,
            C_DecryptMessage, C_DecryptMessageBegin, C_DecryptMessageNext, C_MessageDecryptFinal, C_MessageSignInit,
            C_SignMessage, C_SignMessageBegin, C_SignMessageNext, C_MessageSignFinal, C_MessageVerifyInit,
            C_VerifyMessage, C_VerifyMessageBegin, C_VerifyMessageNext, C_MessageVerifyFinal
            $(, $more)*
        )
    };
}

macro_rules! list {
    ($list:ident, $version:expr, $($name:ident)*) => {
        $list { version: $version, $($name: Some($name)),* }
    };
}

const VERSION_3_0: CK_VERSION = CK_VERSION { major: 3, minor: 0 };
const VERSION_3_2: CK_VERSION = CK_VERSION { major: 3, minor: 2 };

static LIST_2: CK_FUNCTION_LIST = with_version_2!(list, CK_FUNCTION_LIST, VERSION_2);
static LIST_3_0: CK_FUNCTION_LIST_3_0 = with_version_3_0!(list, CK_FUNCTION_LIST_3_0, VERSION_3_0);
static LIST_3_2: CK_FUNCTION_LIST_3_2 = with_version_3_0!(
    list,
    CK_FUNCTION_LIST_3_2,
    VERSION_3_2,
    C_EncapsulateKey,
    C_DecapsulateKey,
    C_VerifySignatureInit,
    C_VerifySignature,
    C_VerifySignatureUpdate,
    C_VerifySignatureFinal,
    C_GetSessionValidationFlags,
    C_AsyncComplete,
    C_AsyncGetID,
    C_AsyncJoin,
    C_WrapKeyAuthenticated,
    C_UnwrapKeyAuthenticated
);

/// The name of every interface here.
const NAME: &CStr = c"PKCS 11";

/// An interface as a program gets it.
#[repr(transparent)]
struct Interface(CK_INTERFACE);

// SAFETY: the pointers lead to constants, which nobody writes.
unsafe impl Sync for Interface {}

const fn interface<T>(list: &'static T) -> Interface {
    Interface(CK_INTERFACE {
        pInterfaceName: NAME.as_ptr().cast_mut().cast(),
        pFunctionList: std::ptr::from_ref(list).cast_mut().cast(),
        // Not CKF_INTERFACE_FORK_SAFE, which promises that sessions live on in the child of a fork.
        flags: 0,
    })
}

/// The interfaces, the newest first: it is the one that a program gets which does not ask for a version.
static INTERFACES: [(CK_VERSION, Interface); 3] = [
    (VERSION_3_2, interface(&LIST_3_2)),
    (VERSION_3_0, interface(&LIST_3_0)),
    (VERSION_2, interface(&LIST_2)),
];

/// Gives the functions of PKCS #11 2.40.
///
/// # Safety
/// `list` is null, or points to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    // SAFETY: as the caller promises.
    finish("C_GetFunctionList", || unsafe { put(list, std::ptr::from_ref(&LIST_2).cast_mut()) })
}

/// Gives all interfaces, as PKCS #11 3.0 asks.
///
/// # Safety
/// `count` is null or points to a number, and `list` is null or has room for as many interfaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(list: *mut CK_INTERFACE, count: *mut CK_ULONG) -> CK_RV {
    // SAFETY: as the caller promises.
    finish("C_GetInterfaceList", || unsafe {
        Output::new(list, count)?.give(&INTERFACES.each_ref().map(|(_, interface)| interface.0))
    })
}

/// Gives the interface of this name, version and flags. A null name or version asks for the usual one.
///
/// # Safety
/// `name` is null or a string of C, `version` is null or points to a version, and `answer` is null or points
/// to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    answer: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    finish("C_GetInterface", || {
        // SAFETY: as the caller promises.
        let named = name.is_null() || unsafe { CStr::from_ptr(name.cast_const().cast()) } == NAME;
        let version = match version.is_null() {
            true => None,
            // SAFETY: as the caller promises.
            false => Some(*unsafe { value(version.cast_const()) }?),
        };
        let is_wanted =
            |own: &CK_VERSION| version.is_none_or(|v| (v.major, v.minor) == (own.major, own.minor));
        let found =
            INTERFACES.iter().find(|(own, interface)| is_wanted(own) && interface.0.flags & flags == flags);
        match found.filter(|_| named) {
            // SAFETY: as the caller promises.
            Some((_, interface)) => unsafe { put(answer, std::ptr::from_ref(&interface.0).cast_mut()) },
            None => refuse(CKR_ARGUMENTS_BAD, "there is no interface of this name, version and flags"),
        }
    })
}
