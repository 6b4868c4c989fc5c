//! Strips of a product, with two carry chains at once.
//!
//! A strip is the product of a block B of W limbs, which stays where it is, and a factor a whose limbs stream
//! past it. A window of W limbs of the sum stays in registers. The step for the limb `a_j` adds `a_j B` and
//! the limb `t_j` of the sum in memory, writes the lowest limb back to its place, and moves the window up by
//! one limb. Nothing overflows: with the window and B below `2^(64 W)`,
//!
//! ```text
//! window + a_j B + t_j <= (2^(64 W) - 1) + (2^64 - 1) (2^(64 W) - 1) + (2^64 - 1) = 2^(64 (W + 1)) - 1.
//! ```
//!
//! So both carry chains end with clear flags, and no carry is kept from step to step. `mulx` leaves the flags
//! alone, `adcx` adds the low halves of the products with one flag and `adox` the high halves with the other.
//!
//! Instead of moving the window from register to register, W steps in a row name the registers in rotated
//! order. The steps left over, if W does not divide the number of limbs, come first and do move it.
//!
//! No instruction and no address depends on the value of a limb.
#![allow(unsafe_code)]

use core::arch::naked_asm;

/// The limbs of `a_j B` above the lowest, and the new top limb of the window, which replaces the lowest. The
/// high half of the product before is in rbx, zero in rbp, the limb `a_j` in rdx.
macro_rules! row {
    ($b:literal ($($up:literal)+) $low:literal; $top:literal) => {
        concat!(
            "adox ", $top, ", rbx\n",
            "mulx ", $low, ", rax, [", $b $(, $up)+, "]\n",
            "adcx ", $top, ", rax\n",
            "adox ", $low, ", rbp\n",
            "adcx ", $low, ", rbp\n",
        )
    };
    ($b:literal ($($up:literal)+) $low:literal; $next:literal $($rest:literal)+) => {
        concat!(
            "adox ", $next, ", rbx\n",
            "mulx rbx, rax, [", $b $(, $up)+, "]\n",
            "adcx ", $next, ", rax\n",
            row!($b ($($up)+ " + 8") $low; $($rest)+),
        )
    };
}

/// One step of a strip: rsi points to the streamed factor, rdi to the sum.
macro_rules! step {
    ($b:literal ($($up:literal)*) $low:literal $($next:literal)+) => {
        concat!(
            "mov rdx, [rsi", $($up,)* "]\n",
            "xor ebp, ebp\n",
            "mulx rbx, rax, [", $b, "]\n",
            "adcx ", $low, ", rax\n",
            "adox ", $low, ", [rdi", $($up,)* "]\n",
            "mov [rdi", $($up,)* "], ", $low, "\n",
            row!($b (" + 8") $low; $($next)+),
        )
    };
}

/// As many steps as the window has limbs. The first list counts them.
macro_rules! round {
    ($b:literal () ($($up:literal)*) $($window:literal)+) => { "" };
    ($b:literal ($one:literal $($more:literal)*) ($($up:literal)*) $low:literal $($next:literal)+) => {
        concat!(
            step!($b ($($up)*) $low $($next)+),
            round!($b ($($more)*) ($($up)* " + 8") $($next)+ $low),
        )
    };
}

/// As many steps as the window has limbs, with nothing in the sum yet. The first list counts them.
macro_rules! start {
    (() ($($up:literal)*) $($window:literal)+) => { "" };
    (($one:literal $($more:literal)*) ($($up:literal)*) $low:literal $($next:literal)+) => {
        concat!(
            "mov rdx, [rsi", $($up,)* "]\n",
            "xor ebp, ebp\n",
            "mulx rbx, rax, [rcx]\n",
            "adcx ", $low, ", rax\n",
            "mov [rdi", $($up,)* "], ", $low, "\n",
            row!("rcx" (" + 8") $low; $($next)+),
            start!(($($more)*) ($($up)* " + 8") $($next)+ $low),
        )
    };
}

/// Stores the window.
macro_rules! store {
    (($($up:literal)*)) => { "" };
    (($($up:literal)*) $limb:literal $($rest:literal)*) => {
        concat!("mov [rdi + {bytes}", $($up,)* "], ", $limb, "\n", store!(($($up)* " + 8") $($rest)*))
    };
}

