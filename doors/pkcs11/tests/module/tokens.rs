//! Tokens, PINs and sessions.

use crate::common::{OFFICER, USER, fresh_slot, key_pair, module, pin, refused, session, slot};
use cryptoki::context::{CInitializeArgs, CInitializeFlags};
use cryptoki::error::RvError;
use cryptoki::object::Attribute;
use cryptoki::session::{SessionState, UserType};

#[test]
fn a_token_begins_without_anything() {
    let slot = fresh_slot();
    let info = module().get_token_info(slot).unwrap();
    assert!(!info.token_initialized() && info.login_required() && !info.user_pin_initialized());
    assert_eq!(refused(module().open_ro_session(slot)), RvError::TokenNotRecognized);
    module().init_token(slot, &pin(OFFICER), "first").unwrap();
    let info = module().get_token_info(slot).unwrap();
    assert!(info.token_initialized() && !info.user_pin_initialized());
    assert_eq!((info.label(), info.serial_number().len()), ("first", 16));
    let session = module().open_rw_session(slot).unwrap();
    assert_eq!(refused(session.login(UserType::User, Some(&pin(USER)))), RvError::UserPinNotInitialized);
    assert_eq!(refused(session.init_pin(&pin(USER))), RvError::UserNotLoggedIn);
}

#[test]
fn a_token_is_made_anew_by_its_officer_only() {
    let slot = slot();
    {
        let session = session(slot);
        key_pair(&session, &[]);
        assert_eq!(refused(module().init_token(slot, &pin(OFFICER), "new")), RvError::SessionExists);
    }
    assert_eq!(refused(module().init_token(slot, &pin("wrong pin"), "new")), RvError::PinIncorrect);
    assert_eq!(module().get_token_info(slot).unwrap().label(), "token");
    module().init_token(slot, &pin(OFFICER), "new").unwrap();
    assert_eq!(module().get_token_info(slot).unwrap().label(), "new");
    let session = module().open_ro_session(slot).unwrap();
    assert!(session.find_objects(&[]).unwrap().is_empty());
}

#[test]
fn pins_are_checked_and_changed() {
    let slot = slot();
    let session = module().open_rw_session(slot).unwrap();
    for wrong in ["", "12345", "123"] {
        assert_eq!(refused(session.login(UserType::User, Some(&pin(wrong)))), RvError::PinIncorrect);
    }
    assert_eq!(refused(session.set_pin(&pin("0000"), &pin("5678"))), RvError::PinIncorrect);
    assert_eq!(refused(session.set_pin(&pin(USER), &pin("567"))), RvError::PinLenRange);
    session.set_pin(&pin(USER), &pin("5678")).unwrap();
    assert_eq!(refused(session.login(UserType::User, Some(&pin(USER)))), RvError::PinIncorrect);
    session.login(UserType::User, Some(&pin("5678"))).unwrap();
    session.logout().unwrap();
    // The officer sets a PIN that was forgotten, and the keys are still there.
    session.login(UserType::User, Some(&pin("5678"))).unwrap();
    key_pair(&session, &[]);
    session.logout().unwrap();
    session.login(UserType::So, Some(&pin(OFFICER))).unwrap();
    session.init_pin(&pin(USER)).unwrap();
    session.logout().unwrap();
    session.login(UserType::User, Some(&pin(USER))).unwrap();
    assert_eq!(session.find_objects(&[]).unwrap().len(), 2);
}

#[test]
fn a_login_is_that_of_all_sessions() {
    let slot = slot();
    let (reader, writer) = (module().open_ro_session(slot).unwrap(), module().open_rw_session(slot).unwrap());
    let states = || [&reader, &writer].map(|session| session.get_session_info().unwrap().session_state());
    assert_eq!(states(), [SessionState::RoPublic, SessionState::RwPublic]);
    assert_eq!(refused(writer.login(UserType::So, Some(&pin(OFFICER)))), RvError::SessionReadOnlyExists);
    writer.login(UserType::User, Some(&pin(USER))).unwrap();
    assert_eq!(states(), [SessionState::RoUser, SessionState::RwUser]);
    assert_eq!(refused(reader.login(UserType::User, Some(&pin(USER)))), RvError::UserAlreadyLoggedIn);
    reader.logout().unwrap();
    assert_eq!(refused(writer.logout()), RvError::UserNotLoggedIn);
    reader.close().unwrap();
    writer.login(UserType::So, Some(&pin(OFFICER))).unwrap();
    assert_eq!(writer.get_session_info().unwrap().session_state(), SessionState::RwSecurityOfficer);
    assert_eq!(refused(module().open_ro_session(slot)), RvError::SessionReadWriteSoExists);
    assert_eq!(refused(writer.login(UserType::User, Some(&pin(USER)))), RvError::UserAnotherAlreadyLoggedIn);
    // With the last session the login ends.
    writer.close().unwrap();
    let session = module().open_ro_session(slot).unwrap();
    assert_eq!(session.get_session_info().unwrap().session_state(), SessionState::RoPublic);
}

#[test]
fn a_session_that_may_not_write_does_not() {
    let slot = slot();
    let writer = session(slot);
    let (public, _) = key_pair(&writer, &[]);
    let reader = module().open_ro_session(slot).unwrap();
    assert_eq!(refused(reader.destroy_object(public)), RvError::SessionReadOnly);
    let label = [Attribute::Label(b"other".to_vec())];
    assert_eq!(refused(reader.update_attributes(public, &label)), RvError::SessionReadOnly);
    assert_eq!(refused(reader.set_pin(&pin(USER), &pin("5678"))), RvError::SessionReadOnly);
}

#[test]
fn a_module_is_initialised_once() {
    let again = module().initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK));
    assert!(again.is_err());
    let info = module().get_library_info().unwrap();
    assert_eq!(info.manufacturer_id(), "modmill");
}
