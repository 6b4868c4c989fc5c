// The first pass: numbers are cut into digits, which are transformed without being written.
//
// A transform of `rows` times `columns` points, where `rows` is 1, 3 or 5 and `columns` a power of two, is
// `rows` transforms of `columns` points each, by the Chinese remainder theorem (Good and Thomas): point u of
// row r is the sum of the digits v = u modulo `columns`, times root^(r v), with a root of order `rows`.
#pragma once

// The argument of these kernels.
struct CutCall {
    Numbers numbers;
    Numbers addends;    // their digits are added to the digits of the numbers; none if their length is 0
    u64* points;        // item by item, row by row
    const u64* factors; // as in `ColumnsCall`
    const u64* roots;   // powers of the root of order `rows`
    u32 stride;
    u32 log_stride;
    u32 columns;
    u32 rows;
    u32 digit_bits;     // at most 31
    u32 digits;         // number of digits that lie in the numbers' words; those above are zero
    u32 offset;         // the bit, below 32, that the numbers and addends begin at
    u32 count;          // threads
    u32* flags;         // words that carries find zero, no more of them than threads
    u32 flag_count;
};
static_assert(sizeof(CutCall) == 104 && AT(CutCall, numbers, 0) && AT(CutCall, addends, 16) &&
              AT(CutCall, points, 32) && AT(CutCall, factors, 40) && AT(CutCall, roots, 48) &&
              AT(CutCall, stride, 56) && AT(CutCall, log_stride, 60) && AT(CutCall, columns, 64) &&
              AT(CutCall, rows, 68) && AT(CutCall, digit_bits, 72) && AT(CutCall, digits, 76) &&
              AT(CutCall, offset, 80) && AT(CutCall, count, 84) && AT(CutCall, flags, 88) &&
              AT(CutCall, flag_count, 96), "CutCall, as in Rust");

// The digit of a number that begins at a bit of one of its words.
DEVICE u32 digit_at(const u32* words, u32 length, u32 at, u32 shift, u32 bits) {
    u32 low = at < length ? words[at] : 0;
    u32 high = at + 1 < length ? words[at + 1] : 0;
    return (u32)(pair_of(low, high) >> shift) & ((1u << bits) - 1);
}

// The digit of an item's number, plus the digit of its addend if there is one.
DEVICE u32 digit_at(const CutCall& call, u32 item, u32 at, u32 shift) {
    u32 digit = digit_at(row_of(call.numbers, item), call.numbers.length, at, shift, call.digit_bits);
    if (call.addends.length > 0)
        digit += digit_at(row_of(call.addends, item), call.addends.length, at, shift, call.digit_bits);
    return digit;
}

// Point u of a row of several, whose first digit is at this place; called, because it is long. Digits u, u +
// columns and so on begin at the same bit of their words, because there are 32 columns or a multiple of that.
// Digits are below 2^31, so that a product and a point are below 2^96 together.
DEVICE_CALLED u64 sum_of_digits(const CutCall& call, u32 item, u32 row, u32 u, u32 at, u32 shift) {
    u32 first = call.rows == 3 ? row * (u % 3) % 3 : row * (u % 5) % 5;
    u32 turn = call.rows == 3 ? row * (call.columns % 3) % 3 : row * (call.columns % 5) % 5;
    u64 point = 0;
    for (u32 v = u, power = first; v < call.digits; v += call.columns) {
        point = folded(short_product(digit_at(call, item, at, shift), call.roots[power]) + lazy(point));
        at += call.columns / 32 * call.digit_bits;
        power += turn;
        if (power >= call.rows) power -= call.rows;
    }
    return point;
}

// HALF: there is one row, no digit in its upper half, so that the first level only multiplies, and no addend.
// ONE: there is one row. SEVERAL: there are more.
enum Digits { HALF, ONE, SEVERAL };

template <int R, Digits KIND> DEVICE void cut_and_transform(const CutCall& call) {
    u32 number = thread_number();
    if (number >= call.count) return;
    if (number < call.flag_count) call.flags[number] = 0;
    u32 s = number & (call.stride - 1), line = number >> call.log_stride;
    u32 item = KIND == SEVERAL ? line / call.rows : line;
    // The stride is a multiple of 32: digits of a thread begin at the same bit of words as far apart.
    u64 bit = (u64)s * call.digit_bits + call.offset;
    u32 at = (u32)(bit / 32), shift = (u32)(bit % 32), step = call.stride / 32 * call.digit_bits;
    const u32* words = row_of(call.numbers, item);
    Lazy x[R];
#pragma unroll
    for (int j = 0; j < (KIND == HALF ? R / 2 : R); j++, at += step) {
        if (KIND == HALF) x[j] = lazy(digit_at(words, call.numbers.length, at, shift, call.digit_bits));
        else if (KIND == ONE) x[j] = lazy(digit_at(call, item, at, shift));
        else x[j] = lazy(sum_of_digits(call, item, line % call.rows, j * call.stride + s, at, shift));
    }
    if (KIND == HALF) transform_half(x);
    else transform<false>(x);
    leave_forward(x, call.points + (u64)line * call.columns + s, call.factors + s, call.stride);
}

#define CUT(R)                                                                                     \
    KERNEL(fft_cut_half_##R, CutCall) { cut_and_transform<R, HALF>(call); }                        \
    KERNEL(fft_cut_##R, CutCall) { cut_and_transform<R, ONE>(call); }                              \
    KERNEL(fft_cut_rows_##R, CutCall) { cut_and_transform<R, SEVERAL>(call); }
CUT(2)
CUT(4)
CUT(8)
CUT(16)
#undef CUT
