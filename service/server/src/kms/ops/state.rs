//! Enabling, disabling, describing and deleting keys.

use super::nothing;
use crate::kms::call::{Call, gone, wrong_state};
use crate::kms::codec::{Encoded, Time};
use crate::kms::documents::{KeyRecord, KeyState};
use crate::kms::{KmsError, fields};
use serde::Deserialize;
use serde_json::json;

/// The waiting period if a request does not say, in days.
const DEFAULT_WINDOW: i64 = 30;

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    key_id: Option<String>,
    description: Option<String>,
    pending_window_in_days: Option<i64>,
}

pub(in crate::kms) async fn update_description(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let description = fields::text(request.description.as_deref(), "description", 0..=8192)?;
    let key = call.allowed_key(request.key_id.as_deref())?;
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        description.clone_into(&mut record.description);
        Ok(())
    };
    call.change_key(&key, change).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn enable(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    set_enabled(call, request, true).await
}

pub(in crate::kms) async fn disable(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    set_enabled(call, request, false).await
}

async fn set_enabled(call: &Call, request: Request, enabled: bool) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    let change = |record: &mut KeyRecord| match call.state(record) {
        KeyState::Enabled | KeyState::Disabled => {
            record.enabled = enabled;
            Ok(())
        }
        state => Err(wrong_state(&key.arn, state)),
    };
    call.change_key(&key, change).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn schedule_deletion(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let window = request.pending_window_in_days.unwrap_or(DEFAULT_WINDOW);
    let window = fields::number(window, "pendingWindowInDays", 7..=30)?;
    let at_ms = call.now_ms + window.unsigned_abs() * DAY_MS;
    let key = call.allowed_key(request.key_id.as_deref())?;
    call.note("deletion_ms", at_ms);
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        record.deletion_ms = Some(at_ms);
        Ok(())
    };
    call.change_key(&key, change).await?;
    call.codec.encode(&json!({
        "KeyId": key.arn,
        "DeletionDate": Time::of_ms(at_ms),
        "KeyState": KeyState::PendingDeletion.name(),
        "PendingWindowInDays": window,
    }))
}

pub(in crate::kms) async fn cancel_deletion(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    let change = |record: &mut KeyRecord| {
        let state = call.state(record);
        // A key whose time has come is as good as deleted, though the next sweep has not seen it yet.
        if record.deletion_ms.take().is_none_or(|at_ms| at_ms <= call.now_ms) {
            return Err(match state {
                KeyState::PendingDeletion => gone(&key),
                state => {
                    KmsError::state(format!("{} is not pending deletion, but {}.", key.arn, state.name()))
                }
            });
        }
        record.enabled = false;
        Ok(())
    };
    call.change_key(&key, change).await?;
    call.codec.encode(&json!({"KeyId": key.arn}))
}
