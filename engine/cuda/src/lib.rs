//! The CUDA backend: kernels in CUDA C++, embedded here and compiled at run time for the device and
//! the size at hand.
//!
//! A [`Device`] is a GPU or an emulated one; both have the same memory, streams and launches, so that
//! everything above is tested on machines without a GPU. Nothing of CUDA is needed to build, and at
//! run time its libraries are loaded where they are found.

mod backend;
pub mod bundle;
pub mod cache;
mod call;
mod checks;
pub mod compiler;
mod composed;
mod constants;
pub mod device;
mod device_rows;
mod devices;
mod digest;
mod digits;
mod driver;
pub mod emulator;
mod error;
mod family;
mod fft;
mod fixed_base;
mod kept_constants;
mod kernels;
mod library;
mod loaded;
mod long;
mod memo;
mod modular;
mod modular_sums;
mod montgomery;
mod operands;
mod part;
mod patience;
mod pipeline;
mod planning;
mod rates;
mod resident;
mod residue_matrix;
mod rsa;
mod run;
mod soonest;
pub mod sources;
mod staging;
mod steps;
mod table;
mod task;
mod transformed;
mod tuning;
mod variant;
mod warm;
mod workers;

pub use backend::{Cuda, FAMILIES, Run, Settings};
pub use compiler::Program;
pub use device::{
    Attributes, Buffer, Chip, Contents, Device, Event, HostBuffer, Kernel, KernelArguments, Limits, Module,
    Properties, Shape, Stream, Tensor,
};
pub use digits::digits_programs;
pub use driver::Gpus;
pub use emulator::Faults;
pub use error::{Error, Result};
pub use family::layout::{Cut, Layout, Placement};
pub use fft::{Reciprocals, transforms_programs};
pub use fixed_base::{FIXED_WINDOW, FixedBase};
pub use modular_sums::{ModularSums, SumFactors};
pub use montgomery::MontgomeryForm;
pub use part::Part;
pub use residue_matrix::{DeviceMatrix, PinnedRows, SectionSizes, residue_matrix_programs};
pub use rsa::{CrtPlan, Fault, PublicPlan, Stage};
pub use sources::Source;
pub use steps::steps_program;
pub use table::{Choice, Table, Timing, TransformTiming, Transforms, direct_window};
pub use transformed::Transformed;
pub use variant::{Variant, words_for};
