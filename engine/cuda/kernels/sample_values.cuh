// The values that the families of samples compute with: a running value x and N in registers, a second factor
// y that the group shares as bits of doubles, and a table of kept values.
//
// A family says what a digit is as an integer (`Digit`, `double_from`, `digit_from`), and how PER_QUAD digits
// are a quad of a table (`quad_of`) and bits of doubles again (`bits_in`).
#pragma once

struct Values {
    Group group;
    Table table;
    double x[DIGITS], modulus[DIGITS];

    DEVICE void open(Quad* scratch) {
        group.open();
        table.open(scratch);
    }

    DEVICE void read(const u32* row, u32 length, double* out) const {
        u64 digits[DIGITS];
        group.read(row, length, digits);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) out[j] = double_from((Digit)digits[j]);
    }

    // x = the integer in a row.
    DEVICE void load(const u32* row, u32 length) { read(row, length, x); }

    // y = 1, the integer.
    DEVICE void set_y_to_one(u32) const {
        group.meet();
#pragma unroll
        for (int j = 0; j < DIGITS; j++) group.own_digit(j) = j == 0 && group.rank == 0 ? bits_of(1.0) : 0;
        group.meet();
    }

    // y = x.
    DEVICE void share_x() const {
        group.meet();
#pragma unroll
        for (int j = 0; j < DIGITS; j++) group.own_digit(j) = bits_of(x[j]);
        group.meet();
    }

    // Table entry `index` = x.
    DEVICE void keep(u32 index) const {
        Quad* entry = table.entry(index);
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            entry[i * Table::STEP] = quad_of(x, PER_QUAD * i);
        }
    }

    // Hands the digits of table entry `index`, which must be public, to `put(j, bits)`.
    template <typename Put> DEVICE void get(u32 index, Put put) const {
        const Quad* entry = table.entry(index);
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad = entry[i * Table::STEP];
#pragma unroll
            for (int k = 0; k < PER_QUAD; k++) {
                if (PER_QUAD * i + k < DIGITS) put(PER_QUAD * i + k, bits_in(quad, k));
            }
        }
    }

    // y = table entry `index`, which must be public.
    DEVICE void fetch(u32 index) const {
        group.meet();
        get(index, [&](int j, u64 bits) { group.own_digit(j) = bits; });
        group.meet();
    }

    // x = table entry `index`, which must be public.
    DEVICE void take(u32 index) {
        get(index, [&](int j, u64 bits) { x[j] = double_of(bits); });
    }

    // Writes x, below 2N, as the canonical integer; a length of 0 writes nothing.
    DEVICE void store(u32* row, u32 length) const {
        u64 digits[DIGITS], n[DIGITS];
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            digits[j] = digit_from(x[j]);
            n[j] = digit_from(modulus[j]);
        }
        group.normalize(digits);
        group.subtract_if_greater(digits, n);
        group.write(digits, row, length);
    }
};
