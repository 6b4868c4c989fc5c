//! A token over a keystore file, which processes share.

use super::keystore::{self, DataKey, Document, Stamp};
use super::{Description, Handle, Token, User};
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_core::sync::RwLock;
use modmill_seal::{Cost, SecretBytes};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A token over a keystore file.
pub(crate) struct FileToken {
    path: PathBuf,
    /// The cost of trying a new PIN.
    cost: Cost,
    state: RwLock<State>,
}

/// The contents of the file, as far as this process has read them.
#[derive(Default)]
struct State {
    /// The version of the file that the rest is of.
    stamp: Option<Stamp>,
    document: Option<Document>,
    login: Option<Login>,
    /// The objects that may be seen, with their revisions.
    objects: BTreeMap<Handle, (u64, Arc<Object>)>,
}

struct Login {
    user: User,
    key: DataKey,
}

impl State {
    fn document(&self) -> Answer<&Document> {
        let absent = || Refusal::new(CKR_TOKEN_NOT_RECOGNIZED, "the token is not initialised");
        self.document.as_ref().ok_or_else(absent)
    }

    /// The data key, if the user is logged in. The officer has it too, but sees no private objects.
    fn user_key(&self) -> Option<&DataKey> {
        self.login.as_ref().filter(|login| login.user == User::Normal).map(|login| &login.key)
    }

    /// Takes over the objects of the document. An object that was known in the same revision is kept, with
    /// the constants that were computed for its key.
    fn take_objects(&mut self) -> Answer {
        let mut objects = BTreeMap::new();
        if let Some(document) = &self.document {
            let key = self.user_key();
            for (handle, entry) in
                document.objects.iter().filter(|(_, entry)| !entry.private || key.is_some())
            {
                let known = self.objects.get(handle).filter(|(revision, _)| *revision == entry.revision);
                let object = match known {
                    Some((_, object)) => Arc::clone(object),
                    None => Arc::new(Object::new(document.attributes(*handle, entry, key)?)),
                };
                objects.insert(*handle, (entry.revision, object));
            }
        }
        self.objects = objects;
        Ok(())
    }
}

impl FileToken {
    /// The token in the file at `path`, which need not be there yet.
    pub(crate) fn new(path: PathBuf, cost: Cost) -> Self {
        Self { path, cost, state: RwLock::default() }
    }

    /// Reads the file if it has changed.
    fn refresh(&self, state: &mut State) -> Answer {
        let stamp = keystore::stamp(&self.path)?;
        if stamp == state.stamp {
            return Ok(());
        }
        let document = stamp.map(|_| keystore::read(&self.path)).transpose()?;
        let serial = |document: &Option<Document>| document.as_ref().map(|document| document.serial.clone());
        if serial(&document) != serial(&state.document) {
            // Another token has taken its place.
            state.login = None;
            state.objects.clear();
        }
        state.document = document;
        state.take_objects()?;
        state.stamp = stamp;
        Ok(())
    }

    /// Calls `look` with the state of the file as it is now.
    fn current<T>(&self, look: impl FnOnce(&State) -> Answer<T>) -> Answer<T> {
        let stamp = keystore::stamp(&self.path)?;
        {
            let state = self.state.read();
            if state.stamp == stamp {
                return look(&state);
            }
        }
        let mut state = self.state.write();
        self.refresh(&mut state)?;
        look(&state)
    }

    /// Has `edit` change the document, and writes it. Other processes wait meanwhile.
    fn change<T>(&self, edit: impl FnOnce(&mut Document, &State) -> Answer<T>) -> Answer<T> {
        let mut state = self.state.write();
        let _lock = keystore::lock(&self.path)?;
        self.refresh(&mut state)?;
        let mut document = state.document()?.clone();
        let answer = edit(&mut document, &state)?;
        keystore::write(&self.path, &document)?;
        self.refresh(&mut state)?;
        Ok(answer)
    }
}

