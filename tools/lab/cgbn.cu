// Operations of NVIDIA's CGBN a second, for numbers of WIDTH bits and GROUP threads to a number. cgbn.sh
// compiles and runs it. Prints a line for each operation: its name, WIDTH, GROUP and operations a second in
// kernels, the median of nine launches. Operands are random; their highest bits and the lowest bits of moduli
// are set. Quotients, roots and inverses are multiplied out again, and a line says WRONG where one fails
// its check.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cooperative_groups.h> // which CGBN reads for the device; its constants are registered on the host
#include <cuda_runtime.h>

const int THREADS = 128;
// Products of one launch of `mul_mod_chain` for each number.
const int CHAIN = 200;

#define MUST(call)                                                             \
    do {                                                                       \
        cudaError_t status = (call);                                           \
        if (status != cudaSuccess) {                                           \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

struct Number {
    uint32_t limbs[WIDTH / 32];
};

// The operands of an item and the two halves of its answer.
struct Item {
    Number a, b, modulus, answer, rest;
};

enum Operation { INVERSE, DIVISOR, QUOTIENT, ROOT, CHAINS, POWER };

// CGBN's header for the host demands GMP: it is read for the device alone, with all that stands on it.
#ifdef __CUDA_ARCH__
#include <cgbn/cgbn.h>

typedef cgbn_context_t<GROUP> context_t;
typedef cgbn_env_t<context_t, WIDTH> env_t;
typedef env_t::cgbn_t number_t;
typedef env_t::cgbn_wide_t wide_t;

__device__ __forceinline__ void load(env_t env, number_t &number, Number &memory) {
    cgbn_load(env, number, reinterpret_cast<cgbn_mem_t<WIDTH> *>(&memory));
}

__device__ __forceinline__ void store(env_t env, Number &memory, const number_t &number) {
    cgbn_store(env, reinterpret_cast<cgbn_mem_t<WIDTH> *>(&memory), number);
}

struct Inverse {
    static __device__ void compute(env_t env, Item &item) {
        number_t a, modulus, answer;
        load(env, a, item.a);
        load(env, modulus, item.modulus);
        if (!cgbn_modular_inverse(env, answer, a, modulus))
            cgbn_set_ui32(env, answer, 0);
        store(env, item.answer, answer);
    }
    // The product with the operand is one, or there is no inverse.
    static __device__ bool right(env_t env, Item &item) {
        number_t a, modulus, answer;
        wide_t product;
        load(env, a, item.a);
        load(env, modulus, item.modulus);
        load(env, answer, item.answer);
        if (cgbn_equals_ui32(env, answer, 0)) {
            cgbn_gcd(env, a, a, modulus);
            return !cgbn_equals_ui32(env, a, 1);
        }
        cgbn_mul_wide(env, product, a, answer);
        cgbn_rem_wide(env, a, product, modulus);
        return cgbn_equals_ui32(env, a, 1);
    }
};

struct Divisor {
    static __device__ void compute(env_t env, Item &item) {
        number_t a, b, answer;
        load(env, a, item.a);
        load(env, b, item.modulus);
        cgbn_gcd(env, answer, a, b);
        store(env, item.answer, answer);
    }
    // The answer divides both numbers.
    static __device__ bool right(env_t env, Item &item) {
        number_t a, b, answer;
        load(env, a, item.a);
        load(env, b, item.modulus);
        load(env, answer, item.answer);
        cgbn_rem(env, a, a, answer);
        cgbn_rem(env, b, b, answer);
        return cgbn_equals_ui32(env, a, 0) && cgbn_equals_ui32(env, b, 0);
    }
};

// A number twice as long as its divisor. CGBN wants the upper half below the divisor.
struct Quotient {
    static __device__ void operands(env_t env, Item &item, wide_t &number, number_t &divisor) {
        load(env, number._low, item.a);
        load(env, number._high, item.b);
        load(env, divisor, item.modulus);
        cgbn_shift_right(env, number._high, number._high, 1);
    }
    static __device__ void compute(env_t env, Item &item) {
        wide_t number;
        number_t divisor, answer, rest;
        operands(env, item, number, divisor);
        cgbn_div_rem_wide(env, answer, rest, number, divisor);
        store(env, item.answer, answer);
        store(env, item.rest, rest);
    }
    static __device__ bool right(env_t env, Item &item) {
        wide_t number, product;
        number_t divisor, answer, rest;
        operands(env, item, number, divisor);
        load(env, answer, item.answer);
        load(env, rest, item.rest);
        cgbn_mul_wide(env, product, answer, divisor);
        uint32_t carry = cgbn_add(env, product._low, product._low, rest);
        cgbn_add_ui32(env, product._high, product._high, carry);
        return cgbn_compare(env, rest, divisor) < 0 && cgbn_equals(env, product._low, number._low)
            && cgbn_equals(env, product._high, number._high);
    }
};

struct Root {
    static __device__ void compute(env_t env, Item &item) {
        number_t a, answer;
        load(env, a, item.a);
        cgbn_sqrt(env, answer, a);
        store(env, item.answer, answer);
    }
    // The square is no more than the number, and the number no more than the square and twice the root.
    static __device__ bool right(env_t env, Item &item) {
        number_t a, answer, square, bound;
        load(env, a, item.a);
        load(env, answer, item.answer);
        cgbn_mul(env, square, answer, answer);
        bool below = cgbn_sub(env, square, a, square) == 0;
        cgbn_add(env, bound, answer, answer);
        return below && cgbn_compare(env, square, bound) <= 0;
    }
};

struct Chain {
    static __device__ void compute(env_t env, Item &item) {
        number_t a, b, modulus;
        load(env, a, item.a);
        load(env, b, item.b);
        load(env, modulus, item.modulus);
        cgbn_rem(env, a, a, modulus);
        cgbn_rem(env, b, b, modulus);
        uint32_t inverse = cgbn_bn2mont(env, a, a, modulus);
        for (int i = 0; i < CHAIN; i++)
            cgbn_mont_mul(env, a, a, b, modulus, inverse);
        store(env, item.answer, a);
    }
    static __device__ bool right(env_t, Item &) { return true; }
};

struct Power {
    static __device__ void compute(env_t env, Item &item) {
        number_t a, b, modulus, answer;
        load(env, a, item.a);
        load(env, b, item.b);
        load(env, modulus, item.modulus);
        cgbn_rem(env, a, a, modulus);
        cgbn_modular_power(env, answer, a, b, modulus);
        store(env, item.answer, answer);
    }
    static __device__ bool right(env_t, Item &) { return true; }
};

template <Operation> struct Of;
template <> struct Of<INVERSE> : Inverse {};
template <> struct Of<DIVISOR> : Divisor {};
template <> struct Of<QUOTIENT> : Quotient {};
template <> struct Of<ROOT> : Root {};
template <> struct Of<CHAINS> : Chain {};
template <> struct Of<POWER> : Power {};
#endif

template <Operation operation>
__global__ void __launch_bounds__(THREADS) computes(Item *items, uint32_t count) {
#ifdef __CUDA_ARCH__
    uint32_t item = (blockIdx.x * blockDim.x + threadIdx.x) / GROUP;
    if (item >= count)
        return;
    context_t context(cgbn_no_checks);
    Of<operation>::compute(env_t(context), items[item]);
#endif
}

template <Operation operation>
__global__ void __launch_bounds__(THREADS) checks(Item *items, uint32_t count, uint32_t *wrong) {
#ifdef __CUDA_ARCH__
    uint32_t item = (blockIdx.x * blockDim.x + threadIdx.x) / GROUP;
    if (item >= count)
        return;
    context_t context(cgbn_no_checks);
    if (!Of<operation>::right(env_t(context), items[item]))
        atomicAdd(wrong, 1);
#endif
}

template <Operation operation>
void measure(const char *name, Item *items, uint32_t count, double per_item) {
    uint32_t blocks = (count + THREADS / GROUP - 1) / (THREADS / GROUP);
    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    std::vector<float> times;
    for (int launch = 0; launch < 10; launch++) {
        MUST(cudaEventRecord(begin));
        computes<operation><<<blocks, THREADS>>>(items, count);
        MUST(cudaEventRecord(end));
        MUST(cudaEventSynchronize(end));
        float time;
        MUST(cudaEventElapsedTime(&time, begin, end));
        // The first launch loads the kernel.
        if (launch > 0)
            times.push_back(time);
    }
    uint32_t *wrong;
    MUST(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    checks<operation><<<blocks, THREADS>>>(items, count, wrong);
    MUST(cudaDeviceSynchronize());
    std::sort(times.begin(), times.end());
    printf("%-14s %6d %7d %12.4g%s\n", name, WIDTH, GROUP, count * per_item / (times[4] * 1e-3), *wrong ? " WRONG" : "");
    MUST(cudaFree(wrong));
}

int main() {
    // About 2^30 bits of operands, so that every multiprocessor has many items; powers take fewer.
    uint32_t count = (1u << 30) / WIDTH, powers = (1u << 26) / WIDTH;
    std::vector<Item> items(count);
    uint64_t state = 1;
    uint32_t *limbs = reinterpret_cast<uint32_t *>(items.data());
    for (size_t i = 0; i < items.size() * sizeof(Item) / 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        limbs[i] = state >> 32;
    }
    for (Item &item : items) {
        item.a.limbs[WIDTH / 32 - 1] |= 0x80000000;
        item.modulus.limbs[WIDTH / 32 - 1] |= 0x80000000;
        item.modulus.limbs[0] |= 1;
    }
    Item *device;
    MUST(cudaMalloc(&device, items.size() * sizeof(Item)));
    MUST(cudaMemcpy(device, items.data(), items.size() * sizeof(Item), cudaMemcpyHostToDevice));
    measure<INVERSE>("inv", device, count / 4, 1);
    measure<DIVISOR>("gcd", device, count / 4, 1);
    measure<QUOTIENT>("div_rem", device, count, 1);
    measure<ROOT>("isqrt", device, count, 1);
    measure<CHAINS>("mul_mod_chain", device, count / 4, CHAIN);
    measure<POWER>("pow", device, powers, 1);
    return 0;
}
