// Passes through memory: transforms of R points that lie a stride apart, in the registers of a thread, with
// the factors that divide a long transform into short ones (decimation in frequency on the way there, in time
// on the way back). Blocks of R stride points follow each other, and are transformed alike:
//
//     there  y[k stride + s] = root^(s k) sum_j x[j stride + s] w^(j k)
//     back   x[j stride + s] = sum_k y[k stride + s] root^(-s k) w^(-j k)
//
// Nothing is ever reordered: what follows works on each run of `stride` points by itself.
#pragma once

// The argument of these kernels.
struct ColumnsCall {
    u64* points;
    const u64* factors; // row by row, R rows of `stride`
    u32 stride;         // a power of two
    u32 log_stride;
    u32 count;          // threads
};
static_assert(sizeof(ColumnsCall) == 32 && AT(ColumnsCall, points, 0) && AT(ColumnsCall, factors, 8) &&
              AT(ColumnsCall, stride, 16) && AT(ColumnsCall, log_stride, 20) && AT(ColumnsCall, count, 24),
              "ColumnsCall, as in Rust");

DEVICE u32 thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Writes the transformed points, times the twiddle factors. The factors of row 0 are one.
template <int R> DEVICE void leave_forward(const Lazy (&x)[R], u64* points, const u64* factors, u32 stride) {
#pragma unroll
    for (int k = 0; k < R; k++) {
        u64 y = folded(x[place_of<R>(k)]);
        points[k * stride] = k == 0 ? y : product(y, factors[k * stride]);
    }
}

template <int R> DEVICE void columns_forward(const ColumnsCall& call) {
    u32 number = thread_number();
    if (number >= call.count) return;
    u32 s = number & (call.stride - 1);
    u64* points = call.points + (u64)(number >> call.log_stride) * R * call.stride + s;
    Lazy x[R];
#pragma unroll
    for (int j = 0; j < R; j++) x[j] = lazy(points[j * call.stride]);
    transform<false>(x);
    leave_forward(x, points, call.factors + s, call.stride);
}

// The last pass back is SCALED: its factors have one over the length of the whole transform in them, those of
// row 0 too.
template <int R, bool SCALED> DEVICE void columns_back(const ColumnsCall& call) {
    u32 number = thread_number();
    if (number >= call.count) return;
    u32 s = number & (call.stride - 1);
    u64* points = call.points + (u64)(number >> call.log_stride) * R * call.stride + s;
    const u64* factors = call.factors + s;
    Lazy x[R];
#pragma unroll
    for (int k = 0; k < R; k++) {
        u64 y = points[k * call.stride];
        x[k] = lazy(k == 0 && !SCALED ? y : product(y, factors[k * call.stride]));
    }
    transform<true>(x);
#pragma unroll
    for (int j = 0; j < R; j++) points[j * call.stride] = folded(x[place_of<R>(j)]);
}
