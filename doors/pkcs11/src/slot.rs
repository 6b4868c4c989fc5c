//! A slot: a token, and the objects of sessions that are on no token.

use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use crate::session::Session;
use crate::template::{self, Template};
use crate::token::{Handle, Token, User};
use cryptoki_sys::*;
use modmill_core::sync::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first handle of session objects. Tokens count theirs from one, and never reach it.
const LOOSE: Handle = 1 << 31;

/// A slot with its token.
pub(crate) struct Slot {
    name: String,
    token: Box<dyn Token>,
    loose: RwLock<Loose>,
}

/// The session objects of a slot.
#[derive(Default)]
struct Loose {
    made: u64,
    objects: BTreeMap<Handle, (CK_SESSION_HANDLE, Arc<Object>)>,
}

impl Slot {
    /// The slot that a program sees under `name`.
    pub(crate) fn new(name: String, token: Box<dyn Token>) -> Self {
        Self { name, token, loose: RwLock::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn token(&self) -> &dyn Token {
        &*self.token
    }

    /// Forgets the objects of a session.
    pub(crate) fn session_closed(&self, session: CK_SESSION_HANDLE) {
        self.loose.write().objects.retain(|_, (owner, _)| *owner != session);
    }

    /// Logs out. Private session objects are destroyed.
    pub(crate) fn log_out(&self) -> Answer {
        self.token.log_out()?;
        self.loose.write().objects.retain(|_, (_, object)| !object.is_private());
        Ok(())
    }

    /// The object of this handle.
    pub(crate) fn object(&self, handle: Handle) -> Answer<Arc<Object>> {
        if handle < LOOSE {
            return self.token.object(handle);
        }
        let object = self.loose.read().objects.get(&handle).map(|(_, object)| Arc::clone(object));
        object.ok_or_else(|| Refusal::new(CKR_OBJECT_HANDLE_INVALID, format!("there is no object {handle}")))
    }

    /// The key of this handle. `code` says that there is none.
    pub(crate) fn key(&self, handle: Handle, code: CK_RV) -> Answer<Arc<Object>> {
        self.object(handle).map_err(|refusal| Refusal { code, ..refusal })
    }

    /// The handles of all objects that have the values of `template`.
    pub(crate) fn find(&self, template: &Template) -> Answer<Vec<Handle>> {
        let on_token = self.token.objects()?;
        let loose = self.loose.read();
        let on_token = on_token.iter().map(|(handle, object)| (*handle, object));
        let all = on_token.chain(loose.objects.iter().map(|(handle, (_, object))| (*handle, object)));
        Ok(all.filter(|(_, object)| object.matches(template)).map(|(handle, _)| handle).collect())
    }

    /// Refuses an `object` that the session may not make, change or destroy.
    fn may_write(&self, session: &Session, object: &Object) -> Answer {
        if object.is_on_token() && !session.writable {
            return refuse(CKR_SESSION_READ_ONLY, "the session may not change objects on the token");
        }
        if object.is_private() && self.token.user() != Some(User::Normal) && self.needs_login()? {
            return refuse(CKR_USER_NOT_LOGGED_IN, "a private object needs a login");
        }
        Ok(())
    }

    fn needs_login(&self) -> Answer<bool> {
        Ok(self.token.describe()?.flags & CKF_LOGIN_REQUIRED != 0)
    }

    /// Whether the session's user may set CKA_TRUSTED.
    pub(crate) fn is_trusting(&self) -> bool {
        self.token.user() == Some(User::Officer)
    }

    /// Refuses templates of objects that the session may not make, before a key is made for nothing.
    pub(crate) fn may_make(&self, session: &Session, on_token: bool, private: bool) -> Answer {
        let flags = [(CKA_TOKEN, on_token.into()), (CKA_PRIVATE, private.into())];
        self.may_write(session, &Object::new(flags.into()))
    }

    /// Stores new objects, those on the token all or none, and returns their handles.
    pub(crate) fn add(
        &self,
        session: &Session,
        owner: CK_SESSION_HANDLE,
        objects: Vec<Object>,
    ) -> Answer<Vec<Handle>> {
        objects.iter().try_for_each(|object| self.may_write(session, object))?;
        if objects.iter().all(Object::is_on_token) {
            return self.token.add(&objects);
        }
        let one = |object: Object| match object.is_on_token() {
            true => Ok(self.token.add(&[object])?[0]),
            false => {
                let mut loose = self.loose.write();
                loose.made += 1;
                let handle = LOOSE + loose.made;
                loose.objects.insert(handle, (owner, Arc::new(object)));
                Ok(handle)
            }
        };
        objects.into_iter().map(one).collect()
    }

    /// Changes attributes of an object.
    pub(crate) fn change(&self, session: &Session, handle: Handle, template: &Template) -> Answer {
        let before = self.object(handle)?;
        self.may_write(session, &before)?;
        let after = template::change(&before, template, self.is_trusting())?;
        self.may_write(session, &after)?;
        if handle < LOOSE {
            return self.token.replace(handle, &after);
        }
        match self.loose.write().objects.get_mut(&handle) {
            Some((_, object)) => *object = Arc::new(after),
            None => return refuse(CKR_OBJECT_HANDLE_INVALID, "the object was destroyed meanwhile"),
        }
        Ok(())
    }

    /// Destroys an object.
    pub(crate) fn destroy(&self, session: &Session, handle: Handle) -> Answer {
        let object = self.object(handle)?;
        self.may_write(session, &object)?;
        if !object.flag(CKA_DESTROYABLE) {
            return refuse(CKR_ACTION_PROHIBITED, "the object has CKA_DESTROYABLE false");
        }
        if handle < LOOSE {
            return self.token.remove(handle);
        }
        self.loose.write().objects.remove(&handle);
        Ok(())
    }
}
