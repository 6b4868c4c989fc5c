// Rows of points, transformed as a whole within a block: there, point by point products, and back, with
// nothing but shared memory in between.
//
// A block of 256 threads has 4096 points: one row of 16^3, or sixteen of 16^2. A thread has sixteen points
// at a time, in three arrangements:
//
//     thirds   t, 256 + t, 512 + t, ...                     (of long rows only)
//     seconds  those of a run of 256, a distance of 16 apart
//     firsts   sixteen neighbours
//
// The outer arrangement, which is thirds for long rows and seconds for short ones, is that of points in
// memory.
#pragma once

// The argument of these kernels.
struct RowsCall {
    u64* a;              // transformed in place
    const u64* b;        // the other factors: points as `a` has them, or transforms that were kept
    const u64* there[2]; // factors of runs of 256, then of rows of 4096
    const u64* back[2];  // factors of the way back
    u32 b_rows;          // rows after which b begins again: all rows, or the rows of one item
    u32 count;           // rows
};
static_assert(sizeof(RowsCall) == 56 && AT(RowsCall, a, 0) && AT(RowsCall, b, 8) &&
              AT(RowsCall, there, 16) && AT(RowsCall, back, 32) && AT(RowsCall, b_rows, 48) &&
              AT(RowsCall, count, 52), "RowsCall, as in Rust");

enum { ROW_POINTS = 4096, ROW_THREADS = 256 };

// A point's place in shared memory: after sixteen points one is left out, so that neighbours in threads are
// neighbours in memory banks in every arrangement.
DEVICE u32 shared_place(u32 point) { return point + point / 16; }

struct Arrangement {
    u32 first, step;
    DEVICE u32 point(u32 j) const { return first + j * step; }
};
DEVICE Arrangement thirds() { return {threadIdx.x, 256}; }
DEVICE Arrangement seconds() { return {threadIdx.x / 16 * 256 + threadIdx.x % 16, 16}; }
DEVICE Arrangement firsts() { return {16 * threadIdx.x, 1}; }

// Multiplies by the factors of a level, 16 rows of `stride`, of which this thread has column s.
DEVICE void multiply_by(u64 (&x)[16], const u64* factors, u32 stride, u32 s) {
#pragma unroll
    for (int k = 1; k < 16; k++) x[k] = product(x[k], factors[k * stride + s]);
}

template <bool BACK> DEVICE void transform_folded(u64 (&x)[16]) {
    Lazy y[16];
#pragma unroll
    for (int j = 0; j < 16; j++) y[j] = lazy(x[j]);
    transform<BACK>(y);
#pragma unroll
    for (int k = 0; k < 16; k++) x[k] = folded(y[place_of<16>(k)]);
}

DEVICE void put(u64* pool, const u64 (&x)[16], Arrangement at) {
#pragma unroll
    for (int j = 0; j < 16; j++) pool[shared_place(at.point(j))] = x[j];
}
DEVICE void get(u64 (&x)[16], const u64* pool, Arrangement at) {
#pragma unroll
    for (int j = 0; j < 16; j++) x[j] = pool[shared_place(at.point(j))];
}

// Rows of 256 are exchanged among sixteen neighbouring threads, rows of 4096 in the whole block.
template <bool LONG> struct Rows {
    // Transforms points of the outer arrangement, and leaves them in `firsts`.
    DEVICE static void forward(u64 (&x)[16], u64* pool, const RowsCall& call) {
        transform_folded<false>(x);
        if (LONG) {
            multiply_by(x, call.there[1], 256, threadIdx.x);
            block_barrier(); // others may still read what was there
            put(pool, x, thirds());
            block_barrier();
            get(x, pool, seconds());
            transform_folded<false>(x);
        }
        multiply_by(x, call.there[0], 16, threadIdx.x % 16);
        warp_barrier();
        put(pool, x, seconds());
        warp_barrier();
        get(x, pool, firsts());
        transform_folded<false>(x);
    }

    // Transforms points in `firsts` back to the outer arrangement.
    DEVICE static void back(u64 (&x)[16], u64* pool, const RowsCall& call) {
        transform_folded<true>(x);
        warp_barrier();
        put(pool, x, firsts());
        warp_barrier();
        get(x, pool, seconds());
        multiply_by(x, call.back[0], 16, threadIdx.x % 16);
        transform_folded<true>(x);
        if (LONG) {
            put(pool, x, seconds());
            block_barrier();
            get(x, pool, thirds());
            multiply_by(x, call.back[1], 256, threadIdx.x);
            transform_folded<true>(x);
        }
    }
};

