//! Objects and their attributes.

use super::functions;
use super::memory::{put, template, values};
use crate::codec;
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use crate::session::{begun, idle, take};
use crate::template::{Origin, Template, build, class, copy, given};
use cryptoki_sys::*;

functions! {
    fn C_CreateObject(
        module,
        session: CK_SESSION_HANDLE,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        handle: *mut CK_OBJECT_HANDLE,
    ) {
        put(handle, CK_INVALID_HANDLE)?;
        let owner = session;
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let template = template(entries, count)?;
        let object = build(need_class(&template)?, &template, Default::default(), Origin::Imported, slot.is_trusting())?;
        put(handle, slot.add(&session, owner, vec![object])?[0] as CK_OBJECT_HANDLE)
    }

    fn C_CopyObject(
        module,
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        handle: *mut CK_OBJECT_HANDLE,
    ) {
        put(handle, CK_INVALID_HANDLE)?;
        let owner = session;
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let object = copy(&*slot.object(object as u64)?, &template(entries, count)?, slot.is_trusting())?;
        put(handle, slot.add(&session, owner, vec![object])?[0] as CK_OBJECT_HANDLE)
    }

    fn C_DestroyObject(module, session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE) {
        let session = module.session(session)?;
        module.slot_of(&session)?.destroy(&session, object as u64)
    }

    fn C_GetObjectSize(module, session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE, size: *mut CK_ULONG) {
        let session = module.session(session)?;
        let object = module.slot_of(&session)?.object(object as u64)?;
        put(size, codec::encode(object.attributes()).len() as CK_ULONG)
    }

    fn C_GetAttributeValue(
        module,
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) {
        let session = module.session(session)?;
        let object = module.slot_of(&session)?.object(object as u64)?;
        // Refuses pointers before anything is written.
        values(entries.cast_const(), count)?;
        let mut answer = Ok(());
        for index in 0..count as usize {
            // An attribute that cannot be read does not keep the others from being read.
            let read = read_attribute(&object, entries.add(index));
            if answer.is_ok() {
                answer = read;
            }
        }
        answer
    }

    fn C_SetAttributeValue(
        module,
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        entries: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) {
        let session = module.session(session)?;
        module.slot_of(&session)?.change(&session, object as u64, &template(entries, count)?)
    }

    fn C_FindObjectsInit(module, session: CK_SESSION_HANDLE, entries: *mut CK_ATTRIBUTE, count: CK_ULONG) {
        let session = module.session(session)?;
        let slot = module.slot_of(&session)?;
        let mut work = session.work.lock();
        idle(&work.found)?;
        let found = match template(entries, count) {
            Ok(template) => slot.find(&template)?,
            // No object has an attribute that is not known here.
            Err(refusal) if refusal.code == CKR_ATTRIBUTE_TYPE_INVALID => Vec::new(),
            Err(refusal) => return Err(refusal),
        };
        work.found = Some(found.into());
        Ok(())
    }

    fn C_FindObjects(
        module,
        session: CK_SESSION_HANDLE,
        handles: *mut CK_OBJECT_HANDLE,
        most: CK_ULONG,
        count: *mut CK_ULONG,
    ) {
        let session = module.session(session)?;
        let mut work = session.work.lock();
        let found = begun(&mut work.found)?;
        let given = found.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        put(count, 0)?;
        for index in 0..given {
            match found.front() {
                Some(handle) => put(handles.wrapping_add(index), *handle as CK_OBJECT_HANDLE)?,
                None => break,
            }
            found.pop_front();
            put(count, index as CK_ULONG + 1)?;
        }
        Ok(())
    }

    fn C_FindObjectsFinal(module, session: CK_SESSION_HANDLE) {
        let session = module.session(session)?;
        take(&mut session.work.lock().found).map(drop)
    }
}

/// The class that a template has to name.
fn need_class(template: &Template) -> Answer<CK_OBJECT_CLASS> {
    let absent = || Refusal::new(CKR_TEMPLATE_INCOMPLETE, "the template has no CKA_CLASS");
    match given(template, CKA_CLASS) {
        None => Err(absent()),
        Some(_) => class(template).ok_or_else(absent),
    }
}

/// Writes the value of an attribute where the entry says, or its length. The length is -1 for a value that is
/// not given.
///
/// # Safety
/// The entry can be read and written, and its value has as many bytes of memory as it says.
unsafe fn read_attribute(object: &Object, entry: *mut CK_ATTRIBUTE) -> Answer {
    // SAFETY: as the caller promises.
    let CK_ATTRIBUTE { type_, pValue, ulValueLen } = unsafe { entry.read() };
    let answer = object.readable(type_).map(|value| value.to_bytes());
    let (len, answer) = match answer {
        Err(refusal) => (CK_UNAVAILABLE_INFORMATION, Err(refusal)),
        Ok(bytes) if pValue.is_null() => (bytes.len() as CK_ULONG, Ok(())),
        Ok(bytes) if bytes.len() as CK_ULONG <= ulValueLen => {
            // SAFETY: the caller promises memory for more bytes than these, and it is not memory of this
            // module.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pValue.cast(), bytes.len()) };
            (bytes.len() as CK_ULONG, Ok(()))
        }
        Ok(bytes) => {
            let reason = format!("the attribute {type_:#x} has {} bytes", bytes.len());
            (CK_UNAVAILABLE_INFORMATION, refuse(CKR_BUFFER_TOO_SMALL, reason))
        }
    };
    // SAFETY: as the caller promises.
    unsafe { (*entry).ulValueLen = len };
    answer
}
