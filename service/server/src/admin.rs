//! Commands of an operator: credentials, backups, a new master key.
//!
//! A running service holds the embedded store, so it takes the commands through a socket in its data folder
//! that only its own user can open. Without a running service the program executes them itself.

mod client;

pub use client::send;

use crate::audit::Audit;
use crate::backup;
use crate::changes::{self, Change, Failure};
use crate::clock::Clock;
use crate::credentials::Right;
use crate::credentials::{self, CredentialError};
use crate::master_key::MasterKey;
use crate::privacy_pass::{IssuerError, issuer};
use crate::records::{Records, RecordsError};
use crate::service::Service;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use modmill::{Backend, Engine};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixListener;
use zeroize::Zeroizing;

/// The socket's file in the data folder.
pub const SOCKET: &str = "admin.sock";

/// A command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Makes a credential. The answer has `access_key_id`, `secret_access_key` and `token`.
    CreateCredential {
        /// The name of the principal.
        name: String,
        /// The rights of the credential.
        rights: BTreeSet<Right>,
    },
    /// Lists credentials without their secrets.
    ListCredentials,
    /// Deletes a credential.
    RevokeCredential {
        /// The access key's identifier.
        access_key_id: String,
    },
    /// Makes a key that signs token requests.
    CreateIssuerKey {
        /// The time from which on it signs, in seconds since 1970; now, if it is absent.
        not_before_s: Option<u64>,
    },
    /// Lists the keys that sign token requests.
    ListIssuerKeys,
    /// Deletes a key that signs token requests.
    RetireIssuerKey {
        /// The token key's identifier.
        id: String,
    },
    /// Writes a backup to a new file.
    Backup {
        /// The file.
        path: PathBuf,
    },
    /// Seals all documents anew under another master key.
    Reseal {
        /// The file of the new master key, which is made if it is absent.
        master_key_file: PathBuf,
    },
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// An error of a credential.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// An error of a key that signs token requests.
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    /// An error of a backup.
    #[error(transparent)]
    Backup(#[from] backup::BackupError),
    /// An error of a master key.
    #[error(transparent)]
    MasterKey(#[from] crate::master_key::MasterKeyError),
    /// An error of the documents.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The service that was asked, or the way to it, failed.
    #[error("{0}")]
    Service(String),
}

/// The identifier in the answer of a command that makes something.
#[derive(Deserialize)]
struct Made {
    #[serde(alias = "access_key_id")]
    id: Option<String>,
}

impl Failure for AdminError {
    fn outcome(&self) -> String {
        self.to_string()
    }

    fn unaudited(reason: &str) -> Self {
        Self::Service(reason.to_owned())
    }
}

impl Command {
    /// The line of the command in the audit log; `None` if it changes nothing and hands nothing out.
    fn change(&self) -> Option<Change> {
        let (operation, key_id, particulars) = match self {
            Self::ListCredentials | Self::ListIssuerKeys => return None,
            Self::CreateCredential { name, rights } => {
                ("create_credential", "", json!({ "name": name, "rights": rights }))
            }
            Self::RevokeCredential { access_key_id } => {
                ("revoke_credential", &access_key_id[..], Value::Null)
            }
            Self::CreateIssuerKey { not_before_s } => {
                ("create_issuer_key", "", json!({ "not_before_s": not_before_s }))
            }
            Self::RetireIssuerKey { id } => ("retire_issuer_key", &id[..], Value::Null),
            Self::Backup { path } => ("backup", "", json!({ "path": path })),
            Self::Reseal { master_key_file } => ("reseal", "", json!({ "master_key_file": master_key_file })),
        };
        Some(Change { particulars, ..Change::of("operator", ("admin", operation), key_id) })
    }

    /// Whether the command is noted in the audit log.
    #[must_use]
    pub fn is_audited(&self) -> bool {
        self.change().is_some()
    }

    /// Executes the command as [`Command::execute`] does, and notes it in the audit log.
    pub async fn execute_audited(
        self,
        audit: Option<&Arc<Audit>>,
        records: &Records,
        clock: &Clock,
    ) -> Result<Zeroizing<String>, AdminError> {
        let Some(mut change) = self.change() else { return self.execute(records, clock).await };
        changes::check::<AdminError>(audit)?;
        let result = self.execute(records, clock).await;
        let made = result.as_ref().ok().and_then(|answer| serde_json::from_str(answer).ok());
        if let Some(Made { id: Some(id) }) = made {
            change.origin.key_id = id.into();
        }
        changes::note(audit, change, result).await
    }

    /// Executes the command on documents. The answer is JSON, and may hold secrets.
    pub async fn execute(self, records: &Records, clock: &Clock) -> Result<Zeroizing<String>, AdminError> {
        let answer = match self {
            Self::CreateCredential { name, rights } => {
                let new = credentials::create(records, &name, rights, clock.now_ms()).await?;
                json!({
                    "access_key_id": new.access_key_id,
                    "secret_access_key": *new.secret_access_key,
                    "token": *new.token,
                })
            }
            Self::ListCredentials => {
                let shown = credentials::list(records).into_iter().map(|credential| {
                    json!({
                        "access_key_id": credential.access_key_id,
                        "name": credential.name,
                        "rights": credential.rights,
                        "created_ms": credential.created_ms,
                    })
                });
                shown.collect()
            }
            Self::RevokeCredential { access_key_id } => {
                credentials::revoke(records, &access_key_id).await?;
                json!({ "revoked": access_key_id })
            }
            Self::CreateIssuerKey { not_before_s } => {
                let engine = Engine::builder().backend(Backend::Cpu).build();
                let engine = Arc::new(engine.map_err(|error| AdminError::Service(error.to_string()))?);
                let key = issuer::create(records, &engine, clock, not_before_s).await?;
                json!({ "id": key.id, "not_before_s": key.not_before_s })
            }
            Self::ListIssuerKeys => {
                let keys = issuer::in_order(records, clock.now_ms() / 1000);
                keys.iter().map(|key| json!({ "id": key.id, "not_before_s": key.not_before_s })).collect()
            }
            Self::RetireIssuerKey { id } => {
                issuer::retire(records, &id).await?;
                json!({ "retired": id })
            }
            Self::Backup { path } => {
                let summary = backup::write(&**records.store(), &path).await?;
                json!({ "path": path, "documents": summary.documents })
            }
            Self::Reseal { master_key_file } => {
                let new = MasterKey::read_or_create(&master_key_file)?;
                let documents = records.reseal(&new).await?;
                json!({ "documents": documents, "master_key_file": master_key_file })
            }
        };
        Ok(Zeroizing::new(answer.to_string()))
    }
}

/// Makes the socket in `folder`. Connections wait in it until they are served ([`serve`]).
pub(crate) fn listen(folder: &Path) -> std::io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(SOCKET);
    // Whoever holds the store is the only service here: a socket that is there is left from an earlier one.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Takes commands from a socket until the future is dropped.
pub(crate) async fn serve(listener: UnixListener, service: Arc<Service>) -> std::io::Result<()> {
    let router = Router::new().route("/alive", get(async || ())).route("/command", post(command));
    let router = router.with_state(service);
    axum::serve(listener, router).await
}

async fn command(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let command: Command = match serde_json::from_slice(&body) {
        Ok(command) => command,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    // A command is brought to its end even if nobody waits for it any more, so that none is without its line.
    let executed = tokio::spawn(async move {
        command.execute_audited(service.batcher.audit(), &service.records, &service.clock).await
    });
    match executed.await {
        Ok(Ok(answer)) => answer.as_bytes().to_vec().into_response(),
        Ok(Err(error)) => (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
