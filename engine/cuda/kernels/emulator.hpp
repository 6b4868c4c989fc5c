// A GPU in plain C++: runs the threads of a block as coroutines on one CPU thread.
//
// Included before the kernels' own files. Threads run one after the other until they need each other
// (shuffle, ballot, barrier); there they wait until their warp has arrived, or their block. The carry flag
// is a variable of the thread.
#pragma once
#define MODMILL_EMULATOR 1

// Headers of C alone: those of C++ would take half of the time that a kernel takes to compile. `math.h` includes
// them, so that the one function of it that kernels call is declared here.
#include <fenv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern "C" double fma(double, double, double);

namespace emulator {

constexpr unsigned WARP = 32;
// Bytes of a stack, whose address is a multiple of them.
constexpr size_t STACK = 256 * 1024;

// Bytes that stand free at the lower end of a stack; twice as many stand free at the upper end. Neighbouring stacks
// leave different numbers of bytes free, because addresses that differ by multiples of STACK share a few lines of the
// cache.
inline size_t free_bytes(uintptr_t stack) { return stack / STACK % 64 * 64; }

struct Index {
    unsigned x;
};

// Memory of the system, given back at the end of its scope.
struct Memory {
    char* start = nullptr;
    size_t bytes = 0;
    // At least `wanted` bytes, aligned to a power of two that divides `wanted`.
    void grow_to(size_t wanted, size_t alignment) {
        if (wanted <= bytes) return;
        free(start);
        start = static_cast<char*>(aligned_alloc(alignment, wanted));
        if (!start) abort();
        bytes = wanted;
    }
    ~Memory() { free(start); }
};

inline unsigned fewest(unsigned a, unsigned b) { return a < b ? a : b; }

// Inline assembly cannot name the registers that only AVX-512 has.
#if defined(__x86_64__) && !defined(__AVX512F__)
struct Context {
    void *stack, *frame, *next;
    void start(uintptr_t lowest, void (*entry)()) {
        uintptr_t end = lowest + STACK - 2 * free_bytes(lowest);
        // Where a function finds the address that it returns to.
        stack = reinterpret_cast<void**>(end) - 1;
        frame = nullptr;
        next = reinterpret_cast<void*>(entry);
    }
};
// Goes on where another coroutine stopped. The compiler saves what it still needs. The jump is no return: the
// processor expects a return to its call, and a jump to where it led the last time, which is right for most threads
// of a warp.
inline void switch_to(Context& from, Context& to) {
    Context *stopped = &from, *started = &to;
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, (%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rax, 16(%0)\n\t"
                 "movq (%1), %%rsp\n\tmovq 8(%1), %%rbp\n\tjmpq *16(%1)\n"
                 "1:"
                 : "+D"(stopped), "+S"(started)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
                   "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}
#else
struct Context {
    ucontext_t state;
    void start(uintptr_t lowest, void (*entry)()) {
        getcontext(&state);
        state.uc_stack.ss_sp = reinterpret_cast<void*>(lowest);
        state.uc_stack.ss_size = STACK - 2 * free_bytes(lowest);
        state.uc_link = nullptr;
        makecontext(&state, entry, 0);
    }
};
inline void switch_to(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
#endif

#if defined(__SSE2__)
// Values of the register of modes, with all exceptions masked. `fesetround` sets the mode of the x87 unit too, which
// takes most of its time.
enum Rounding : unsigned { TO_NEAREST = 0x1f80, TOWARD_ZERO = 0x7f80 };
inline void round(Rounding mode) { __builtin_ia32_ldmxcsr(mode); }
#else
enum Rounding { TO_NEAREST = FE_TONEAREST, TOWARD_ZERO = FE_TOWARDZERO };
inline void round(Rounding mode) { fesetround(mode); }
#endif

struct Warp;
struct Block;

// A thread of the GPU. It stands at the lower end of its stack, so that whoever runs on the stack finds it without a
// search.
struct Thread {
    Context context;
    Warp* warp;
    Thread *next, *previous; // threads of the warp that are not done, in a circle
    Index index;
    unsigned lane;
    unsigned arrivals; // collective operations it has come to
    unsigned carry;
};

inline Thread* thread_on(uintptr_t stack) { return reinterpret_cast<Thread*>(stack + free_bytes(stack)); }

// The thread that runs. `const` tells the compiler that a function finds the same thread whenever it asks.
__attribute__((const, noinline)) static Thread& self() {
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return *thread_on(here & ~uintptr_t(STACK - 1));
}

// A launch, and the warps of a block, which wait for each other at its barrier.
struct Block {
    const void* arguments;
    void (*body)(const void*);
    char* shared;
    Index index, size, grid;
    Context launcher;
    Warp* warps;
    unsigned warp_count;
    unsigned threads_left;
    unsigned waiting, barriers; // threads at the barrier, and how often all have come to it
};

// The words that the threads of a warp show each other; two sets of them, so that a thread may come to the next
// operation while others still read this one.
struct Warp {
    Block* block;
    unsigned number;
    Thread* any; // of the threads that are not done
    unsigned size, left;
    uint64_t arrivals;   // of all threads
    unsigned first_exit; // collective operations that a thread had come to when it was done; the fewest
    uint64_t word[2][WARP];
};

// Lets the next thread of the warp run.
inline void pause(Thread& thread) { switch_to(thread.context, thread.next->context); }

// Waits until every thread of this warp has come to the same operation; returns the words they brought.
inline const uint64_t* arrive(uint64_t word) {
    Thread& thread = self();
    Warp& warp = *thread.warp;
    unsigned mine = thread.arrivals++;
    warp.word[mine & 1][thread.lane] = word;
    // Nobody comes to the next operation before all have come to this one.
    for (warp.arrivals++; warp.arrivals < uint64_t(mine + 1) * warp.size;) {
        // A thread that left without coming here is a mistake in the kernel.
        if (warp.first_exit <= mine) abort();
        pause(thread);
    }
    return warp.word[mine & 1];
}

// Lets a thread of the next warp run that has any left.
inline void pause_warp(Thread& thread) {
    Block& block = *thread.warp->block;
    unsigned number = thread.warp->number;
    do number = (number + 1) % block.warp_count;
    while (block.warps[number].left == 0);
    switch_to(thread.context, block.warps[number].any->context);
}

// Waits until every thread of the block has come here: first the other threads of the warp, then the other
// warps.
inline void arrive_in_block() {
    Thread& thread = self();
    Block& block = *thread.warp->block;
    arrive(0);
    unsigned mine = block.barriers;
    if (++block.waiting == block.size.x) {
        block.waiting = 0;
        block.barriers++;
    }
    // A thread that left without coming here is a mistake in the kernel.
    while (block.barriers == mine) {
        if (block.threads_left < block.size.x) abort();
        if (block.waiting % thread.warp->size == 0) pause_warp(thread);
        else pause(thread);
    }
}

inline void enter_thread() {
    Thread& thread = self();
    Warp& warp = *thread.warp;
    Block& block = *warp.block;
    block.body(block.arguments);
    thread.next->previous = thread.previous;
    thread.previous->next = warp.any = thread.next;
    warp.first_exit = fewest(warp.first_exit, thread.arrivals);
    block.threads_left--;
    if (--warp.left > 0) pause(thread);
    else if (block.threads_left > 0) pause_warp(thread);
    else switch_to(thread.context, block.launcher);
}

inline void launch(unsigned grid, unsigned block, unsigned shared_bytes, const void* arguments,
                   void (*body)(const void*)) {
    // Pages that no thread touches cost nothing.
    static thread_local Memory stacks;
    stacks.grow_to(block * STACK, STACK);
    Memory shared, warps;
    shared.grow_to((shared_bytes / 16 + 1) * 16, 16);
    unsigned warp_count = (block + WARP - 1) / WARP;
    warps.grow_to(warp_count * sizeof(Warp), alignof(Warp));
    for (unsigned b = 0; b < grid; b++) {
        // Shared memory starts with garbage on a GPU.
        memset(shared.start, 0xA5, shared.bytes);
        Block place = {};
        place.arguments = arguments;
        place.body = body;
        place.shared = shared.start;
        place.index.x = b;
        place.size.x = block;
        place.grid.x = grid;
        place.threads_left = block;
        place.warps = reinterpret_cast<Warp*>(warps.start);
        place.warp_count = warp_count;
        for (unsigned first = 0; first < block; first += WARP) {
            Warp& warp = place.warps[first / WARP];
            warp = {};
            warp.block = &place;
            warp.number = first / WARP;
            warp.size = warp.left = fewest(WARP, block - first);
            warp.first_exit = ~0u;
            uintptr_t stack = reinterpret_cast<uintptr_t>(stacks.start) + first * STACK;
            warp.any = thread_on(stack);
            for (unsigned lane = 0; lane < warp.size; lane++) {
                auto thread_of = [&](unsigned lane) { return thread_on(stack + lane % warp.size * STACK); };
                Thread* thread = thread_of(lane);
                *thread = {};
                thread->warp = &warp;
                thread->next = thread_of(lane + 1);
                thread->previous = thread_of(lane + warp.size - 1);
                thread->index.x = first + lane;
                thread->lane = lane;
                thread->context.start(stack + lane * STACK, enter_thread);
            }
        }
        // Warps that do not wait for each other run one after the other.
        switch_to(place.launcher, place.warps[0].any->context);
    }
}

} // namespace emulator

#define threadIdx emulator::self().index
#define blockIdx emulator::self().warp->block->index
#define blockDim emulator::self().warp->block->size
#define gridDim emulator::self().warp->block->grid

#define KERNEL(name, Call)                                                                        \
    static void body_of_##name(const Call& call);                                                 \
    extern "C" void modmill_launch_##name(unsigned grid, unsigned block, unsigned shared_bytes,   \
                                          const void* call) {                                     \
        emulator::launch(grid, block, shared_bytes, call,                                         \
                         [](const void* c) { body_of_##name(*static_cast<const Call*>(c)); });    \
    }                                                                                             \
    static void body_of_##name(const Call& call)
#define DEVICE inline
#define DEVICE_CALLED static
#define SHARED_POOL(Type, name) Type* name = reinterpret_cast<Type*>(emulator::self().warp->block->shared)
DEVICE void assume_global(const void*) {}

DEVICE uint32_t add_with(uint32_t a, uint32_t b, uint32_t carry_in, bool keep) {
    uint64_t sum = uint64_t(a) + b + carry_in;
    if (keep) emulator::self().carry = unsigned(sum >> 32);
    return uint32_t(sum);
}
DEVICE uint32_t add_cc(uint32_t a, uint32_t b) { return add_with(a, b, 0, true); }
DEVICE uint32_t addc_cc(uint32_t a, uint32_t b) { return add_with(a, b, emulator::self().carry, true); }
DEVICE uint32_t addc(uint32_t a, uint32_t b) { return add_with(a, b, emulator::self().carry, false); }

// PTX: the flag holds the borrow, 1 when there is one.
DEVICE uint32_t subtract_with(uint32_t a, uint32_t b, uint32_t borrow_in, bool keep) {
    uint64_t difference = uint64_t(a) - b - borrow_in;
    if (keep) emulator::self().carry = unsigned(difference >> 63);
    return uint32_t(difference);
}
DEVICE uint32_t sub_cc(uint32_t a, uint32_t b) { return subtract_with(a, b, 0, true); }
DEVICE uint32_t subc_cc(uint32_t a, uint32_t b) { return subtract_with(a, b, emulator::self().carry, true); }
DEVICE uint32_t subc(uint32_t a, uint32_t b) { return subtract_with(a, b, emulator::self().carry, false); }

DEVICE uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return add_cc(uint32_t(uint64_t(a) * b), c); }
DEVICE uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return addc_cc(uint32_t(uint64_t(a) * b), c); }
DEVICE uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) { return addc_cc(uint32_t(uint64_t(a) * b >> 32), c); }

DEVICE unsigned long long mad_wide_cc(uint32_t a, uint32_t b, unsigned long long c) {
    uint32_t low = mad_lo_cc(a, b, uint32_t(c));
    return (unsigned long long)madc_hi_cc(a, b, uint32_t(c >> 32)) << 32 | low;
}
DEVICE unsigned long long madc_wide_cc(uint32_t a, uint32_t b, unsigned long long c) {
    uint32_t low = madc_lo_cc(a, b, uint32_t(c));
    return (unsigned long long)madc_hi_cc(a, b, uint32_t(c >> 32)) << 32 | low;
}
DEVICE long long signed_product(int a, int b) { return (long long)a * b; }

DEVICE void division_step(uint32_t& x, uint32_t& y, int& delta, uint32_t bit, int least, uint32_t twice_bias,
                          int sum) {
    bool is_odd = y & bit, is_swapped = is_odd && delta > least;
    uint32_t next = is_swapped ? 2 * y - twice_bias : 2 * x;
    if (is_odd) y = is_swapped ? y - x : y + x;
    if (is_swapped) delta = sum - delta;
    x = next;
}

#define CAST_BITS(to, from, name)                                                                 \
    DEVICE to name(from value) {                                                                  \
        to result;                                                                                \
        memcpy(&result, &value, sizeof result);                                              \
        return result;                                                                            \
    }
CAST_BITS(unsigned long long, double, bits_of)
CAST_BITS(double, unsigned long long, double_of)
#undef CAST_BITS

// The mode is set around the one operation; `volatile` keeps the compiler from moving it out.
DEVICE double fma_toward_zero(double a, double b, double c) {
    emulator::round(emulator::TOWARD_ZERO);
    volatile double x = a, y = b, z = c;
    volatile double r = fma(x, y, z);
    emulator::round(emulator::TO_NEAREST);
    return r;
}

DEVICE uint32_t from_thread(uint32_t value, uint32_t source, uint32_t width) {
    unsigned first = emulator::self().lane & ~(width - 1);
    return uint32_t(emulator::arrive(value)[first | (source & (width - 1))]);
}
DEVICE uint32_t warp_bits(bool bit) {
    const uint64_t* words = emulator::arrive(bit);
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < emulator::WARP; lane++) bits |= uint32_t(words[lane] & 1) << lane;
    return bits;
}
DEVICE void warp_barrier() { emulator::arrive(0); }
DEVICE void block_barrier() { emulator::arrive_in_block(); }

