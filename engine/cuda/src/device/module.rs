//! Compiled programs and their kernels.
#![allow(unsafe_code)] // hands handles to the platform

use super::platform::{Attributes, Handle};
use super::shared::Shared;
use super::uses::Uses;
use crate::error::Result;
use std::sync::Arc;

/// The structure that a kernel takes as its one argument.
///
/// # Safety
/// `#[repr(C)]`, of numbers only, the same as the kernel's own structure, field by field.
pub unsafe trait KernelArguments: Copy + 'static {}

/// Declares structures that kernels take, each with its size and the offsets of its fields, which the
/// kernel's source asserts too.
macro_rules! kernel_structs {
    ($(
        $(#[$doc:meta])*
        $vis:vis struct $name:ident: $bytes:literal bytes {
            $($(#[$field_doc:meta])* $field:ident at $offset:literal: $type:ty,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default)]
        $vis struct $name {
            $($(#[$field_doc])* $vis $field: $type,)+
        }

        const _: () = assert!(
            size_of::<$name>() == $bytes $(&& std::mem::offset_of!($name, $field) == $offset)+,
            "the kernels' structure has another layout"
        );

        #[allow(unsafe_code)]
        // SAFETY: a plain structure of integers, laid out as the kernels' own.
        unsafe impl crate::device::KernelArguments for $name {}
    )+};
}
pub(crate) use kernel_structs;

pub(super) struct Loaded {
    device: Arc<Shared>,
    handle: Handle,
    uses: Uses,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // A device that fails here is lost, and the module with it.
        let _ = self.uses.settle();
        // SAFETY: nobody has this module any more, and no kernel of it runs.
        unsafe { self.device.platform.unload(self.handle) }
    }
}

/// A compiled program on its device.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

impl Module {
    pub(super) fn new(device: Arc<Shared>, handle: Handle) -> Self {
        Self(Arc::new(Loaded { device, handle, uses: Uses::default() }))
    }

    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        // SAFETY: the module is loaded as long as `self` is here.
        let (handle, attributes) = unsafe { self.0.device.platform.kernel(self.0.handle, name) }?;
        Ok(Kernel { module: self.0.clone(), handle, attributes })
    }
}

/// A function that the device runs in many threads. Keeps its module loaded.
#[derive(Clone)]
pub struct Kernel {
    module: Arc<Loaded>,
    handle: Handle,
    attributes: Attributes,
}

impl Kernel {
    /// Its registers and memory.
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// How many blocks of this size run on a multiprocessor at a time; 0 if none fits.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<u32> {
        // SAFETY: the kernel's module is loaded as long as `self` is here.
        unsafe { self.module.device.platform.occupancy(self.handle, block, shared_bytes) }
    }

    /// How many blocks of this size run on the device at a time; at least one on each multiprocessor.
    pub(crate) fn blocks(&self, block: u32, shared_bytes: u32) -> Result<u32> {
        let multiprocessors = self.module.device.platform.properties().limits.multiprocessors;
        Ok(self.occupancy(block, shared_bytes)?.max(1) * multiprocessors)
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.module.uses
    }
}
