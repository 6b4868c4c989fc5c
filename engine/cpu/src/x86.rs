//! Scalar kernels with the instructions `mulx`, `adcx` and `adox` of x86-64.

mod limbs;
mod passes;
pub(crate) mod row;
mod strips;
mod table;
