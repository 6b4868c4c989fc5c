//! Cycle-accurate models of hardware multipliers for long integers.
//!
//! [`Multiplier`] is the 768-Kbit multiplier of chapter 5 of the thesis on FHE accelerators, or an improved
//! one with the same two radix-16 units: [`Design::thesis`] takes 41 146 cycles for a product,
//! [`Design::improved`] 30 726, and 24 576 in a steady stream, which is the bound for two units.
//! [`ModularMultiplier`] is chapter 7's modular multiplier.
//!
//! The models clock banks, ports, pipelines and control. An access that the hardware could not serve is an
//! error. `DESIGN.md` fixes the machines cycle by cycle, and the project's RTL is compared with these models.
//!
//! ```
//! use modmill_hardware::{Design, Multiplier};
//! let mut machine = Multiplier::new(Design::improved().with_stages(3))?;
//! machine.offer(&[u64::MAX], &[u64::MAX])?;
//! machine.run(1, |_| ())?;
//! let product = &machine.products()[0];
//! assert_eq!(product.limbs[..2], [1, u64::MAX - 1]);
//! assert_eq!(product.cycles(), Design::improved().with_stages(3).product_cycles());
//! # Ok::<(), modmill_hardware::Error>(())
//! ```

#![forbid(unsafe_code)]

mod design;
mod digits;
pub mod draw;
mod error;
pub mod explore;
pub mod field;
mod memory;
mod modular;
mod multiplier;
mod radix16;
mod record;
mod resolver;
mod stage;
pub mod tables;
mod twiddle;

pub use design::{Design, Kind, Stage};
pub use error::{Access, Error, Port};
pub use memory::Memory;
pub use modular::{Form, ModularMultiplier, ModularPower, ModularProduct, Phase};
pub use multiplier::{Multiplier, Ports, Product};
pub use radix16::{Direction, RADIX, radix16};
pub use record::{Activity, Part, Snapshot};
pub use resolver::Resolver;
pub use stage::{Place, bank, digit};
pub use twiddle::{Factor, TABLE_ORDER, TABLE_WORDS, Twiddles};
