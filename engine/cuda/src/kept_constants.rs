//! Constants of moduli that stay on devices as long as the moduli themselves.

use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::variant::Variant;
use modmill_core::sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of constants for each device and layout that has computed with some moduli.
#[derive(Default)]
pub(crate) struct KeptConstants(Mutex<HashMap<(usize, Variant), Arc<Buffer>>>);

impl KeptConstants {
    /// The rows for a device and a layout. The function `make` makes them at first use, and returns when they
    /// are complete. If two threads come first at the same time, both may make them, and one result is kept.
    pub(crate) fn get(
        &self,
        device: &Device,
        variant: Variant,
        make: impl FnOnce() -> Result<Arc<Buffer>>,
    ) -> Result<Arc<Buffer>> {
        let key = (device.id(), variant);
        let known = || self.0.lock();
        let found = known().get(&key).cloned();
        match found {
            Some(rows) => Ok(rows),
            None => {
                let made = make()?;
                Ok(known().entry(key).or_insert(made).clone())
            }
        }
    }
}
