// A GPU in plain C++: runs the threads of a block as coroutines on one CPU thread.
//
// Included before the kernels' own files. Threads run one after the other until they need each other
// (shuffle, ballot, barrier); there they wait until their warp has arrived, or their block. The carry flag
// is a variable of the thread.
#pragma once
#define MODMILL_EMULATOR 1

// Headers of C alone: those of C++ would take half of the time that a kernel takes to compile.
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

namespace emulator {

constexpr unsigned WARP = 32;
constexpr size_t STACK = 256 * 1024;

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

#if defined(__x86_64__)
// Saves the registers a call must preserve, and goes on where another coroutine stopped.
extern "C" void modmill_emulator_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(".text\n"
    ".hidden modmill_emulator_switch\n"
    ".globl modmill_emulator_switch\n"
    ".type modmill_emulator_switch,@function\n"
    "modmill_emulator_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n");

struct Context {
    void* top = nullptr;
    void start(char* stack, void (*entry)()) {
        uintptr_t end = (reinterpret_cast<uintptr_t>(stack) + STACK) & ~uintptr_t(15);
        void** frame = reinterpret_cast<void**>(end) - 8;
        memset(frame, 0, 8 * sizeof(void*));
        frame[6] = reinterpret_cast<void*>(entry);
        top = frame;
    }
};
inline void switch_to(Context& from, Context& to) { modmill_emulator_switch(&from.top, to.top); }
#else
struct Context {
    ucontext_t state;
    void start(char* stack, void (*entry)()) {
        getcontext(&state);
        state.uc_stack.ss_sp = stack;
        state.uc_stack.ss_size = STACK;
        state.uc_link = nullptr;
        makecontext(&state, entry, 0);
    }
};
inline void switch_to(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
#endif

struct Warp;
struct Block;

// A thread of the GPU. It stands at the lowest address of its stack, whose address is a multiple of its
// size: whoever runs on the stack finds it without a search.
struct Thread {
    Context context;
    Warp* warp;
    Index index;
    unsigned lane;
    unsigned arrivals; // collective operations it has come to
    bool done;
    unsigned carry;
};

inline Thread& self() {
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return *reinterpret_cast<Thread*>(here & ~uintptr_t(STACK - 1));
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
    Thread* threads[WARP];
    unsigned size, left;
    uint64_t arrivals;   // of all threads
    unsigned first_exit; // collective operations that a thread had come to when it was done; the fewest
    uint64_t word[2][WARP];
};

// Lets the next thread of the warp run.
inline void pause(Thread& thread) {
    Warp& warp = *thread.warp;
    unsigned lane = thread.lane;
    do lane = (lane + 1) % warp.size;
    while (warp.threads[lane]->done);
    switch_to(thread.context, warp.threads[lane]->context);
}

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
    Warp& warp = block.warps[number];
    unsigned lane = 0;
    while (warp.threads[lane]->done) lane++;
    switch_to(thread.context, warp.threads[lane]->context);
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
    thread.done = true;
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
            for (unsigned lane = 0; lane < warp.size; lane++) {
                char* stack = stacks.start + (first + lane) * STACK;
                Thread* thread = warp.threads[lane] = reinterpret_cast<Thread*>(stack);
                *thread = {};
                thread->warp = &warp;
                thread->index.x = first + lane;
                thread->lane = lane;
                thread->context.start(stack, enter_thread);
            }
        }
        // Warps that do not wait for each other run one after the other.
        switch_to(place.launcher, place.warps[0].threads[0]->context);
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
    fesetround(FE_TOWARDZERO);
    volatile double x = a, y = b, z = c;
    volatile double r = fma(x, y, z);
    fesetround(FE_TONEAREST);
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
