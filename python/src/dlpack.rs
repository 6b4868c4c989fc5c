//! DLPack: numbers in the memory of a GPU for torch, cupy and others. The structures are those of DLPack 0.8.
#![allow(unsafe_code)] // hands structures of C over

use modmill::{DeviceAddress, Resident};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// The kind of devices that have CUDA.
pub(crate) const CUDA: i32 = 2;

/// Unsigned integers.
const UNSIGNED: u8 = 1;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct ManagedTensor {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
}

/// A managed tensor with what it points to. The tensor comes first, so that a pointer to it is one to the
/// whole.
#[repr(C)]
struct Held {
    managed: ManagedTensor,
    shape: [i64; 2],
    strides: [i64; 2],
    /// Keeps the memory on the device.
    _numbers: Resident,
}

/// Frees what [`capsule`] made.
///
/// # Safety
/// `managed` is the pointer of a capsule of [`capsule`], and this is the only call for it.
unsafe extern "C" fn delete(managed: *mut ManagedTensor) {
    // SAFETY: the pointer came from a box of `Held`, whose first field the tensor is.
    drop(unsafe { Box::from_raw(managed.cast::<Held>()) });
}

/// Frees the tensor of a capsule that nobody took over: a consumer renames the capsule when it does.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python hands over the capsule that it destroys; the name is checked before the pointer is used.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()).cast());
        }
    }
}

/// A capsule with an array of `items` rows of limbs.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    numbers: &Resident,
    address: DeviceAddress,
) -> PyResult<Bound<'py, PyCapsule>> {
    let tensor = Tensor {
        data: ptr::without_provenance_mut(address.address as usize),
        device_type: CUDA,
        device_id: address.ordinal as i32,
        dimensions: 2,
        code: UNSIGNED,
        bits: 64,
        lanes: 1,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let held = Box::new(Held {
        managed: ManagedTensor { tensor, context: ptr::null_mut(), deleter: Some(delete) },
        shape: [numbers.len() as i64, numbers.bits().div_ceil(64) as i64],
        strides: [address.stride as i64, 1],
        _numbers: numbers.clone(),
    });
    let held = Box::into_raw(held);
    // SAFETY: the box is ours alone until the capsule is made; its fields do not move. The destructor or the
    // consumer frees it, once.
    unsafe {
        (*held).managed.tensor.shape = (&raw mut (*held).shape).cast();
        (*held).managed.tensor.strides = (&raw mut (*held).strides).cast();
        let made = PyCapsule::new_with_pointer_and_destructor(
            py,
            NonNull::new_unchecked(held.cast()),
            c"dltensor",
            Some(drop_capsule),
        );
        if made.is_err() {
            delete(held.cast());
        }
        made
    }
}
