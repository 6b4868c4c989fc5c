// Turns the rows of a transform of several, after the last pass back, into coefficients in order: coefficient
// v is the sum of point v modulo `columns` of each row r, times root^(-r v). It stands where one of these
// points was.
#pragma once

// The argument of these kernels.
struct JoinCall {
    u64* points;      // item by item, row by row
    const u64* roots; // powers of the inverse of the root of order ROWS
    u32 columns;
    u32 log_columns;
    u32 count;        // threads: columns of all items
};
static_assert(sizeof(JoinCall) == 32 && AT(JoinCall, points, 0) && AT(JoinCall, roots, 8) &&
              AT(JoinCall, columns, 16) && AT(JoinCall, log_columns, 20) && AT(JoinCall, count, 24),
              "JoinCall, as in Rust");

template <int ROWS> DEVICE void join(const JoinCall& call) {
    u32 number = thread_number();
    if (number >= call.count) return;
    u32 u = number & (call.columns - 1);
    u64* points = call.points + (u64)(number >> call.log_columns) * ROWS * call.columns + u;
    u64 x[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) x[r] = points[(u64)r * call.columns];
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        u32 e = (u + j * (call.columns % ROWS)) % ROWS;
        u64 c = x[0];
#pragma unroll
        for (int r = 1; r < ROWS; r++) c = sum(c, product(x[r], call.roots[r * e % ROWS]));
        points[(u64)j * call.columns] = c;
    }
}

KERNEL(fft_join_3, JoinCall) { join<3>(call); }
KERNEL(fft_join_5, JoinCall) { join<5>(call); }
