// The operations that kernels ask of a machine: words, the carry flag, shuffles, rounding toward zero.
//
// On a GPU these are single PTX instructions. In tests `emulator.hpp`, included before this file,
// gives the same names the same meaning in plain C++, so that every kernel also runs on a CPU.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

// Whether a field of a structure is where the host puts it. NVRTC has no offsetof; this is how its front end
// spells it.
#ifdef MODMILL_EMULATOR
#define AT(Structure, field, offset) (__builtin_offsetof(Structure, field) == offset)
#else
#define AT(Structure, field, offset) ((u64)__INTADDR__(&((Structure*)0)->field) == offset)
#endif

#ifndef MODMILL_EMULATOR

#define KERNEL(name, Call) extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) name(const Call call)
#define DEVICE __device__ __forceinline__
#define DEVICE_CALLED static __device__ __noinline__
#define SHARED_POOL(Type, name) extern __shared__ Type name[]

// The carry flag lives between consecutive instructions: `volatile` keeps them in order.
#define CARRY_OP2(name, instruction)                                                              \
    DEVICE u32 name(u32 a, u32 b) {                                                               \
        u32 r;                                                                                    \
        asm volatile(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                      \
        return r;                                                                                 \
    }
#define CARRY_OP3(name, instruction)                                                              \
    DEVICE u32 name(u32 a, u32 b, u32 c) {                                                        \
        u32 r;                                                                                    \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));          \
        return r;                                                                                 \
    }
CARRY_OP2(add_cc, "add.cc.u32")
CARRY_OP2(addc_cc, "addc.cc.u32")
CARRY_OP2(addc, "addc.u32")
CARRY_OP2(sub_cc, "sub.cc.u32")
CARRY_OP2(subc_cc, "subc.cc.u32")
CARRY_OP2(subc, "subc.u32")
CARRY_OP3(mad_lo_cc, "mad.lo.cc.u32")
CARRY_OP3(madc_lo_cc, "madc.lo.cc.u32")
CARRY_OP3(madc_hi_cc, "madc.hi.cc.u32")
#undef CARRY_OP2
#undef CARRY_OP3

// a b + c with carry out, and with carry in as well. The pair of instructions becomes one
// IMAD.WIDE, twice the work of each half; the sum is one 64-bit register, so that the assembler keeps
// it in an aligned pair across loops instead of moving its halves about.
#define CARRY_WIDE(name, low)                                                                     \
    DEVICE u64 name(u32 a, u32 b, u64 c) {                                                        \
        asm volatile("{\n\t.reg .u32 l, h;\n\tmov.b64 {l, h}, %0;\n\t" low ".u32 l, %1, %2, l;\n\t" \
                     "madc.hi.cc.u32 h, %1, %2, h;\n\tmov.b64 %0, {l, h};\n\t}"                    \
                     : "+l"(c) : "r"(a), "r"(b));                                                 \
        return c;                                                                                 \
    }
CARRY_WIDE(mad_wide_cc, "mad.lo.cc")
CARRY_WIDE(madc_wide_cc, "madc.lo.cc")
#undef CARRY_WIDE

// a b with signs. A product that the compiler itself made of a factor that it knows to be positive would take
// two instructions; this one becomes one IMAD.WIDE with the sum that it is added to.
DEVICE long long signed_product(int a, int b) {
    long long product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}

// A division step on words x and y (`divsteps.cuh`): one predicate is the parity of y, at `bit`, and one that
// of y and `delta > least`. No instruction is skipped.
DEVICE void division_step(u32& x, u32& y, int& delta, u32 bit, int least, u32 twice_bias, int sum) {
    asm("{\n\t.reg .pred odd, swapped;\n\t.reg .u32 word;\n\t"
        "and.b32 word, %1, %3;\n\t"
        "setp.ne.u32 odd, word, 0;\n\t"
        "setp.gt.and.s32 swapped, %2, %4, odd;\n\t"
        "add.u32 word, %0, %0;\n\t"
        "@swapped mad.lo.u32 word, %1, 2, %5;\n\t"
        "@odd add.u32 %1, %1, %0;\n\t"
        "@swapped mad.lo.u32 %1, %0, -2, %1;\n\t"
        "@swapped sub.s32 %2, %6, %2;\n\t"
        "mov.u32 %0, word;\n\t}"
        : "+r"(x), "+r"(y), "+r"(delta) : "r"(bit), "r"(least), "r"(0 - twice_bias), "r"(sum));
}

// Tells the compiler of a called function that a pointer is to global memory.
DEVICE void assume_global(const void* pointer) { __builtin_assume(__isGlobal(pointer)); }

