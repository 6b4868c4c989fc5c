//! The state of this module between `C_Initialize` and `C_Finalize`: slots and sessions.

use crate::config::{self, Place};
use crate::refusal::{Answer, Refusal, refuse};
use crate::session::Session;
use crate::slot::Slot;
use crate::token::{FileToken, ServiceToken, User};
use cryptoki_sys::*;
use modmill_core::sync::{Mutex, RwLock};
use modmill_seal::SecretBytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of an initialised module.
pub(crate) struct Module {
    slots: Vec<Slot>,
    sessions: RwLock<HashMap<CK_SESSION_HANDLE, Arc<Session>>>,
    next: AtomicU64,
}

impl Module {
    /// The module with the tokens of the configuration.
    pub(crate) fn new() -> Answer<Self> {
        let slot = |place: Place| match place {
            Place::File { path, cost } => {
                Slot::new(path.display().to_string(), Box::new(FileToken::new(path, cost)))
            }
            Place::Service { socket, label, keys, token_file } => {
                let name = socket.display().to_string();
                Slot::new(name, Box::new(ServiceToken::new(socket, label, keys, token_file)))
            }
        };
        let slots = config::places()?.into_iter().map(slot).collect();
        Ok(Self { slots, sessions: RwLock::default(), next: AtomicU64::new(1) })
    }

    /// The numbers of all slots. Every slot has a token.
    pub(crate) fn slot_numbers(&self) -> Vec<CK_SLOT_ID> {
        (0..self.slots.len() as CK_SLOT_ID).collect()
    }

    /// The slot with this number.
    pub(crate) fn slot(&self, number: CK_SLOT_ID) -> Answer<&Slot> {
        let slot = usize::try_from(number).ok().and_then(|number| self.slots.get(number));
        slot.ok_or_else(|| Refusal::new(CKR_SLOT_ID_INVALID, format!("there is no slot {number}")))
    }

    /// The session with this handle.
    pub(crate) fn session(&self, handle: CK_SESSION_HANDLE) -> Answer<Arc<Session>> {
        let session = self.sessions.read().get(&handle).map(Arc::clone);
        session
            .ok_or_else(|| Refusal::new(CKR_SESSION_HANDLE_INVALID, format!("there is no session {handle}")))
    }

    /// The slot of a session.
    pub(crate) fn slot_of(&self, session: &Session) -> Answer<&Slot> {
        self.slot(session.slot)
    }

    /// Opens a session.
    pub(crate) fn open(&self, slot: CK_SLOT_ID, flags: CK_FLAGS) -> Answer<CK_SESSION_HANDLE> {
        let token = self.slot(slot)?.token();
        if flags & CKF_SERIAL_SESSION == 0 {
            return refuse(CKR_SESSION_PARALLEL_NOT_SUPPORTED, "CKF_SERIAL_SESSION is not set");
        }
        if token.describe()?.flags & CKF_TOKEN_INITIALIZED == 0 {
            return refuse(CKR_TOKEN_NOT_RECOGNIZED, "the token is not initialised");
        }
        let writable = flags & CKF_RW_SESSION != 0;
        if writable && !token.is_writable() {
            return refuse(CKR_TOKEN_WRITE_PROTECTED, "the keys of the service are managed there, not here");
        }
        let mut sessions = self.sessions.write();
        if !writable && token.user() == Some(User::Officer) {
            return refuse(CKR_SESSION_READ_WRITE_SO_EXISTS, "the security officer is logged in");
        }
        let handle = self.next.fetch_add(1, Ordering::Relaxed) as CK_SESSION_HANDLE;
        sessions.insert(handle, Arc::new(Session { slot, writable, work: Mutex::default() }));
        Ok(handle)
    }

    /// Closes the session with this handle. With the last session of a token its user is logged out.
    pub(crate) fn close(&self, handle: CK_SESSION_HANDLE) -> Answer {
        let mut sessions = self.sessions.write();
        let Some(session) = sessions.remove(&handle) else {
            return refuse(CKR_SESSION_HANDLE_INVALID, format!("there is no session {handle}"));
        };
        let slot = self.slot(session.slot)?;
        slot.session_closed(handle);
        if !sessions.values().any(|other| other.slot == session.slot) && slot.token().user().is_some() {
            slot.log_out()?;
        }
        Ok(())
    }