/// Moves the window after a step, so that its limbs are in the order of their registers again.
macro_rules! turn {
    ($low:literal $($next:literal)+) => { concat!("mov rax, ", $low, "\n", turn!(@ $low $($next)+)) };
    (@ $last:literal) => { concat!("mov ", $last, ", rax\n") };
    (@ $to:literal $from:literal $($rest:literal)*) => {
        concat!("mov ", $to, ", ", $from, "\n", turn!(@ $from $($rest)*))
    };
}

/// All steps of a strip: those left over, then whole rounds. Their numbers are at [rsp + 72] and [rsp + 64];
/// a counter is at [rsp + 104]. Both flags are clear.
macro_rules! stream {
    ($b:literal $($window:literal)+) => {
        concat!(
            "mov rdx, [rsp + 72]\n",
            "test rdx, rdx\n",
            "jz 4f\n",
            "mov [rsp + 104], rdx\n",
            "3:\n",
            step!($b () $($window)+),
            turn!($($window)+),
            "lea rsi, [rsi + 8]\n",
            "lea rdi, [rdi + 8]\n",
            "dec qword ptr [rsp + 104]\n",
            "jnz 3b\n",
            "4:\n",
            "mov rdx, [rsp + 64]\n",
            "test rdx, rdx\n",
            "jz 6f\n",
            "mov [rsp + 104], rdx\n",
            ".p2align 4\n",
            "5:\n",
            round!($b ($($window)+) () $($window)+),
            "lea rsi, [rsi + {bytes}]\n",
            "lea rdi, [rdi + {bytes}]\n",
            "dec qword ptr [rsp + 104]\n",
            "jnz 5b\n",
            "6:\n",
        )
    };
}

/// Adds the window to the sum at rdi, with the carry at [rsp + 88], and leaves the new carry there.
macro_rules! finish {
    ($($window:literal)+) => {
        concat!(
            "xor eax, eax\n",
            "mov rdx, [rsp + 88]\n",
            "neg rdx\n",
            finish!(@ () $($window)+),
            "adc rax, 0\n",
            "mov [rsp + 88], rax\n",
        )
    };
    (@ ($($up:literal)*)) => { "" };
    (@ ($($up:literal)*) $limb:literal $($rest:literal)*) => {
        concat!(
            "adc ", $limb, ", [rdi", $($up,)* "]\n",
            "mov [rdi", $($up,)* "], ", $limb, "\n",
            finish!(@ ($($up)* " + 8") $($rest)*),
        )
    };
}

/// Saves the registers of the caller.
macro_rules! save {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\n"
    };
}

/// Restores the registers of the caller and returns.
macro_rules! restore {
    () => {
        "pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret"
    };
}

/// Saves the registers of the caller and makes room for the block of quotients (64 bytes), the number of
/// rounds, the number of steps before them, the number of strips, the carry, the start of the streamed factor
/// and a counter.
macro_rules! enter {
    () => {
        concat!(
            save!(),
            "sub rsp, 120\n
         mov rax, rdx\nand eax, 7\nmov [rsp + 72], rax\nshr rdx, 3\nmov [rsp + 64], rdx\n
         mov [rsp + 80], r8\nmov [rsp + 88], r9\nmov [rsp + 96], rsi\n"
        )
    };
}

/// Prepares the next strip and goes back to label 2, or returns the carry.
macro_rules! leave {
    ($($next:literal),+) => {
        concat!(
            "dec qword ptr [rsp + 80]\n",
            "jz 7f\n",
            $($next,)+
            "jmp 2b\n",
            "7:\n",
            "mov rax, [rsp + 88]\n",
            "add rsp, 120\n",
            restore!(),
        )
    };
}

/// Sets the registers of the window to zero.
macro_rules! clear {
    ($($limb:literal)+) => { concat!($("xor ", $limb, "d, ", $limb, "d\n",)+) };
}

/// Loads the window from the sum at rdi.
macro_rules! load {
    (($($up:literal)*)) => { "" };
    (($($up:literal)*) $limb:literal $($rest:literal)*) => {
        concat!("mov ", $limb, ", [rdi", $($up,)* "]\n", load!(($($up)* " + 8") $($rest)*))
    };
}

