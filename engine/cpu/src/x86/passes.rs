//! Single passes over numbers: squares of limbs, sums and differences; and squares and Montgomery products of
//! four limbs, which fit in the registers.
//!
//! No instruction and no address depends on the value of a limb. The processor must have BMI2 and ADX, and
//! the numbers must have the limbs that the functions say.
#![allow(unsafe_code)]

use super::strips::{clear, restore, save};
use core::arch::naked_asm;

/// Adds the product of the limb in rdx and a number of four limbs to the five limbs of a sum; the sixth takes
/// the carry.
macro_rules! add_row {
    ($from:literal; $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal) => {
        concat!(
            "xor ebp, ebp\n",
            "mulx rbx, rax, [",
            $from,
            "]\nadcx ",
            $t0,
            ", rax\nadox ",
            $t1,
            ", rbx\n",
            "mulx rbx, rax, [",
            $from,
            " + 8]\nadcx ",
            $t1,
            ", rax\nadox ",
            $t2,
            ", rbx\n",
            "mulx rbx, rax, [",
            $from,
            " + 16]\nadcx ",
            $t2,
            ", rax\nadox ",
            $t3,
            ", rbx\n",
            "mulx rbx, rax, [",
            $from,
            " + 24]\nadcx ",
            $t3,
            ", rax\nadox ",
            $t4,
            ", rbx\n",
            "adcx ",
            $t4,
            ", rbp\nadox ",
            $t5,
            ", rbp\nadcx ",
            $t5,
            ", rbp\n",
        )
    };
}

/// Adds the product with the limb of y at a place, and the multiple of the modulus that clears the lowest
/// limb.
macro_rules! montgomery_row {
    ($at:literal; $low:literal $($next:literal)+) => {
        concat!(
            "mov rdx, [r15 + ", $at, "]\n",
            add_row!("rsi"; $low $($next)+),
            "mov rdx, ", $low, "\n",
            "imul rdx, r14\n",
            add_row!("rcx"; $low $($next)+),
        )
    };
}

/// `out <- x y / R` modulo N for numbers of four limbs, as in [`super::limbs::montgomery_multiply`]. The sum
/// stays in six registers. It is below `2^257` after each row: `(2^257 + (2^64 - 1) (2^256 - 1) 2) / 2^64 <
/// 2^257`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn montgomery_4(
    out: *mut u64,
    x: *const u64,
    y: *const u64,
    modulus: *const u64,
    negated_inverse: u64,
) {
    naked_asm!(concat!(
        save!(),
        "mov r15, rdx\nmov r14, r8\n",
        clear!("r8" "r9" "r10" "r11" "r12" "r13"),
        montgomery_row!("0"; "r8" "r9" "r10" "r11" "r12" "r13"),
        montgomery_row!("8"; "r9" "r10" "r11" "r12" "r13" "r8"),
        montgomery_row!("16"; "r10" "r11" "r12" "r13" "r8" "r9"),
        montgomery_row!("24"; "r11" "r12" "r13" "r8" "r9" "r10"),
        // The sum is in r12, r13, r8 and r9; r10 is the bit above.
        "mov rdx, r10\n",
        "mulx rbx, rax, [rcx]\nmulx rbx, r14, [rcx + 8]\nmulx rbx, r15, [rcx + 16]\nmulx rbx, r11, [rcx + 24]\n",
        "sub r12, rax\nsbb r13, r14\nsbb r8, r15\nsbb r9, r11\n",
        "mov [rdi], r12\nmov [rdi + 8], r13\nmov [rdi + 16], r8\nmov [rdi + 24], r9\n",
        restore!(),
    ))
}

/// Adds the square of the limb of x at a place to twice two limbs of a sum, and writes both.
macro_rules! square_two {
    ($x:literal, $low:literal $to_low:literal, $high:literal $to_high:literal) => {
        concat!(
            "mov rdx, [rsi + ",
            $x,
            "]\nmulx rax, rdx, rdx\nadcx ",
            $low,
            ", ",
            $low,
            "\nadox ",
            $low,
            ", rdx\nmov [rdi + ",
            $to_low,
            "], ",
            $low,
            "\nadcx ",
            $high,
            ", ",
            $high,
            "\nadox ",
            $high,
            ", rax\nmov [rdi + ",
            $to_high,
            "], ",
            $high,
            "\n",
        )
    };
}

