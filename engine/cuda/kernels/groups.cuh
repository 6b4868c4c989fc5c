// Numbers spread over THREADS neighbouring threads of a warp, PART words each, lowest first (Jang et
// al., as in Emmart, Zheng, Weems, "Faster Modular Exponentiation Using Double Precision Floating
// Point Arithmetic on the GPU", section II, figure 7).
//
// Carries between threads are resolved for all at once, in constant time, by carry look-ahead on votes
// (Dong et al., as reported there): each thread says whether a carry leaves it and whether it would
// pass one on, and one addition of these bits, a bit per thread, finds what enters every thread.
#pragma once

// This thread's place in its group.
DEVICE u32 rank() { return THREADS == 1 ? 0 : threadIdx.x % THREADS; }

// A word of the thread at place `rank`, modulo THREADS.
DEVICE u32 from_rank(u32 word, u32 rank) { return THREADS == 1 ? word : from_thread(word, rank, THREADS); }

// A bit from every thread of the group.
DEVICE u32 bits_of_group(bool bit) {
    return warp_bits(bit) >> (threadIdx.x % 32 - rank()) & 0xffffffffu >> (32 - THREADS);
}

struct Carries {
    u32 entering; // this thread
    u32 leaving;  // the group
};

// `leaves` and `passes` exclude each other: a thread whose words have just wrapped around is not full.
DEVICE Carries resolve(bool leaves, bool passes) {
    u32 leaving = bits_of_group(leaves), passing = bits_of_group(passes);
    u64 sum = (u64)(leaving | passing) + leaving;
    Carries carries = {((u32)sum ^ passing) >> rank() & 1, (u32)(sum >> THREADS) & 1};
    return carries;
}

// x += above, where `above` is what each thread has beyond its words, a small number; returns whether
// anything is left beyond the highest word, where it is known that at most 1 is.
DEVICE u32 carry_up(u32* x, u32 above) {
    if (THREADS == 1) return above;
    u32 arriving = from_rank(above, rank() + THREADS - 1);
    u32 beyond = bits_of_group(above != 0) >> (THREADS - 1);
    if (rank() == 0) arriving = 0;
    u32 all = 0xffffffffu;
    x[0] = add_cc(x[0], arriving);
#pragma unroll
    for (int i = 1; i < PART; i++) x[i] = addc_cc(x[i], 0);
    u32 leaves = addc(0, 0);
#pragma unroll
    for (int i = 0; i < PART; i++) all &= x[i];
    Carries carries = resolve(leaves != 0, all == 0xffffffffu);
    x[0] = add_cc(x[0], carries.entering);
#pragma unroll
    for (int i = 1; i < PART; i++) x[i] = addc_cc(x[i], 0);
    return beyond | carries.leaving;
}

// out = a - (n & mask); returns the borrow of the whole number.
DEVICE u32 subtract(u32* out, const u32* a, const u32* n, u32 mask) {
    out[0] = sub_cc(a[0], n[0] & mask);
#pragma unroll
    for (int i = 1; i < PART; i++) out[i] = subc_cc(a[i], n[i] & mask);
    u32 leaves = 0u - subc(0, 0);
    if (THREADS == 1) return leaves;
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < PART; i++) any |= out[i];
    Carries borrows = resolve(leaves != 0, any == 0);
    out[0] = sub_cc(out[0], borrows.entering);
#pragma unroll
    for (int i = 1; i < PART; i++) out[i] = subc_cc(out[i], 0);
    return borrows.leaving;
}
