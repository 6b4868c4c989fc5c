//! Slots, tokens and mechanisms.

use super::functions;
use super::general::library_version;
use super::memory::{Output, padded, pin, put, values};
use crate::mechanism::{find, numbers};
use crate::refusal::refuse;
use crate::token::PIN;
use cryptoki_sys::*;
use std::ffi::c_void;

functions! {
    fn C_GetSlotList(module, _with_token: CK_BBOOL, list: *mut CK_SLOT_ID, count: *mut CK_ULONG) {
        // Every slot has a token, initialised or not.
        Output::new(list, count)?.give(&module.slot_numbers())
    }

    fn C_GetSlotInfo(module, slot: CK_SLOT_ID, info: *mut CK_SLOT_INFO) {
        let slot = module.slot(slot)?;
        put(info, CK_SLOT_INFO {
            slotDescription: padded(slot.name()),
            manufacturerID: padded("modmill"),
            flags: CKF_TOKEN_PRESENT,
            hardwareVersion: library_version(),
            firmwareVersion: library_version(),
        })
    }

    fn C_GetTokenInfo(module, slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) {
        let token = module.slot(slot)?.token();
        let description = token.describe()?;
        let protected = if token.is_writable() { 0 } else { CKF_WRITE_PROTECTED };
        let [sessions, writable] = module.session_counts(slot);
        put(info, CK_TOKEN_INFO {
            label: padded(&description.label),
            manufacturerID: padded("modmill"),
            model: padded(description.model),
            serialNumber: padded(&description.serial),
            flags: description.flags | protected,
            ulMaxSessionCount: CK_EFFECTIVELY_INFINITE,
            ulSessionCount: sessions as CK_ULONG,
            ulMaxRwSessionCount: CK_EFFECTIVELY_INFINITE,
            ulRwSessionCount: writable as CK_ULONG,
            ulMaxPinLen: PIN[1] as CK_ULONG,
            ulMinPinLen: PIN[0] as CK_ULONG,
            ulTotalPublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulTotalPrivateMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePrivateMemory: CK_UNAVAILABLE_INFORMATION,
            hardwareVersion: library_version(),
            firmwareVersion: library_version(),
            utcTime: padded(""),
        })
    }

    fn C_GetMechanismList(
        module,
        slot: CK_SLOT_ID,
        list: *mut CK_MECHANISM_TYPE,
        count: *mut CK_ULONG,
    ) {
        let writable = module.slot(slot)?.token().is_writable();
        Output::new(list, count)?.give(&numbers(writable))
    }

    fn C_GetMechanismInfo(
        module,
        slot: CK_SLOT_ID,
        mechanism: CK_MECHANISM_TYPE,
        info: *mut CK_MECHANISM_INFO,
    ) {
        let writable = module.slot(slot)?.token().is_writable();
        let row = find(mechanism)?;
        match row.is_offered(writable) {
            true => put(info, row.info()),
            false => refuse(CKR_MECHANISM_INVALID, "the token does not have this mechanism"),
        }
    }

    fn C_InitToken(
        module,
        slot: CK_SLOT_ID,
        officer_pin: *mut CK_UTF8CHAR,
        len: CK_ULONG,
        label: *mut CK_UTF8CHAR,
    ) {
        module.slot(slot)?;
        let label = values(label.cast_const(), 32)?;
        let Ok(label) = std::str::from_utf8(label) else {
            return refuse(CKR_ARGUMENTS_BAD, "the label is not UTF-8");
        };
        module.initialise_token(slot, &pin(officer_pin, len)?, label.trim_end_matches([' ', '\0']))
    }

    fn C_WaitForSlotEvent(_module, flags: CK_FLAGS, _slot: *mut CK_SLOT_ID, _reserved: *mut c_void) {
        match flags & CKF_DONT_BLOCK {
            0 => refuse(CKR_FUNCTION_NOT_SUPPORTED, "no token is ever put into a slot or taken out of it"),
            _ => refuse(CKR_NO_EVENT, "no token was put into a slot or taken out of it"),
        }
    }
}