/// `out <- x^2` for four limbs: the six products of different limbs, in r9, r10, r11, rcx, rbx and r8 from
/// limb 1 on, are doubled while the squares of limbs are added.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_4(out: *mut u64, x: *const u64) {
    naked_asm!(concat!(
        "push rbx\n",
        "mov rdx, [rsi]\n",
        "mulx r10, r9, [rsi + 8]\n",
        "mulx r11, rax, [rsi + 16]\nadd r10, rax\n",
        "mulx rcx, rax, [rsi + 24]\nadc r11, rax\nadc rcx, 0\n",
        // This clears both carry flags.
        "mov rdx, [rsi + 8]\nxor ebx, ebx\n",
        "mulx r8, rax, [rsi + 16]\nadcx r11, rax\nadox rcx, r8\n",
        "mulx r8, rax, [rsi + 24]\nadcx rcx, rax\nadox rbx, r8\n",
        "mov rdx, [rsi + 16]\n",
        "mulx r8, rax, [rsi + 24]\nadcx rbx, rax\n",
        "mov eax, 0\nadox r8, rax\nadcx r8, rax\n",
        // Both flags are clear: no sum above overflows.
        "mov rdx, [rsi]\nmulx rdx, rax, rdx\nmov [rdi], rax\n",
        "adcx r9, r9\nadox r9, rdx\nmov [rdi + 8], r9\n",
        square_two!("8", "r10" "16", "r11" "24"),
        square_two!("16", "rcx" "32", "rbx" "40"),
        "mov r9d, 0\n",
        square_two!("24", "r8" "48", "r9" "56"),
        "pop rbx\nret",
    ))
}

/// The square of the limb of x at a place, with the limb itself added if the top bit of the limb before, in
/// r8, is set. The sum of the two is at most `2^128 - 2^64`.
macro_rules! square_limb {
    ($x:literal, $low:literal, $high:literal) => {
        concat!(
            "mov rdx, [rsi + ",
            $x,
            "]\n",
            "sar r8, 63\n",
            "and r8, rdx\n",
            "mulx rax, r9, rdx\n",
            "add r9, r8\n",
            "mov r8, rdx\n",
            "adc rax, 0\n",
            "mov [rdi + ",
            $low,
            "], r9\n",
            "mov [rdi + ",
            $high,
            "], rax\n",
        )
    };
}

/// The squares of all limbs of x, each with the limb itself added if the top bit of the limb before is set.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_limbs(out: *mut u64, x: *const u64, limbs: usize) {
    naked_asm!(concat!(
        "mov rcx, rdx\nxor r8d, r8d\n",
        "2:\ntest cl, 3\njz 3f\n",
        square_limb!("0", "0", "8"),
        "add rsi, 8\nadd rdi, 16\ndec rcx\njmp 2b\n",
        "3:\nshr rcx, 2\njz 5f\n",
        "4:\n",
        square_limb!("0", "0", "8"),
        square_limb!("8", "16", "24"),
        square_limb!("16", "32", "40"),
        square_limb!("24", "48", "56"),
        "add rsi, 32\nadd rdi, 64\ndec rcx\njnz 4b\n",
        "5:\nret",
    ),)
}

/// One limb of a sum or difference, with the carry or borrow in the carry flag.
macro_rules! combine_limb {
    (whole $instruction:literal $at:literal) => {
        concat!(
            "mov rax, [rdi + ",
            $at,
            "]\n",
            $instruction,
            " rax, [rsi + ",
            $at,
            "]\n",
            "mov [r8 + ",
            $at,
            "], rax\n",
        )
    };
    // A product with the bit in rdx masks the limb that is added or subtracted, and leaves the flags alone.
    (masked $instruction:literal $at:literal) => {
        concat!(
            "mulx r11, rax, [rsi + ",
            $at,
            "]\n",
            "mov r11, [rdi + ",
            $at,
            "]\n",
            $instruction,
            " r11, rax\n",
            "mov [r8 + ",
            $at,
            "], r11\n",
        )
    };
}

/// Defines a function for sums or differences: `out <- a + bit b` or `out <- a - bit b` for n limbs, then the
/// carry or borrow goes through `rest` limbs of `out`. `whole` takes the bit for one. The functions return
/// the last carry or borrow. `out` may be `a`.
macro_rules! combine {
    ($($name:ident $kind:ident $instruction:literal;)+) => {$(
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(
            a: *const u64,
            b: *const u64,
            bit: u64,
            n: usize,
            out: *mut u64,
            rest: usize,
        ) -> u64 {
            naked_asm!(concat!(
                "mov r10, rcx\nshr r10, 2\nand ecx, 3\ninc rcx\ninc r10\ninc r9\nclc\n",
                "2:\ndec rcx\njz 3f\n",
                combine_limb!($kind $instruction "0"),
                "lea rsi, [rsi + 8]\nlea rdi, [rdi + 8]\nlea r8, [r8 + 8]\njmp 2b\n",
                "3:\ndec r10\njz 4f\n",
                combine_limb!($kind $instruction "0"),
                combine_limb!($kind $instruction "8"),
                combine_limb!($kind $instruction "16"),
                combine_limb!($kind $instruction "24"),
                "lea rsi, [rsi + 32]\nlea rdi, [rdi + 32]\nlea r8, [r8 + 32]\njmp 3b\n",
                "4:\ndec r9\njz 5f\n",
                "mov rax, [r8]\n", $instruction, " rax, 0\nmov [r8], rax\nlea r8, [r8 + 8]\njmp 4b\n",
                "5:\nmov eax, 0\nadc rax, 0\nret",
            ))
        }
    )+};
}

combine! {
    add whole "adc";
    subtract whole "sbb";
    add_bit masked "adc";
    subtract_bit masked "sbb";
}