// Blocks run one after the other: a block that waits for a later one would wait forever.
DEVICE uint32_t next_number(uint32_t* counter) { return (*counter)++; }
DEVICE void publish(uint32_t* place, uint32_t word) { *place = word; }
DEVICE uint32_t awaited(const uint32_t* place) {
    if (*place == 0) abort();
    return *place;
}

DEVICE void start_word(unsigned long long* to, const unsigned long long* from) { *to = *from; }
DEVICE void finish_words() {}

// Copies in groups are done at once.
DEVICE void start_quad(void* to, const void* from) { memcpy(to, from, 16); }
DEVICE void close_group() {}
template <int LEFT> DEVICE void await_groups() {}

DEVICE unsigned long long high_product(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
DEVICE uint32_t add_byte_products(uint32_t sum, uint32_t a, uint32_t b) {
    for (unsigned byte = 0; byte < 32; byte += 8) sum += (a >> byte & 255) * (b >> byte & 255);
    return sum;
}

// Copies are done by one thread, at once; a barrier counts them. A thread that waits for a copy that was
// not started would wait forever.
DEVICE void open_copies(unsigned long long* barrier) {
    if (emulator::self().lane == 0) *barrier = 0;
    warp_barrier();
}
DEVICE void publish_for_copies() {}
DEVICE void start_copy(void* to, const void* from, uint32_t bytes, unsigned long long* barrier) {
    warp_barrier();
    if (emulator::self().lane == 0) {
        memcpy(to, from, bytes);
        ++*barrier;
    }
}
DEVICE void finish_copy(unsigned long long* barrier, uint32_t parity) {
    warp_barrier();
    if ((*barrier & 1) == parity) abort();
}