impl Token for FileToken {
    fn describe(&self) -> Answer<Description> {
        let description = Description {
            model: "keystore file",
            flags: CKF_RNG | CKF_LOGIN_REQUIRED,
            ..Description::default()
        };
        self.current(|state| {
            let Some(document) = &state.document else { return Ok(description) };
            let user = if document.has_user() { CKF_USER_PIN_INITIALIZED } else { 0 };
            Ok(Description {
                label: document.label.clone(),
                serial: document.serial.clone(),
                flags: description.flags | CKF_TOKEN_INITIALIZED | user,
                ..description
            })
        })
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn initialise(&self, pin: &SecretBytes, label: &str) -> Answer {
        let mut state = self.state.write();
        let _lock = keystore::lock(&self.path)?;
        self.refresh(&mut state)?;
        if let Some(document) = &state.document {
            document.open(User::Officer, pin)?;
        }
        keystore::write(&self.path, &Document::new(label, pin, self.cost)?)?;
        self.refresh(&mut state)
    }

    fn user(&self) -> Option<User> {
        self.state.read().login.as_ref().map(|login| login.user)
    }

    fn log_in(&self, user: User, pin: &SecretBytes) -> Answer {
        // The PIN is stretched without the lock, so that other threads go on meanwhile.
        let document = self.current(|state| state.document().cloned())?;
        let key = document.open(user, pin)?;
        let mut state = self.state.write();
        self.refresh(&mut state)?;
        if state.document()?.serial != document.serial {
            return refuse(CKR_DEVICE_ERROR, "another process initialised the token meanwhile");
        }
        match state.login.as_ref().map(|login| login.user) {
            None => {}
            Some(other) if other == user => {
                return refuse(CKR_USER_ALREADY_LOGGED_IN, "the user is logged in");
            }
            Some(_) => return refuse(CKR_USER_ANOTHER_ALREADY_LOGGED_IN, "somebody else is logged in"),
        }
        state.login = Some(Login { user, key });
        let taken = state.take_objects();
        if taken.is_err() {
            state.login = None;
        }
        taken
    }

    fn check_user_pin(&self, pin: &SecretBytes) -> Answer {
        let document = self.current(|state| state.document().cloned())?;
        document.open(User::Normal, pin).map(drop)
    }

    fn log_out(&self) -> Answer {
        let mut state = self.state.write();
        if state.login.take().is_none() {
            return refuse(CKR_USER_NOT_LOGGED_IN, "nobody is logged in");
        }
        state.objects.retain(|_, (_, object)| !object.is_private());
        Ok(())
    }

    fn set_user_pin(&self, pin: &SecretBytes) -> Answer {
        self.change(|document, state| match &state.login {
            Some(Login { user: User::Officer, key }) => document.set_pin(User::Normal, pin, key, self.cost),
            _ => refuse(CKR_USER_NOT_LOGGED_IN, "the security officer is not logged in"),
        })
    }

    fn change_pin(&self, old: &SecretBytes, new: &SecretBytes) -> Answer {
        self.change(|document, state| {
            let user = state.login.as_ref().map_or(User::Normal, |login| login.user);
            let key = document.open(user, old)?;
            document.set_pin(user, new, &key, self.cost)
        })
    }

    fn objects(&self) -> Answer<Vec<(Handle, Arc<Object>)>> {
        let copy = |(handle, (_, object)): (&Handle, &(u64, Arc<Object>))| (*handle, Arc::clone(object));
        self.current(|state| Ok(state.objects.iter().map(copy).collect()))
    }

    fn object(&self, handle: Handle) -> Answer<Arc<Object>> {
        // Without a look at the file: a key is asked for again and again.
        let known = self.state.read().objects.get(&handle).map(|(_, object)| Arc::clone(object));
        known.ok_or_else(|| Refusal::new(CKR_OBJECT_HANDLE_INVALID, format!("there is no object {handle}")))
    }

    fn add(&self, objects: &[Object]) -> Answer<Vec<Handle>> {
        self.change(|document, state| {
            objects.iter().map(|object| document.add(object, state.user_key())).collect()
        })
    }

    fn replace(&self, handle: Handle, object: &Object) -> Answer {
        self.change(|document, state| document.replace(handle, object, state.user_key()))
    }

    fn remove(&self, handle: Handle) -> Answer {
        self.change(|document, _| document.remove(handle))
    }
}
