// Matrices in residues: their layout for tensor cores, their expansion from a seed, and products with one
// vector.
//
// A unit is 16 columns of one modulus by 32 rows: 2 KiB. It holds the four planes of bytes one after the
// other; a plane is the first factor of `add_product`, with the columns of the matrix as its rows: the lane 4
// g + t has 16 bytes, that is byte `plane` of the rows 4 t to 4 t + 3 in the columns g and g + 8, then of the
// rows 16 + 4 t to 16 + 4 t + 3. The units of a group of 16 columns lie one after the other by rows; beyond
// the last row and column there are zeros.
//
// Bounds. A launch has at most 32768 rows. Sums of bytes times bits are below 255 2^15 < 2^23. Sums of
// products of bytes are below 255^2 2^15 < 2^31, so that 32 bits hold them, signed or not.
#pragma once
#include "residue_words.cuh"

struct LayoutCall {
    const u32* plain; // rows as the host has them, or nothing
    u32* units;
    const WordModulus* moduli;
    u64 first_block;  // number of ChaCha's block for the first row
    u32 rows;
    u32 columns;
    u32 count;        // moduli
    u32 groups;       // groups of a modulus
    u32 steps;        // units of a group
    u32 first_step;   // the first one that is written
    u32 written_steps;
    ChaChaKey seed;
    u32 unused;
};
static_assert(sizeof(LayoutCall) == 96 && AT(LayoutCall, plain, 0) && AT(LayoutCall, units, 8) &&
              AT(LayoutCall, moduli, 16) && AT(LayoutCall, first_block, 24) && AT(LayoutCall, rows, 32) &&
              AT(LayoutCall, columns, 36) && AT(LayoutCall, count, 40) && AT(LayoutCall, groups, 44) &&
              AT(LayoutCall, steps, 48) && AT(LayoutCall, first_step, 52) &&
              AT(LayoutCall, written_steps, 56) && AT(LayoutCall, seed, 60), "LayoutCall, as in Rust");

// A row of a tile is 17 words long, so that the lanes of a warp read from different banks.
enum { TILE_STRIDE = GROUP_WORDS + 1, TILE_WORDS = UNIT_ROWS * TILE_STRIDE };

// Writes the unit whose words are in a tile of shared memory.
DEVICE void write_unit(u32* unit, const u32* tile) {
    u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    u32 words[4][4];
#pragma unroll
    for (u32 part = 0; part < 4; part++)
#pragma unroll
        for (u32 i = 0; i < 4; i++)
            words[part][i] = tile[(16 * (part / 2) + 4 * t + i) * TILE_STRIDE + g + 8 * (part % 2)];
#pragma unroll
    for (u32 plane = 0; plane < 4; plane++) {
        Quad quad;
#pragma unroll
        for (u32 part = 0; part < 4; part++)
            quad.word[part] = bytes_of(words[part][0], words[part][1], words[part][2], words[part][3], plane);
        *(Quad*)(unit + 128 * plane + 4 * lane) = quad;
    }
}

// A warp's unit of a launch: modulus, group and step, or nothing.
struct UnitPlace {
    u32 place, group, step;
    u64 index;
    bool exists;
    DEVICE UnitPlace(const LayoutCall& call) {
        u64 number = (u64)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, column = number / call.written_steps;
        step = (u32)(number - column * call.written_steps);
        index = column * call.steps + call.first_step + step;
        place = (u32)(column / call.groups);
        group = (u32)(column - (u64)place * call.groups);
        exists = place < call.count;
    }
};

KERNEL(matrix_layout, LayoutCall) {
    SHARED_POOL(u32, shared);
    UnitPlace at(call);
    if (!at.exists) return;
    u32* tile = shared + threadIdx.x / 32 * TILE_WORDS;
    u32 lane = threadIdx.x % 32, column = at.group * GROUP_WORDS + lane % 16;
#pragma unroll 4
    for (u32 i = lane / 16; i < UNIT_ROWS; i += 2) {
        u32 row = at.step * UNIT_ROWS + i, word = 0;
        if (row < call.rows && column < call.columns)
            word = call.plain[((u64)row * call.count + at.place) * call.columns + column];
        tile[i * TILE_STRIDE + lane % 16] = word;
    }
    warp_barrier();
    write_unit(call.units + at.index * UNIT_WORDS, tile);
}

KERNEL(matrix_expand, LayoutCall) {
    SHARED_POOL(u32, shared);
    UnitPlace at(call);
    if (!at.exists) return;
    u32* tile = shared + threadIdx.x / 32 * TILE_WORDS;
    u32 lane = threadIdx.x % 32, row = at.step * UNIT_ROWS + lane;
    u64 block = call.first_block + ((u64)row * call.count + at.place) * call.groups + at.group;
    WordModulus modulus = call.moduli[at.place];
    u32 words[16];
    chacha_block(call.seed, block, 0, words);
#pragma unroll
    for (u32 i = 0; i < GROUP_WORDS; i++) {
        bool is_inside = row < call.rows && at.group * GROUP_WORDS + i < call.columns;
        if (is_inside && words[i] > modulus.last) words[i] = retried(call.seed, block, i, modulus.last);
        if (modulus.last >= modulus.modulus) words[i] = reduce(modulus, words[i]);
        tile[lane * TILE_STRIDE + i] = is_inside ? words[i] : 0;
    }
    warp_barrier();
    write_unit(call.units + at.index * UNIT_WORDS, tile);
}

