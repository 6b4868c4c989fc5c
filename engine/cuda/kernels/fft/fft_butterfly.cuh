// Transforms of 2, 4, 8 and 16 points in the registers of one thread: additions and shifts.
#pragma once

// The index in x at which output k of a transform of N points is left: the bits of k reversed.
template <int N> DEVICE constexpr u32 place_of(u32 k) {
    return (k % 2 * 8 | k / 2 % 2 * 4 | k / 4 % 2 * 2 | k / 8) / (16 / N);
}

// A level: adds and subtracts the halves of every block of LENGTH points, and multiplies the differences by
// powers of the block's root; the inverse of 2^s is -2^(96 - s).
template <int LENGTH, bool BACK, int N> DEVICE void halve(Lazy (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        int j = i % (LENGTH / 2);
        Lazy &a = x[2 * i - j], &b = x[2 * i - j + LENGTH / 2];
        Lazy low = a + b;
        if (BACK && j > 0) b = shifted(b - a, 96 - 192 / LENGTH * j);
        else b = shifted(a - b, 192 / LENGTH * j);
        a = low;
    }
}

// All levels from blocks of LENGTH points on.
template <int LENGTH, bool BACK, int N> DEVICE void lower_levels(Lazy (&x)[N]) {
    if (LENGTH >= 8) halve<8, BACK>(x);
    if (LENGTH >= 4) halve<4, BACK>(x);
    if (LENGTH >= 2) halve<2, BACK>(x);
}

// y_k = sum_j x_j w^(jk), with w = 2^(192/N), or its inverse if BACK; y_k is left in x[place_of(k)].
//
// Points below 2^64 have |x| < 2^65 after the first level, where `shifted` gives less than 2^66, and twice as
// much after each of the others: less than 2^69. The first point is part of every output with factor one, and
// is raised so that all of them are positive.
template <bool BACK, int N> DEVICE void transform(Lazy (&x)[N]) {
    x[0] = raised(x[0]);
    halve<N, BACK>(x);
    lower_levels<N / 2, BACK>(x);
}

// The forward transform of points whose upper half is zero. x[N / 2] and above are written and not read.
template <int N> DEVICE void transform_half(Lazy (&x)[N]) {
    x[0] = raised(x[0]);
#pragma unroll
    for (int j = 0; j < N / 2; j++) x[j + N / 2] = shifted(x[j], 192 / N * j);
    lower_levels<N / 2, false>(x);
}
