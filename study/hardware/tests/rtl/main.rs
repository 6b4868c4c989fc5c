//! The RTL of `study/rtl/` compared with the model: simulations by Icarus and Verilator. Without these tools
//! the tests are left out, with a line that says so; `study/rtl/install` installs them.

mod modular;
mod multiplier;
mod netlists;
mod simulator;
mod sources;
mod tools;
mod units;
mod vectors;
