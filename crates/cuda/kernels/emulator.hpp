// A GPU in plain C++: runs the threads of a block as coroutines on one CPU thread.
//
// Included before the kernels' own files. Threads run one after the other until they need each other
// (shuffle, ballot, barrier); there they wait until their warp has arrived. The carry flag is a
// variable: nothing that sets it is separated from what reads it by such a wait.
#pragma once
#define MODMILL_EMULATOR 1

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <ucontext.h>

namespace emulator {

constexpr unsigned WARP = 32;
constexpr size_t STACK = 256 * 1024;

struct Index {
    unsigned x;
};

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
        std::memset(frame, 0, 8 * sizeof(void*));
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

struct Thread {
    Context context;
    unsigned arrivals = 0; // collective operations this thread has come to
    bool done = false;
};

// Words that the threads of a warp show each other; two sets, so that a thread may come to the next
// operation while others still read this one.
struct Exchange {
    uint64_t word[2][WARP];
};

inline thread_local std::vector<Thread> threads;
inline thread_local std::vector<Exchange> exchanges;
inline thread_local std::vector<char> shared_pool;
inline thread_local std::vector<char> stacks;
inline thread_local Context scheduler;
inline thread_local unsigned current;
inline thread_local const void* arguments;
inline thread_local void (*body)(const void*);
inline thread_local Index thread_index, block_index, block_size, grid_size;
inline thread_local unsigned carry;

inline void pause() {
    unsigned self = current;
    switch_to(threads[self].context, scheduler);
    current = self;
    thread_index.x = self;
}

// Waits until every thread of this warp has come to the same operation; returns which set holds it.
inline unsigned arrive(uint64_t word) {
    unsigned first = current / WARP * WARP, lane = current % WARP;
    unsigned mine = threads[current].arrivals++;
    exchanges[current / WARP].word[mine & 1][lane] = word;
    unsigned last = std::min<unsigned>(first + WARP, block_size.x);
    for (;;) {
        bool all = true;
        for (unsigned t = first; t < last; t++) {
            // A thread that left without coming here is a mistake in the kernel.
            if (threads[t].done && threads[t].arrivals <= mine) std::abort();
            all = all && threads[t].arrivals > mine;
        }
        if (all) return mine & 1;
        pause();
    }
}

inline void enter_thread() {
    body(arguments);
    threads[current].done = true;
    for (;;) pause();
}

inline void launch(unsigned grid, unsigned block, unsigned shared_bytes, const void* call,
                   void (*kernel)(const void*)) {
    arguments = call;
    body = kernel;
    grid_size.x = grid;
    block_size.x = block;
    stacks.resize(size_t(block) * STACK);
    for (unsigned b = 0; b < grid; b++) {
        block_index.x = b;
        threads.assign(block, Thread());
        exchanges.assign((block + WARP - 1) / WARP, Exchange());
        // Shared memory starts with garbage on a GPU.
        shared_pool.assign(shared_bytes + 16, char(0xA5));
        for (unsigned t = 0; t < block; t++) threads[t].context.start(&stacks[t * STACK], enter_thread);
        for (unsigned left = block; left > 0;) {
            for (unsigned t = 0; t < block; t++) {
                if (threads[t].done) continue;
                current = t;
                thread_index.x = t;
                switch_to(scheduler, threads[t].context);
                if (threads[t].done) left--;
            }
        }
    }
}

} // namespace emulator

#include <algorithm>

#define threadIdx emulator::thread_index
#define blockIdx emulator::block_index
#define blockDim emulator::block_size
#define gridDim emulator::grid_size

#define KERNEL(name, Call)                                                                        \
    static void body_of_##name(const Call& call);                                                 \
    extern "C" void modmill_launch_##name(unsigned grid, unsigned block, unsigned shared_bytes,   \
                                          const void* call) {                                     \
        emulator::launch(grid, block, shared_bytes, call,                                         \
                         [](const void* c) { body_of_##name(*static_cast<const Call*>(c)); });    \
    }                                                                                             \
    static void body_of_##name(const Call& call)
#define DEVICE inline
#define SHARED_POOL(Type, name)                                                                   \
    Type* name = reinterpret_cast<Type*>((reinterpret_cast<uintptr_t>(emulator::shared_pool.data()) + 15) & ~uintptr_t(15))

DEVICE uint32_t add_with(uint32_t a, uint32_t b, uint32_t carry_in, bool keep) {
    uint64_t sum = uint64_t(a) + b + carry_in;
    if (keep) emulator::carry = unsigned(sum >> 32);
    return uint32_t(sum);
}
DEVICE uint32_t add_cc(uint32_t a, uint32_t b) { return add_with(a, b, 0, true); }
DEVICE uint32_t addc_cc(uint32_t a, uint32_t b) { return add_with(a, b, emulator::carry, true); }
DEVICE uint32_t addc(uint32_t a, uint32_t b) { return add_with(a, b, emulator::carry, false); }

// PTX: the flag holds the borrow, 1 when there is one.
DEVICE uint32_t subtract_with(uint32_t a, uint32_t b, uint32_t borrow_in, bool keep) {
    uint64_t difference = uint64_t(a) - b - borrow_in;
    if (keep) emulator::carry = unsigned(difference >> 63);
    return uint32_t(difference);
}
DEVICE uint32_t sub_cc(uint32_t a, uint32_t b) { return subtract_with(a, b, 0, true); }
DEVICE uint32_t subc_cc(uint32_t a, uint32_t b) { return subtract_with(a, b, emulator::carry, true); }
DEVICE uint32_t subc(uint32_t a, uint32_t b) { return subtract_with(a, b, emulator::carry, false); }

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
        std::memcpy(&result, &value, sizeof result);                                              \
        return result;                                                                            \
    }
CAST_BITS(unsigned long long, double, bits_of)
CAST_BITS(double, unsigned long long, double_of)
#undef CAST_BITS

// The mode is set around the one operation; `volatile` keeps the compiler from moving it out.
DEVICE double fma_toward_zero(double a, double b, double c) {
    std::fesetround(FE_TOWARDZERO);
    volatile double x = a, y = b, z = c;
    volatile double r = std::fma(x, y, z);
    std::fesetround(FE_TONEAREST);
    return r;
}

DEVICE uint32_t from_thread(uint32_t value, uint32_t source, uint32_t width) {
    unsigned set = emulator::arrive(value);
    unsigned lane = emulator::current % emulator::WARP;
    unsigned read = (lane & ~(width - 1)) | (source & (width - 1));
    return uint32_t(emulator::exchanges[emulator::current / emulator::WARP].word[set][read]);
}
DEVICE uint32_t warp_bits(bool bit) {
    unsigned set = emulator::arrive(bit);
    const auto& exchange = emulator::exchanges[emulator::current / emulator::WARP];
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < emulator::WARP; lane++) bits |= uint32_t(exchange.word[set][lane] & 1) << lane;
    return bits;
}
DEVICE void warp_barrier() { emulator::arrive(0); }
DEVICE void end_block(uint32_t) {}
