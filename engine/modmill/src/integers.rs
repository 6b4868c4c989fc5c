//! Operations on integers beside those of [`Engine`](crate::Engine): square roots, exact quotients, least
//! common multiples, sums and differences modulo numbers, numbers from their remainders.
//!
//! They are functions of an engine at any [`Place`](crate::Place), as its methods are:
//!
//! ```
//! use modmill::{Batch, Engine, integers};
//!
//! let (engine, numbers) = (Engine::new()?, Batch::from_hex(["63", "64", "65"])?);
//! assert_eq!(integers::isqrt(&engine, &numbers)?.as_limbs(), [9, 10, 10]);
//! let on_device = integers::isqrt(&engine.on_device(), &numbers)?;
//! assert_eq!(on_device.download()?.as_limbs(), [9, 10, 10]);
//! println!("{}", integers::isqrt(&engine.ask(), &numbers)?);
//! # Ok::<(), modmill::Error>(())
//! ```

mod exact;
mod remainders;
mod square_root;
mod sums;

pub use exact::{div_exact, lcm};
pub use remainders::crt;
pub use square_root::{is_square, isqrt, sqrt_rem};
pub use sums::{add_mod, sub_mod};