/// The first W steps of a strip of Montgomery's reduction, which find the W limbs of the quotient: each is
/// the lowest limb of the window times the negated inverse in rcx, and its product with the modulus at rsi
/// clears that limb. The first list counts the steps.
macro_rules! quotients {
    (() ($($up:literal)*) $($window:literal)+) => { "" };
    (($one:literal $($more:literal)*) ($($up:literal)*) $low:literal $($next:literal)+) => {
        concat!(
            "mov rdx, ", $low, "\n",
            "imul rdx, rcx\n",
            "xor ebp, ebp\n",
            "mov [rsp", $($up,)* "], rdx\n",
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $low, ", rax\n",
            row!("rsi" (" + 8") $low; $($next)+),
            quotients!(($($more)*) ($($up)* " + 8") $($next)+ $low),
        )
    };
}

/// Doubled limbs of x from rsi on, to the stack. The limb before them is in rax.
macro_rules! double {
    (($($up:literal)*)) => { "" };
    (($($up:literal)*) $one:literal $($more:literal)*) => {
        concat!(
            "mov rbx, [rsi", $($up,)* "]\n",
            "shr rax, 63\n",
            "lea rdx, [rax + 2 * rbx]\n",
            "mov [rsp", $($up,)* "], rdx\n",
            "mov rax, rbx\n",
            double!(($($up)* " + 8") $($more)*),
        )
    };
}

/// The products of a step that has one more of them than the first list, and the new top limb of the window.
macro_rules! part {
    (($($sum:literal)+) ($($up:literal)*) () $here:literal $top:literal $($rest:literal)*) => {
        concat!(
            "mulx ", $top, ", rax, [rsp", $($up,)* "]\n",
            "adcx ", $here, ", rax\n",
            part!(@ ($($sum)+) ($($up)*) $here),
            "adox ", $top, ", rbp\n",
            "adcx ", $top, ", rbp\n",
        )
    };
    (($($sum:literal)+) ($($up:literal)*) ($one:literal $($more:literal)*)
        $here:literal $next:literal $($rest:literal)*) => {
        concat!(
            "mulx rbx, rax, [rsp", $($up,)* "]\n",
            "adcx ", $here, ", rax\n",
            part!(@ ($($sum)+) ($($up)*) $here),
            "adox ", $next, ", rbx\n",
            part!(($($sum)+) ($($up)* " + 8") ($($more)*) $next $($rest)*),
        )
    };
    // The lowest limb meets the sum.
    (@ ($($sum:literal)+) () $low:literal) => {
        concat!("adox ", $low, ", [", $($sum,)+ "]\nmov [", $($sum,)+ "], ", $low, "\n")
    };
    (@ ($($sum:literal)+) ($($up:literal)+) $here:literal) => { "" };
}

/// The first W - 1 steps of a strip of a square. The step for the limb r of the block multiplies it by the r
/// doubled limbs below it. The first list counts the steps, the second has the steps before.
macro_rules! triangle {
    (($last:literal) ($($done:literal)*) $($window:literal)+) => { "" };
    (($one:literal $($more:literal)+) ($($done:literal)*) $low:literal $($next:literal)+) => {
        concat!(
            "mov rdx, [rsi + 8", $($done,)* "]\n",
            "xor ebp, ebp\n",
            part!(("rdi + 8" $($done)*) () ($($done)*) $low $($next)+),
            "xor ", $low, "d, ", $low, "d\n",
            triangle!(($($more)+) ($($done)* " + 8") $($next)+ $low),
        )
    };
}