// Copies by a thread from global to shared memory, of 16 bytes and of a word of 8. `finish_words` waits for
// all of the thread's copies. From 8.0 on they go on during the arithmetic; before, they are done at once.
#if __CUDA_ARCH__ >= 800
DEVICE void start_quad(u32 to, const char* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
DEVICE void start_word(u64* to, const u64* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
DEVICE void finish_words() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
DEVICE void start_quad(u32 to, const char* from) {
    uint4 quad = *(const uint4*)from;
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 ::"r"(to), "r"(quad.x), "r"(quad.y), "r"(quad.z), "r"(quad.w) : "memory");
}
DEVICE void start_word(u64* to, const u64* from) { *to = *from; }
DEVICE void finish_words() {}
#endif

// Copies by a thread of 16 bytes in groups, which end in the order in which they were closed.
#if __CUDA_ARCH__ >= 800
DEVICE void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> DEVICE void await_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }
#else
DEVICE void close_group() {}
template <int LEFT> DEVICE void await_groups() {}
#endif
DEVICE void start_quad(void* to, const void* from) {
    start_quad((u32)__cvta_generic_to_shared(to), (const char*)from);
}

// The high half of a product, and a sum with the four products of the bytes of two words.
DEVICE u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }
DEVICE u32 add_byte_products(u32 sum, u32 a, u32 b) { return __dp4a(a, b, sum); }

// Copies from global to shared memory during the arithmetic, of data that is read once: all threads of a warp
// call these together. A barrier is a place in shared memory, and has one copy under way at a time, which
// `finish_copy` waits for; `parity` is the parity of the number of copies finished before.
// `publish_for_copies` comes between what threads have written and its copy.
#if __CUDA_ARCH__ >= 900
DEVICE void open_copies(u64* barrier) {
    if (threadIdx.x % 32 == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"((u32)__cvta_generic_to_shared(barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
}
DEVICE void publish_for_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }
DEVICE void start_copy(void* to, const void* from, u32 bytes, u64* barrier) {
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    u32 place = (u32)__cvta_generic_to_shared(barrier);
    asm volatile("{\n\t.reg .b64 policy;\n\tcreatepolicy.fractional.L2::evict_first.b64 policy, 1.0;\n\t"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%3], %2;\n\t"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], policy;\n\t}"
                 ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes), "r"(place) : "memory");
}
DEVICE void finish_copy(u64* barrier, u32 parity) {
    asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
                 "@!p bra again;\n\t}" ::"r"((u32)__cvta_generic_to_shared(barrier)), "r"(parity) : "memory");
}
#else
DEVICE void open_copies(u64*) {}
DEVICE void publish_for_copies() { __syncwarp(); }
DEVICE void start_copy(void* to, const void* from, u32 bytes, u64*) {
    __syncwarp();
    u32 place = (u32)__cvta_generic_to_shared(to);
    for (u32 i = threadIdx.x % 32 * 16; i < bytes; i += 512) start_quad(place + i, (const char*)from + i);
}
DEVICE void finish_copy(u64*, u32) {
    finish_words();
    __syncwarp();
}
#endif

DEVICE double fma_toward_zero(double a, double b, double c) { return __fma_rz(a, b, c); }
DEVICE u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
DEVICE double double_of(u64 bits) { return __longlong_as_double((long long)bits); }

// Exchange within a group of `width` neighbouring threads of a warp; all threads of the warp take part.
DEVICE u32 from_thread(u32 value, u32 source, u32 width) {
    return __shfl_sync(0xffffffffu, value, (int)source, (int)width);
}
// One bit from every thread of the warp.
DEVICE u32 warp_bits(bool bit) { return __ballot_sync(0xffffffffu, bit); }
// Memory written by a thread of the warp is seen by the others after this.
DEVICE void warp_barrier() { __syncwarp(); }
// Memory written by a thread of the block is seen by the others after this.
DEVICE void block_barrier() { __syncthreads(); }

// Communication of blocks: a number that each gets once, in the order in which they start; and words that are
// zero until another block has published them, which must have started before.
DEVICE u32 next_number(u32* counter) { return atomicAdd(counter, 1); }
DEVICE void publish(u32* place, u32 word) { *(volatile u32*)place = word; }
DEVICE u32 awaited(const u32* place) {
    u32 word;
    do word = *(const volatile u32*)place;
    while (word == 0);
    return word;
}

#endif

DEVICE u64 from_thread(u64 value, u32 source, u32 width) {
    u32 low = from_thread((u32)value, source, width);
    u32 high = from_thread((u32)(value >> 32), source, width);
    return (u64)high << 32 | low;
}
DEVICE double from_thread(double value, u32 source, u32 width) {
    return double_of(from_thread(bits_of(value), source, width));
}

DEVICE u32 low_of(u64 pair) { return (u32)pair; }
DEVICE u32 high_of(u64 pair) { return (u32)(pair >> 32); }
DEVICE u64 pair_of(u32 low, u32 high) { return (u64)high << 32 | low; }

// All ones if `bit` is set, else zero; arithmetic only.
DEVICE u32 mask_of(u32 bit) { return 0u - bit; }

// `b` if the mask is all ones, `a` if it is zero.
DEVICE u32 blend(u32 mask, u32 a, u32 b) { return a ^ (mask & (a ^ b)); }

// The smaller of two numbers; one instruction.
DEVICE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

// Four words, moved at once.
struct alignas(16) Quad {
    u32 word[4];
};
