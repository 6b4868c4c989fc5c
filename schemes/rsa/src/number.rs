//! The numbers of a key as limbs, least significant first. The time of an operation depends on lengths only.

pub(crate) use modmill::number::{
    Number, add_assign, bit_length, copy_be_bytes, equal, from_be_bytes, inv, minus_one, mul, mul_mod,
    remainder, shift_left, sub_assign, to_short_be_bytes as to_be_bytes, truncate, write_be_bytes,
};