    /// Closes all sessions of a slot.
    pub(crate) fn close_all(&self, slot: CK_SLOT_ID) -> Answer {
        self.slot(slot)?;
        let of_slot = |(handle, session): (&CK_SESSION_HANDLE, &Arc<Session>)| {
            (session.slot == slot).then_some(*handle)
        };
        let handles: Vec<_> = self.sessions.read().iter().filter_map(of_slot).collect();
        // A session that another thread closed meanwhile is closed, as was asked for.
        handles.into_iter().try_for_each(|handle| match self.close(handle) {
            Err(refusal) if refusal.code != CKR_SESSION_HANDLE_INVALID => Err(refusal),
            _ => Ok(()),
        })
    }

    /// How many sessions a slot has, and how many of them may write.
    pub(crate) fn session_counts(&self, slot: CK_SLOT_ID) -> [usize; 2] {
        let sessions = self.sessions.read();
        let of_slot = sessions.values().filter(|session| session.slot == slot);
        of_slot.fold([0; 2], |[all, writable], session| [all + 1, writable + usize::from(session.writable)])
    }

    /// Makes the token of a slot anew.
    pub(crate) fn initialise_token(&self, slot: CK_SLOT_ID, pin: &SecretBytes, label: &str) -> Answer {
        // Nobody opens a session meanwhile.
        let sessions = self.sessions.write();
        if sessions.values().any(|session| session.slot == slot) {
            return refuse(CKR_SESSION_EXISTS, "the token has open sessions");
        }
        self.slot(slot)?.token().initialise(pin, label)
    }

    /// Logs in at the token of a session.
    pub(crate) fn log_in(&self, session: &Session, user: CK_USER_TYPE, pin: &SecretBytes) -> Answer {
        let user = match user {
            CKU_SO => User::Officer,
            CKU_USER => User::Normal,
            CKU_CONTEXT_SPECIFIC => return self.confirm(session, pin),
            _ => return refuse(CKR_USER_TYPE_INVALID, format!("there is no user of type {user}")),
        };
        let token = self.slot_of(session)?.token();
        let [all, writable] = self.session_counts(session.slot);
        if user == User::Officer && all != writable {
            return refuse(
                CKR_SESSION_READ_ONLY_EXISTS,
                "the security officer needs sessions that may write",
            );
        }
        match token.user() {
            None => token.log_in(user, pin),
            Some(other) if other == user => refuse(CKR_USER_ALREADY_LOGGED_IN, "the user is logged in"),
            Some(_) => refuse(CKR_USER_ANOTHER_ALREADY_LOGGED_IN, "somebody else is logged in"),
        }
    }

    /// Lets an operation of the session use a key that asks for the PIN at every use. A wrong PIN does not
    /// end the operation.
    fn confirm(&self, session: &Session, pin: &SecretBytes) -> Answer {
        let mut work = session.work.lock();
        let none =
            || Refusal::new(CKR_OPERATION_NOT_INITIALIZED, "no operation waits for the PIN of its key");
        let awaits = work.awaits_pin().ok_or_else(none)?;
        self.slot_of(session)?.token().check_user_pin(pin)?;
        *awaits = false;
        Ok(())
    }

    /// The state of a session, as `C_GetSessionInfo` says it.
    pub(crate) fn session_info(&self, session: &Session) -> Answer<CK_SESSION_INFO> {
        let state = match (self.slot_of(session)?.token().user(), session.writable) {
            (None, false) => CKS_RO_PUBLIC_SESSION,
            (None, true) => CKS_RW_PUBLIC_SESSION,
            (Some(User::Normal), false) => CKS_RO_USER_FUNCTIONS,
            (Some(User::Normal), true) => CKS_RW_USER_FUNCTIONS,
            (Some(User::Officer), _) => CKS_RW_SO_FUNCTIONS,
        };
        let flags = CKF_SERIAL_SESSION | if session.writable { CKF_RW_SESSION } else { 0 };
        Ok(CK_SESSION_INFO { slotID: session.slot, state, flags, ulDeviceError: 0 })
    }
}