// The place of this thread's points of a row, in the outer arrangement, and whether the row exists.
// Transforms that are kept lie in the same places, each thread's points where it reads them, so that
// neighbours read neighbours.
struct Place {
    u64 first;
    u32 step;
    bool exists;

    template <bool LONG> DEVICE static Place of(u32 count, u32 repeat) {
        if (LONG) return {(u64)(blockIdx.x % repeat) * ROW_POINTS + threadIdx.x, 256, true};
        u32 row = blockIdx.x * 16 + threadIdx.x / 16;
        return {(u64)(row % repeat) * 256 + threadIdx.x % 16, 16, row < count};
    }
};

template <bool LONG> DEVICE void load(u64 (&x)[16], const u64* points, u32 count) {
    Place place = Place::of<LONG>(count, count);
#pragma unroll
    for (int j = 0; j < 16; j++) x[j] = place.exists ? points[place.first + j * place.step] : 0;
}
template <bool LONG> DEVICE void store(u64* points, const u64 (&x)[16], u32 count) {
    Place place = Place::of<LONG>(count, count);
#pragma unroll
    for (int j = 0; j < 16; j++)
        if (place.exists) points[place.first + j * place.step] = x[j];
}

enum Factor { ITSELF, TRANSFORMED, PLAIN };

// a <- a b, points transformed there and back; b is a itself, kept as a transform, or transformed here. If
// OWN_WORDS, shared memory has sixteen words more for every thread, where b waits for its turn, and then the
// transform of a. Otherwise b is read when its turn comes, and the transform of a waits in registers.
template <bool LONG, Factor B> DEVICE void rows_product(const RowsCall& call) {
    SHARED_POOL(u64, pool);
    u64* own = pool + shared_place(ROW_POINTS) + threadIdx.x;
    Place place = Place::of<LONG>(call.count, call.b_rows);
    if (OWN_WORDS && B != ITSELF) {
#pragma unroll
        for (int j = 0; j < 16; j++)
            if (place.exists) start_word(own + j * ROW_THREADS, call.b + place.first + j * place.step);
    }
    auto factor = [&](int j) {
        if (OWN_WORDS) return own[j * ROW_THREADS];
        return place.exists ? call.b[place.first + j * place.step] : 0;
    };
    u64 a[16];
    load<LONG>(a, call.a, call.count);
    Rows<LONG>::forward(a, pool, call);
    if (OWN_WORDS && B != ITSELF) finish_words();
    if (B == PLAIN) {
        u64 b[16];
#pragma unroll
        for (int j = 0; j < 16; j++) {
            b[j] = factor(j);
            if (OWN_WORDS) own[j * ROW_THREADS] = a[j];
        }
        Rows<LONG>::forward(b, pool, call);
#pragma unroll
        for (int j = 0; j < 16; j++) a[j] = product(b[j], OWN_WORDS ? own[j * ROW_THREADS] : a[j]);
    } else {
#pragma unroll
        for (int j = 0; j < 16; j++) a[j] = product(a[j], B == ITSELF ? a[j] : factor(j));
    }
    Rows<LONG>::back(a, pool, call);
    store<LONG>(call.a, a, call.count);
}

// Computes transforms that are kept.
template <bool LONG> DEVICE void rows_forward(const RowsCall& call) {
    SHARED_POOL(u64, pool);
    u64 a[16];
    load<LONG>(a, call.a, call.count);
    Rows<LONG>::forward(a, pool, call);
    store<LONG>(call.a, a, call.count);
}

// Transforms back what was kept as a transform.
template <bool LONG> DEVICE void rows_back(const RowsCall& call) {
    SHARED_POOL(u64, pool);
    u64 a[16];
    load<LONG>(a, call.a, call.count);
    Rows<LONG>::back(a, pool, call);
    store<LONG>(call.a, a, call.count);
}

// Programs are compiled for long rows or for short ones.
KERNEL(fft_rows, RowsCall) { rows_product<LONG_ROWS, PLAIN>(call); }
KERNEL(fft_square_rows, RowsCall) { rows_product<LONG_ROWS, ITSELF>(call); }
KERNEL(fft_kept_rows, RowsCall) { rows_product<LONG_ROWS, TRANSFORMED>(call); }
KERNEL(fft_keep_rows, RowsCall) { rows_forward<LONG_ROWS>(call); }
KERNEL(fft_back_rows, RowsCall) { rows_back<LONG_ROWS>(call); }
