//! Tokens: where objects are kept, and who is logged in.

mod file;
mod keystore;
mod service;

pub(crate) use file::FileToken;
pub(crate) use keystore::PIN;
pub(crate) use service::ServiceToken;

use crate::object::Object;
use crate::refusal::Answer;
use cryptoki_sys::*;
use modmill_seal::SecretBytes;
use std::sync::Arc;

/// The number by which a program names an object.
pub(crate) type Handle = u64;

/// Somebody who can log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The security officer, who sets the user's PIN.
    Officer,
    /// The user, who has the keys.
    Normal,
}

/// The description of a token.
#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    /// The label, at most 32 bytes.
    pub(crate) label: String,
    /// The serial number, at most 16 bytes.
    pub(crate) serial: String,
    /// The model of the token, at most 16 bytes.
    pub(crate) model: &'static str,
    /// The flags of `CK_TOKEN_INFO`.
    pub(crate) flags: CK_FLAGS,
}

/// A place of objects. Calls are safe from any thread.
pub(crate) trait Token: Send + Sync {
    /// The description of the token.
    fn describe(&self) -> Answer<Description>;

    /// Whether objects can be made, changed and destroyed.
    fn is_writable(&self) -> bool;

    /// Makes the token anew, without objects and without the user's PIN. A token that is there already asks
    /// for its security officer's PIN.
    fn initialise(&self, pin: &SecretBytes, label: &str) -> Answer;

    /// The user who is logged in.
    fn user(&self) -> Option<User>;

    /// Logs in.
    fn log_in(&self, user: User, pin: &SecretBytes) -> Answer;

    /// Refuses a PIN that is not the user's. Nothing changes.
    fn check_user_pin(&self, pin: &SecretBytes) -> Answer;

    /// Logs out. Private objects are cleared from memory.
    fn log_out(&self) -> Answer;

    /// Sets the user's PIN. The security officer is logged in.
    fn set_user_pin(&self, pin: &SecretBytes) -> Answer;

    /// Changes the PIN of whoever is logged in, or the user's if nobody is.
    fn change_pin(&self, old: &SecretBytes, new: &SecretBytes) -> Answer;

    /// The objects that whoever is logged in may see, as they are now.
    fn objects(&self) -> Answer<Vec<(Handle, Arc<Object>)>>;

    /// The object of this handle.
    fn object(&self, handle: Handle) -> Answer<Arc<Object>>;

    /// Stores objects, all or none.
    fn add(&self, objects: &[Object]) -> Answer<Vec<Handle>>;

    /// Stores `object` instead of another.
    fn replace(&self, handle: Handle, object: &Object) -> Answer;

    /// Destroys an object.
    fn remove(&self, handle: Handle) -> Answer;
}