/// Defines the functions for windows of some widths W. `shape` is eight times the number of rounds of a
/// strip, and the number of steps before them. `strips` or `blocks` is how many follow one another, one at
/// least.
///
/// The processor must have BMI2 and ADX, and the numbers must have the limbs that the functions say.
macro_rules! functions {
    ($(
        $width:literal $multiply:ident $add:ident $reduce:ident $square:ident
        $first:literal $($window:literal)+;
    )+) => {$(
        /// `out <- a b` for factors of W limbs.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $multiply(out: *mut u64, a: *const u64, b: *const u64) {
            naked_asm!(
                concat!(
                    save!(),
                    "mov rcx, rdx\n",
                    clear!($first $($window)+),
                    start!(($first $($window)+) () $first $($window)+),
                    store!(() $first $($window)+),
                    restore!(),
                ),
                bytes = const 8 * $width,
            )
        }

        /// `sum += a b` for the n limbs of a and the W limbs of each strip of b. `carry` (0 or 1) goes into
        /// the limb `sum[n]`, and the carry out of the limbs of the product is returned.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $add(
            sum: *mut u64,
            a: *const u64,
            shape: usize,
            b: *const u64,
            strips: usize,
            carry: u64,
        ) -> u64 {
            naked_asm!(
                concat!(
                    enter!(),
                    "2:\n",
                    clear!($first $($window)+),
                    "xor ebp, ebp\n",
                    stream!("rcx" $first $($window)+),
                    finish!($first $($window)+),
                    leave!(
                        "lea rcx, [rcx + {bytes}]\nsub rsi, [rsp + 96]\nsub rdi, rsi\nadd rdi, {bytes}\n",
                        "mov rsi, [rsp + 96]\n"
                    ),
                ),
                bytes = const 8 * $width,
            )
        }

        /// Adds multiples of the modulus of n limbs to `sum`, which make as many of its low limbs zero as the
        /// strips have. These hold anything afterwards. `carry` (0 or 1) goes into the limb `sum[n]`, and the
        /// carry out of as many limbs above is returned. The shape is that of n - W limbs.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $reduce(
            sum: *mut u64,
            modulus: *const u64,
            shape: usize,
            negated_inverse: u64,
            strips: usize,
            carry: u64,
        ) -> u64 {
            naked_asm!(
                concat!(
                    enter!(),
                    "2:\n",
                    load!(() $first $($window)+),
                    quotients!(($first $($window)+) () $first $($window)+),
                    "lea rsi, [rsi + {bytes}]\n",
                    "lea rdi, [rdi + {bytes}]\n",
                    stream!("rsp" $first $($window)+),
                    finish!($first $($window)+),
                    leave!(
                        "sub rsi, [rsp + 96]\nsub rdi, rsi\nadd rdi, {bytes}\n",
                        "mov rsi, [rsp + 96]\n"
                    ),
                ),
                bytes = const 8 * $width,
            )
        }

        /// Adds the products of the limbs of x and the limbs below them in their block, doubled, and of the
        /// limbs above the block, for some blocks at the start of the n limbs of x. `below` is the limb
        /// before x. `carry` (0 or 1) goes into the limb `sum[n]`, and the carry out of as many limbs above
        /// as the blocks have is returned. The shape is that of n - W limbs.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $square(
            sum: *mut u64,
            x: *const u64,
            shape: usize,
            below: u64,
            blocks: usize,
            carry: u64,
        ) -> u64 {
            naked_asm!(
                concat!(
                    enter!(),
                    "mov rax, rcx\n",
                    "2:\n",
                    "mov [rsp + 112], rdi\n",
                    double!(() $first $($window)+),
                    clear!($first $($window)+),
                    "xor ebp, ebp\n",
                    triangle!(($first $($window)+) () $($window)+ $first),
                    "lea rsi, [rsi + {bytes}]\n",
                    "lea rdi, [rdi + {bytes}]\n",
                    stream!("rsp" $first $($window)+),
                    finish!($first $($window)+),
                    leave!(
                        "mov rdi, [rsp + 112]\nadd rdi, 2 * {bytes}\ndec qword ptr [rsp + 64]\n",
                        "mov rsi, [rsp + 96]\nadd rsi, {bytes}\nmov [rsp + 96], rsi\nmov rax, [rsi - 8]\n"
                    ),
                ),
                bytes = const 8 * $width,
            )
        }
    )+};
}

functions! {
    4 multiply_4 add_4 reduce_4 square_4 "r8" "r9" "r10" "r11";
    5 multiply_5 add_5 reduce_5 square_5 "r8" "r9" "r10" "r11" "r12";
    6 multiply_6 add_6 reduce_6 square_6 "r8" "r9" "r10" "r11" "r12" "r13";
    7 multiply_7 add_7 reduce_7 square_7 "r8" "r9" "r10" "r11" "r12" "r13" "r14";
    8 multiply_8 add_8 reduce_8 square_8 "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15";
}

pub(super) use {clear, restore, save};
