//! The end of operations, and the calls that belong together.
#![allow(unsafe_code)]

use crate::common::USER;
use crate::raw::{attribute, call, key_pair, mechanism, session};
use cryptoki_sys::*;
use std::ptr::null_mut;

#[test]
fn the_whole_data_does_not_follow_a_part_of_it() {
    let session = session();
    let [public, private] = key_pair(session);
    let (mut data, mut out) = ([7u8; 32], [0u8; 256]);
    let (data, place) = (data.as_mut_ptr(), out.as_mut_ptr());
    let (mut sign, mut hash, mut crypt) =
        (mechanism(CKM_SHA256_RSA_PKCS), mechanism(CKM_SHA256), mechanism(CKM_RSA_PKCS));
    let mut room = 256;

    assert_eq!(call!(C_DigestInit(session, &mut hash)), CKR_OK);
    assert_eq!(call!(C_DigestUpdate(session, data, 32)), CKR_OK);
    assert_eq!(call!(C_Digest(session, data, 32, place, &mut room)), CKR_OPERATION_ACTIVE);
    // The refusal has ended the operation, as every other does.
    assert_eq!(call!(C_DigestFinal(session, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);

    assert_eq!(call!(C_SignInit(session, &mut sign, private)), CKR_OK);
    assert_eq!(call!(C_SignUpdate(session, data, 32)), CKR_OK);
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(C_SignFinal(session, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);

    assert_eq!(call!(C_VerifyInit(session, &mut sign, public)), CKR_OK);
    assert_eq!(call!(C_VerifyUpdate(session, data, 32)), CKR_OK);
    assert_eq!(call!(C_Verify(session, data, 32, place, 256)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(C_VerifyFinal(session, place, 256)), CKR_OPERATION_NOT_INITIALIZED);

    assert_eq!(call!(C_EncryptInit(session, &mut crypt, public)), CKR_OK);
    assert_eq!(call!(C_EncryptUpdate(session, data, 32, place, &mut room)), CKR_OK);
    room = 256;
    assert_eq!(call!(C_Encrypt(session, data, 32, place, &mut room)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(C_EncryptFinal(session, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);

    assert_eq!(call!(C_DecryptInit(session, &mut crypt, private)), CKR_OK);
    assert_eq!(call!(C_DecryptUpdate(session, data, 32, place, &mut room)), CKR_OK);
    room = 256;
    assert_eq!(call!(C_Decrypt(session, data, 32, place, &mut room)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(C_DecryptFinal(session, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn an_answer_without_a_place_for_its_length_ends_the_operation() {
    let session = session();
    let [public, private] = key_pair(session);
    let (mut data, mut out, mut room) = ([7u8; 32], [0u8; 256], 256);
    let (data, place) = (data.as_mut_ptr(), out.as_mut_ptr());
    assert_eq!(call!(C_DigestInit(session, &mut mechanism(CKM_SHA256))), CKR_OK);
    assert_eq!(call!(C_Digest(session, data, 32, place, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_Digest(session, data, 32, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(C_DigestInit(session, &mut mechanism(CKM_SHA256))), CKR_OK);
    assert_eq!(call!(C_DigestFinal(session, place, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_DigestFinal(session, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
    let mut rsa = mechanism(CKM_RSA_PKCS);
    assert_eq!(call!(C_SignInit(session, &mut rsa, private)), CKR_OK);
    assert_eq!(call!(C_Sign(session, data, 32, place, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(C_EncryptInit(session, &mut rsa, public)), CKR_OK);
    assert_eq!(call!(C_Encrypt(session, data, 32, place, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_Encrypt(session, data, 32, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(C_DecryptInit(session, &mut rsa, private)), CKR_OK);
    assert_eq!(call!(C_Decrypt(session, place, 256, place, null_mut())), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(C_Decrypt(session, place, 256, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn what_was_signed_is_recovered() {
    let session = session();
    let [public, private] = key_pair(session);
    let (mut data, mut signature, mut found) = (*b"\x01what was signed", [0u8; 256], [0u8; 256]);
    let signed = signature.as_mut_ptr();
    for (number, expected) in [(CKM_RSA_PKCS, data.len()), (CKM_RSA_X_509, 256)] {
        let (mut given, mut room) = (mechanism(number), 256);
        assert_eq!(call!(C_SignInit(session, &mut given, private)), CKR_OK);
        let len = data.len() as CK_ULONG;
        assert_eq!(call!(C_Sign(session, data.as_mut_ptr(), len, signed, &mut room)), CKR_OK);
        assert_eq!(call!(C_VerifyRecoverInit(session, &mut given, private)), CKR_KEY_TYPE_INCONSISTENT);
        assert_eq!(call!(C_VerifyRecoverInit(session, &mut given, public)), CKR_OK);
        assert_eq!(call!(C_VerifyRecoverInit(session, &mut given, public)), CKR_OPERATION_ACTIVE);
        room = 0;
        assert_eq!(call!(C_VerifyRecover(session, signed, 256, null_mut(), &mut room)), CKR_OK);
        assert_eq!(room, expected as CK_ULONG);
        room = 3;
        let place = found.as_mut_ptr();
        assert_eq!(call!(C_VerifyRecover(session, signed, 256, place, &mut room)), CKR_BUFFER_TOO_SMALL);
        assert_eq!(call!(C_VerifyRecover(session, signed, 256, place, &mut room)), CKR_OK);
        assert!(found[..room as usize].ends_with(&data), "{found:?}");
        let ended = call!(C_VerifyRecover(session, signed, 256, place, &mut room));
        assert_eq!(ended, CKR_OPERATION_NOT_INITIALIZED);
    }
    let mut rsa = mechanism(CKM_RSA_PKCS);
    for (len, code) in [(255, CKR_SIGNATURE_LEN_RANGE), (256, CKR_SIGNATURE_INVALID)] {
        // The last signature has no padding.
        assert_eq!(call!(C_VerifyRecoverInit(session, &mut rsa, public)), CKR_OK);
        let mut room = 256;
        assert_eq!(call!(C_VerifyRecover(session, signed, len, found.as_mut_ptr(), &mut room)), code);
    }
    let mut hashed = mechanism(CKM_SHA256_RSA_PKCS);
    assert_eq!(call!(C_VerifyRecoverInit(session, &mut hashed, public)), CKR_MECHANISM_INVALID);
    let mut no = attribute(CKA_VERIFY_RECOVER, &mut [CK_FALSE]);
    assert_eq!(call!(C_SetAttributeValue(session, public, &mut no, 1)), CKR_OK);
    let refused = call!(C_VerifyRecoverInit(session, &mut rsa, public));
    assert_eq!(refused, CKR_KEY_FUNCTION_NOT_PERMITTED);
}

#[test]
fn a_key_may_ask_for_the_pin_at_every_use() {
    let session = session();
    let (mut bits, mut yes) = ([2048 as CK_ULONG], [CK_TRUE]);
    let mut public = [attribute(CKA_MODULUS_BITS, &mut bits)];
    let mut private = [attribute(CKA_ALWAYS_AUTHENTICATE, &mut yes), attribute(CKA_TOKEN, &mut [CK_TRUE])];
    let [mut verifier, mut key] = [0; 2];
    let mut generate = mechanism(CKM_RSA_PKCS_KEY_PAIR_GEN);
    let (first, second) = (public.as_mut_ptr(), private.as_mut_ptr());
    let made = call!(C_GenerateKeyPair(session, &mut generate, first, 1, second, 2, &mut verifier, &mut key));
    assert_eq!(made, CKR_OK);
    let log_in = |pin: &str| {
        let mut pin = pin.as_bytes().to_vec();
        call!(C_Login(session, CKU_CONTEXT_SPECIFIC, pin.as_mut_ptr(), pin.len() as CK_ULONG))
    };
    let (mut rsa, mut data, mut out, mut room) = (mechanism(CKM_RSA_PKCS), [7u8; 32], [0u8; 256], 256);
    let (data, place) = (data.as_mut_ptr(), out.as_mut_ptr());
    assert_eq!(log_in(USER), CKR_OPERATION_NOT_INITIALIZED);
    // Without the PIN the operation ends.
    assert_eq!(call!(C_SignInit(session, &mut rsa, key)), CKR_OK);
    assert_eq!(call!(C_Sign(session, data, 32, null_mut(), &mut room)), CKR_OK, "the length is no secret");
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_USER_NOT_LOGGED_IN);
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(C_SignInit(session, &mut rsa, key)), CKR_OK);
    assert_eq!(call!(C_SignUpdate(session, data, 32)), CKR_USER_NOT_LOGGED_IN);
    // With it there is one signature. A wrong PIN can be corrected.
    assert_eq!(call!(C_SignInit(session, &mut rsa, key)), CKR_OK);
    assert_eq!(log_in("wrong"), CKR_PIN_INCORRECT);
    assert_eq!(log_in(USER), CKR_OK);
    assert_eq!(log_in(USER), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_OK);
    assert_eq!(call!(C_SignInit(session, &mut rsa, key)), CKR_OK);
    assert_eq!(call!(C_Sign(session, data, 32, place, &mut room)), CKR_USER_NOT_LOGGED_IN);
    // A decryption in parts needs the PIN again, too.
    assert_eq!(call!(C_EncryptInit(session, &mut rsa, verifier)), CKR_OK);
    assert_eq!(call!(C_Encrypt(session, data, 32, place, &mut room)), CKR_OK);
    for has_pin in [false, true] {
        assert_eq!(call!(C_DecryptInit(session, &mut rsa, key)), CKR_OK);
        let (mut clear, mut room) = ([0u8; 256], 256);
        if !has_pin {
            let refused = call!(C_Decrypt(session, place, 256, clear.as_mut_ptr(), &mut room));
            assert_eq!(refused, CKR_USER_NOT_LOGGED_IN);
            continue;
        }
        assert_eq!(log_in(USER), CKR_OK);
        assert_eq!(call!(C_DecryptUpdate(session, place, 256, clear.as_mut_ptr(), &mut room)), CKR_OK);
        room = 256;
        assert_eq!(call!(C_DecryptFinal(session, clear.as_mut_ptr(), &mut room)), CKR_OK);
        assert_eq!(clear[..room as usize], [7; 32]);
    }
}
