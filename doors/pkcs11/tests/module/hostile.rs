//! Calls that no client library makes: with pointers and lengths that are wrong.
#![allow(unsafe_code)]

use crate::common::OFFICER;
use crate::raw::{attribute, call, key_pair, mechanism, session, with_parameter};
use cryptoki_sys::*;
use std::ptr::{null_mut, without_provenance_mut};

#[test]
fn null_pointers_are_refused() {
    let session = session();
    let slot = 0;
    assert_eq!(call!(C_GetInfo(null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GetSlotList(CK_TRUE, null_mut(), null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GetSlotInfo(slot, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GetTokenInfo(slot, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GetMechanismList(slot, null_mut(), null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GetMechanismInfo(slot, CKM_RSA_PKCS, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_InitToken(slot, null_mut(), 8, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(
        call!(C_OpenSession(slot, CKF_SERIAL_SESSION, null_mut(), None, null_mut())),
        CKR_ARGUMENTS_BAD
    );
    assert_eq!(call!(C_GetSessionInfo(session, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_CreateObject(session, null_mut(), 3, null_mut())), CKR_ARGUMENTS_BAD);
    let mut handle = 0;
    assert_eq!(call!(C_CreateObject(session, null_mut(), 3, &mut handle)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_FindObjectsInit(session, null_mut(), 1)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GenerateRandom(session, null_mut(), 1)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GenerateKey(session, null_mut(), null_mut(), 0, &mut handle)), CKR_ARGUMENTS_BAD);
    let [_, private] = key_pair(session);
    assert_eq!(call!(C_GetAttributeValue(session, private, null_mut(), 1)), CKR_ARGUMENTS_BAD);
    let mut sign = mechanism(CKM_SHA256_RSA_PKCS);
    assert_eq!(call!(C_SignInit(session, &mut sign, private)), CKR_OK);
    assert_eq!(call!(C_SignUpdate(session, null_mut(), 1)), CKR_ARGUMENTS_BAD);
    // The error has ended the operation.
    assert_eq!(call!(C_SignUpdate(session, null_mut(), 0)), CKR_OPERATION_NOT_INITIALIZED);
    let mut room = 256;
    let mut signature = [0; 256];
    assert_eq!(call!(C_SignInit(session, &mut sign, private)), CKR_OK);
    assert_eq!(call!(C_Sign(session, null_mut(), 5, signature.as_mut_ptr(), &mut room)), CKR_ARGUMENTS_BAD);
    assert_eq!(
        call!(C_Sign(session, null_mut(), 0, signature.as_mut_ptr(), null_mut())),
        CKR_OPERATION_NOT_INITIALIZED
    );
}

#[test]
fn impossible_lengths_are_refused() {
    let session = session();
    let mut bytes = [0u8; 8];
    let mut entry =
        CK_ATTRIBUTE { type_: CKA_LABEL, pValue: bytes.as_mut_ptr().cast(), ulValueLen: CK_ULONG::MAX };
    let mut handle = 0;
    assert_eq!(call!(C_CreateObject(session, &mut entry, 1, &mut handle)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_CreateObject(session, &mut entry, CK_ULONG::MAX, &mut handle)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_FindObjectsInit(session, without_provenance_mut(1), 1)), CKR_ARGUMENTS_BAD);
    entry.ulValueLen = 3;
    entry.type_ = CKA_CLASS;
    assert_eq!(call!(C_CreateObject(session, &mut entry, 1, &mut handle)), CKR_ATTRIBUTE_VALUE_INVALID);
    let mut digest = mechanism(CKM_SHA256);
    assert_eq!(call!(C_DigestInit(session, &mut digest)), CKR_OK);
    assert_eq!(call!(C_DigestUpdate(session, bytes.as_mut_ptr(), CK_ULONG::MAX)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_GenerateRandom(session, bytes.as_mut_ptr(), CK_ULONG::MAX)), CKR_ARGUMENTS_BAD);
}

#[test]
fn lengths_that_no_memory_has_are_refused() {
    let session = session();
    let [public, private] = key_pair(session);
    let (mut sign, mut wrap) = (mechanism(CKM_SHA256_RSA_PKCS), mechanism(CKM_RSA_PKCS));
    let (mut bytes, mut signature, mut room) = ([0u8; 8], [0u8; 256], 256);
    let (mut class, mut handle) = ([CKO_SECRET_KEY], 0);
    let mut template = attribute(CKA_CLASS, &mut class);
    for len in [1 << 47, 1 << 62, (1 << 63) - 1] {
        assert_eq!(call!(C_SignInit(session, &mut sign, private)), CKR_OK);
        let signed = call!(C_Sign(session, bytes.as_mut_ptr(), len, signature.as_mut_ptr(), &mut room));
        assert_eq!(signed, CKR_ARGUMENTS_BAD);
        assert_eq!(call!(C_VerifyInit(session, &mut sign, public)), CKR_OK);
        assert_eq!(call!(C_VerifyUpdate(session, bytes.as_mut_ptr(), len)), CKR_ARGUMENTS_BAD);
        let place = bytes.as_mut_ptr();
        let unwrapped =
            call!(C_UnwrapKey(session, &mut wrap, private, place, len, &mut template, 1, &mut handle));
        assert_eq!(unwrapped, CKR_ARGUMENTS_BAD);
        assert_eq!(call!(C_GenerateRandom(session, bytes.as_mut_ptr(), len)), CKR_ARGUMENTS_BAD);
        assert_eq!(call!(C_GetAttributeValue(session, public, &mut template, len / 16)), CKR_ARGUMENTS_BAD);
    }
}

#[test]
fn handles_that_name_nothing_are_refused() {
    let session = session();
    for wrong in [0, session + 10_000, CK_ULONG::MAX] {
        assert_eq!(call!(C_CloseSession(wrong)), CKR_SESSION_HANDLE_INVALID);
        assert_eq!(call!(C_Logout(wrong)), CKR_SESSION_HANDLE_INVALID);
        assert_eq!(call!(C_DestroyObject(session, wrong)), CKR_OBJECT_HANDLE_INVALID);
        assert_eq!(call!(C_SignInit(session, &mut mechanism(CKM_RSA_PKCS), wrong)), CKR_KEY_HANDLE_INVALID);
    }
    let mut info = CK_SLOT_INFO::default();
    assert_eq!(call!(C_GetSlotInfo(CK_ULONG::MAX, &mut info)), CKR_SLOT_ID_INVALID);
    assert_eq!(call!(C_Login(session, 77, null_mut(), 0)), CKR_USER_TYPE_INVALID);
    assert_eq!(
        call!(C_DeriveKey(session, null_mut(), 0, null_mut(), 0, null_mut())),
        CKR_FUNCTION_NOT_SUPPORTED
    );
}

#[test]
fn parameters_of_mechanisms_are_checked() {
    let session = session();
    let [public, private] = key_pair(session);
    let mut pss = CK_RSA_PKCS_PSS_PARAMS { hashAlg: CKM_SHA256, mgf: CKG_MGF1_SHA256, sLen: CK_ULONG::MAX };
    let mut given = with_parameter(CKM_RSA_PKCS_PSS, &mut pss);
    assert_eq!(call!(C_SignInit(session, &mut given, private)), CKR_MECHANISM_PARAM_INVALID);
    given.ulParameterLen -= 1;
    assert_eq!(call!(C_SignInit(session, &mut given, private)), CKR_MECHANISM_PARAM_INVALID);
    assert_eq!(
        call!(C_SignInit(session, &mut mechanism(CKM_RSA_PKCS_PSS), private)),
        CKR_MECHANISM_PARAM_INVALID
    );
    for (hash, mask) in [(CKM_RSA_PKCS, CKG_MGF1_SHA256), (CKM_SHA256, 77)] {
        let mut pss = CK_RSA_PKCS_PSS_PARAMS { hashAlg: hash, mgf: mask, sLen: 32 };
        let mut given = with_parameter(CKM_RSA_PKCS_PSS, &mut pss);
        assert_eq!(call!(C_SignInit(session, &mut given, private)), CKR_MECHANISM_PARAM_INVALID);
    }
    let mut oaep = CK_RSA_PKCS_OAEP_PARAMS {
        hashAlg: CKM_SHA256,
        mgf: CKG_MGF1_SHA256,
        source: CKZ_DATA_SPECIFIED,
        pSourceData: null_mut(),
        ulSourceDataLen: 7,
    };
    let mut given = with_parameter(CKM_RSA_PKCS_OAEP, &mut oaep);
    assert_eq!(call!(C_EncryptInit(session, &mut given, public)), CKR_ARGUMENTS_BAD);
    let mut number = 7 as CK_ULONG;
    let mut given = with_parameter(CKM_RSA_PKCS, &mut number);
    assert_eq!(call!(C_SignInit(session, &mut given, private)), CKR_MECHANISM_PARAM_INVALID);
    assert_eq!(call!(C_SignInit(session, &mut mechanism(0x8000_0000), private)), CKR_MECHANISM_INVALID);
}

#[test]
fn lengths_are_told_without_ending_the_operation() {
    let session = session();
    let [public, private] = key_pair(session);
    let mut data = *b"message";
    let len = data.len() as CK_ULONG;
    let mut mechanism = mechanism(CKM_RSA_PKCS);
    assert_eq!(call!(C_EncryptInit(session, &mut mechanism, public)), CKR_OK);
    let (mut ciphertext, mut room) = ([0; 256], 0);
    assert_eq!(call!(C_Encrypt(session, data.as_mut_ptr(), len, null_mut(), &mut room)), CKR_OK);
    assert_eq!(room, 256);
    room = 255;
    assert_eq!(
        call!(C_Encrypt(session, data.as_mut_ptr(), len, ciphertext.as_mut_ptr(), &mut room)),
        CKR_BUFFER_TOO_SMALL
    );
    assert_eq!(call!(C_Encrypt(session, data.as_mut_ptr(), len, ciphertext.as_mut_ptr(), &mut room)), CKR_OK);
    // A decryption does not know its length before it is done. It may overwrite the ciphertext, as some
    // programs ask for.
    assert_eq!(call!(C_DecryptInit(session, &mut mechanism, private)), CKR_OK);
    let place = ciphertext.as_mut_ptr();
    assert_eq!(call!(C_Decrypt(session, place, 256, null_mut(), &mut room)), CKR_OK);
    assert!(room >= len);
    room = 3;
    assert_eq!(call!(C_Decrypt(session, place, 256, place, &mut room)), CKR_BUFFER_TOO_SMALL);
    assert_eq!(room, len);
    assert_eq!(call!(C_Decrypt(session, place, 256, place, &mut room)), CKR_OK);
    assert_eq!((&ciphertext[..7], room), (&data[..], len));
    assert_eq!(call!(C_Decrypt(session, place, 256, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn a_private_key_travels_under_rsa_and_aes() {
    let session = session();
    let [public, private] = key_pair(session);
    let mut oaep = CK_RSA_PKCS_OAEP_PARAMS {
        hashAlg: CKM_SHA256,
        mgf: CKG_MGF1_SHA256,
        source: CKZ_DATA_SPECIFIED,
        pSourceData: null_mut(),
        ulSourceDataLen: 0,
    };
    let mut parameter = CK_RSA_AES_KEY_WRAP_PARAMS { ulAESKeyBits: 256, pOAEPParams: &mut oaep };
    let mut mechanism = with_parameter(CKM_RSA_AES_KEY_WRAP, &mut parameter);
    let (mut wrapped, mut len) = (vec![0; 4096], 4096);
    assert_eq!(
        call!(C_WrapKey(session, &mut mechanism, public, private, wrapped.as_mut_ptr(), &mut len)),
        CKR_OK
    );
    let (mut class, mut kind) = ([CKO_PRIVATE_KEY], [CKK_RSA]);
    let mut template = [attribute(CKA_CLASS, &mut class), attribute(CKA_KEY_TYPE, &mut kind)];
    let mut unwrap = |len: CK_ULONG, handle: &mut CK_OBJECT_HANDLE| {
        call!(C_UnwrapKey(
            session,
            &mut mechanism,
            private,
            wrapped.as_mut_ptr(),
            len,
            template.as_mut_ptr(),
            2,
            handle
        ))
    };
    let mut handle = 0;
    assert_eq!(unwrap(len, &mut handle), CKR_OK);
    assert_ne!(handle, 0);
    assert_eq!(unwrap(100, &mut handle), CKR_WRAPPED_KEY_LEN_RANGE);
    assert_eq!((unwrap(len - 8, &mut handle), handle), (CKR_WRAPPED_KEY_INVALID, 0));
}

#[test]
fn interfaces_of_three_versions() {
    let mut count = 0;
    // SAFETY: pointers are null or lead to as much as their lengths say.
    unsafe {
        assert_eq!(modmill_pkcs11::C_GetInterfaceList(null_mut(), &mut count), CKR_OK);
        assert_eq!(count, 3);
        for (major, minor) in [(2, 40), (3, 0), (3, 2)] {
            let mut version = CK_VERSION { major, minor };
            let mut interface = null_mut();
            let mut name = *b"PKCS 11\0";
            let code = modmill_pkcs11::C_GetInterface(name.as_mut_ptr(), &mut version, &mut interface, 0);
            assert_eq!(code, CKR_OK);
            let own = *(*interface).pFunctionList.cast::<CK_VERSION>();
            assert_eq!((own.major, own.minor), (major, minor));
        }
        let mut version = CK_VERSION { major: 4, minor: 0 };
        let mut interface = null_mut();
        let code = modmill_pkcs11::C_GetInterface(null_mut(), &mut version, &mut interface, 0);
        assert_eq!(code, CKR_ARGUMENTS_BAD);
        assert_eq!(modmill_pkcs11::C_GetInterface(null_mut(), null_mut(), null_mut(), 0), CKR_ARGUMENTS_BAD);
    }
    let mut pin = OFFICER.as_bytes().to_vec();
    let mut label = [0xff; 32];
    let refused = call!(C_InitToken(0, pin.as_mut_ptr(), pin.len() as CK_ULONG, label.as_mut_ptr()));
    assert_eq!(refused, CKR_ARGUMENTS_BAD, "the label is not UTF-8");
}
