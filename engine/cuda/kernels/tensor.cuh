// Products of matrices of bytes by one warp.
//
// A lane is 4 g + t. It brings four words of the first factor, of 16 rows and 32 columns: columns 4 t to 4
// t + 3 of the rows g and g + 8, then the same 16 columns on; and two words of the second factor, of 32 rows
// and 8 columns: rows 4 t to 4 t + 3 of column g, then the same 16 rows on. It receives the sums of the rows
// g and g + 8 in the columns 2 t and 2 t + 1.
#pragma once

#if defined(MODMILL_EMULATOR)

DEVICE void add_product(u32* sum, const u32* word, u32 b0, u32 b1) {
    u64 first[32], second[32], column[32];
    memcpy(first, emulator::arrive(pair_of(word[0], word[2])), sizeof first);
    memcpy(second, emulator::arrive(pair_of(word[1], word[3])), sizeof second);
    memcpy(column, emulator::arrive(pair_of(b0, b1)), sizeof column);
    u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (u32 i = 0; i < 4; i++) {
        for (u32 side = 0; side < 2; side++) {
            u64 b = column[4 * (2 * t + side) + i], rows[2] = {first[4 * g + i], second[4 * g + i]};
            for (u32 row = 0; row < 2; row++) {
                sum[2 * row + side] = add_byte_products(sum[2 * row + side], low_of(rows[row]), low_of(b));
                sum[2 * row + side] = add_byte_products(sum[2 * row + side], high_of(rows[row]), high_of(b));
            }
        }
    }
}

#else

// Adds the product of 16 numbers, 32 bytes of each, and 8 columns to four sums of each lane.
#if __CUDA_ARCH__ >= 800
DEVICE void add_product(u32* sum, const u32* word, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(b0), "r"(b1));
}
#else
// 7.5 has a quarter of it: 8 numbers, and 16 bytes of each. A lane's part of each quarter is one register of
// the whole, so that the fragments are the same here, too.
DEVICE void add_quarter(u32* sum, u32 word, u32 column) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1]) : "r"(word), "r"(column));
}
DEVICE void add_product(u32* sum, const u32* word, u32 b0, u32 b1) {
    add_quarter(sum, word[0], b0);
    add_quarter(sum + 2, word[1], b0);
    add_quarter(sum, word[2], b1);
    add_quarter(sum + 2, word[3], b1);
}
#endif

#endif
