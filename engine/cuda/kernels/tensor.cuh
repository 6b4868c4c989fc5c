// Products of matrices of bytes by one warp.
//
// A lane is 4 g + t. It brings four words of the first factor, of 16 rows and 32 columns: columns 4 t to 4
// t + 3 of the rows g and g + 8, then the same 16 columns on; and two words of the second factor, of 32 rows
// and 8 columns: rows 4 t to 4 t + 3 of column g, then the same 16 rows on. It receives the sums of the rows
// g and g + 8 in the columns 2 t and 2 t + 1.
#pragma once

#if defined(MODMILL_EMULATOR)

DEVICE void add_product(u32* sum, const u32* word, u32 b0, u32 b1) {
    u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    // The words of the rows g and g + 8 in the halves of one: one multiplication serves both rows.
    u64 rows[2][4], columns[2][4];
    for (u32 half = 0; half < 2; half++)
        memcpy(rows[half], emulator::arrive(pair_of(word[2 * half], word[2 * half + 1])) + 4 * g, sizeof rows[half]);
    memcpy(columns, emulator::arrive(pair_of(b0, b1)) + 8 * t, sizeof columns);
    for (u32 side = 0; side < 2; side++) {
        u64 both = 0;
        for (u32 i = 0; i < 4; i++) {
            for (u32 bit = 0; bit < 64; bit += 8) {
                both += (rows[bit / 32][i] >> bit % 32 & 0x000000ff000000ffull) * (columns[side][i] >> bit & 255);
            }
        }
        sum[side] += low_of(both);
        sum[2 + side] += high_of(both);
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