struct VectorCall {
    const u32* units;
    const u32* vector; // bits: a word for each step; residues: `vector_stride` words for each modulus
    u32* answers;      // `columns` words for each modulus; products are added
    const WordModulus* moduli;
    u32 columns;
    u32 groups;
    u32 steps;
    u32 vector_stride;
};
static_assert(sizeof(VectorCall) == 48 && AT(VectorCall, units, 0) && AT(VectorCall, vector, 8) &&
              AT(VectorCall, answers, 16) && AT(VectorCall, moduli, 24) && AT(VectorCall, columns, 32) &&
              AT(VectorCall, groups, 36) && AT(VectorCall, steps, 40) && AT(VectorCall, vector_stride, 44),
              "VectorCall, as in Rust");

// The lane's bytes of a vector of bits in a step: one word for each half of the rows.
struct BitFactors {
    enum { PLANES = 1 };
    u32 byte[PLANES][2];
    DEVICE void load(const VectorCall& call, u32, u32 step) {
        u32 bits = call.vector[step], t = threadIdx.x % 4;
        byte[0][0] = bytes_of_bits(bits >> 4 * t);
        byte[0][1] = bytes_of_bits(bits >> (16 + 4 * t));
    }
};

// The lane's bytes of a vector of residues in a step: four planes of bytes.
struct WordFactors {
    enum { PLANES = 4 };
    u32 byte[PLANES][2];
    DEVICE void load(const VectorCall& call, u32 place, u32 step) {
        const u32* rows = call.vector + (u64)place * call.vector_stride + step * UNIT_ROWS + 4 * (threadIdx.x % 4);
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
            Quad quad = *(const Quad*)(rows + 16 * half);
#pragma unroll
            for (u32 plane = 0; plane < 4; plane++)
                byte[plane][half] = bytes_of(quad.word[0], quad.word[1], quad.word[2], quad.word[3], plane);
        }
    }
};

// A block computes a group of 16 columns; its warps share out the steps, and the lanes 4 g to 4 g + 3 the
// rows of a step.
//
// Sum s of a column is of the products of the matrix's plane a and the vector's plane b = s - a, at most
// four. A lane adds a quarter of an eighth of 32768 rows: below 4 255^2 2^10 < 2^28; four lanes together,
// below 2^30.
template <class Factors> DEVICE void multiply_vector(const VectorCall& call, u32* shared) {
    enum { SUMS = 3 + Factors::PLANES, WARPS = BLOCK / 32 };
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 place = blockIdx.x / call.groups, group = blockIdx.x - place * call.groups;
    const u32* units = call.units + (u64)blockIdx.x * call.steps * UNIT_WORDS + 4 * lane;
    u32 sums[2][SUMS] = {};
#pragma unroll 2
    for (u32 step = warp; step < call.steps; step += WARPS) {
        Quad quads[4];
#pragma unroll
        for (u32 plane = 0; plane < 4; plane++) quads[plane] = *(const Quad*)(units + (u64)step * UNIT_WORDS + 128 * plane);
        Factors factors;
        factors.load(call, place, step);
#pragma unroll
        for (u32 a = 0; a < 4; a++)
#pragma unroll
            for (u32 b = 0; b < Factors::PLANES; b++)
#pragma unroll
                for (u32 part = 0; part < 4; part++)
                    sums[part % 2][a + b] =
                        add_byte_products(sums[part % 2][a + b], quads[a].word[part], factors.byte[b][part / 2]);
    }
#pragma unroll
    for (u32 side = 0; side < 2; side++)
#pragma unroll
        for (u32 s = 0; s < SUMS; s++) {
            u32 sum = sums[side][s];
            sum += from_thread(sum, lane ^ 1, 32);
            sum += from_thread(sum, lane ^ 2, 32);
            if (lane % 4 == 0) shared[(warp * SUMS + s) * GROUP_WORDS + 8 * side + lane / 4] = sum;
        }
    block_barrier();
    u32 column = group * GROUP_WORDS + threadIdx.x;
    if (threadIdx.x >= GROUP_WORDS || column >= call.columns) return;
    u64 totals[7] = {};
#pragma unroll
    for (u32 s = 0; s < SUMS; s++)
        for (u32 w = 0; w < WARPS; w++) totals[s] += shared[(w * SUMS + s) * GROUP_WORDS + threadIdx.x];
    add_answer(call.answers + (u64)place * call.columns + column, call.moduli[place], totals);
}

KERNEL(matrix_vector_bits, VectorCall) {
    SHARED_POOL(u32, shared);
    multiply_vector<BitFactors>(call, shared);
}
KERNEL(matrix_vector_words, VectorCall) {
    SHARED_POOL(u32, shared);
    multiply_vector<WordFactors>(call, shared);
}
