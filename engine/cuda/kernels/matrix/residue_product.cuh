// Products of a matrix in residues with many vectors on the tensor cores.
//
// The vectors are laid out as second factors of `add_product`: a unit of 2 KiB is 64 columns by 32 rows, and
// has for each pair of blocks of 8 columns 16 bytes of every lane. A column is a vector of bits, or one plane
// of bytes of a vector of residues: block i of a unit is plane i mod 4 of the vectors 8 (i / 4) to 8 (i
// / 4) + 7.
//
// A block of threads computes 16 DOWN columns of the matrix by 64 ACROSS columns of vectors, DOWN ACROSS = 8
// warps; a warp has four planes of 16 columns by 64 columns of vectors, so that a lane holds all planes of
// its numbers at the end.
#pragma once
#include "residue_words.cuh"
#include "tensor.cuh"

enum { DOWN = BLOCK / 32 / ACROSS, STAGE_STEPS = 2, STAGE_QUADS = (DOWN + ACROSS) * BLOCK };
static_assert(STAGE_STEPS * UNIT_WORDS / 4 == BLOCK, "a thread copies 16 bytes of a stage's part of a group");

struct FactorsCall {
    const u32* vectors; // bits: `stride` words each; residues: `stride` words for each modulus of each
    u32* units;
    u32 vectors_count;
    u32 stride;
    u32 first_row;
    u32 rows;           // beyond them there are zeros
    u32 count;          // moduli; 1 for bits
    u32 groups;         // groups of 64 columns
    u32 steps;
    u32 unused;
};
static_assert(sizeof(FactorsCall) == 48 && AT(FactorsCall, vectors, 0) && AT(FactorsCall, units, 8) &&
              AT(FactorsCall, vectors_count, 16) && AT(FactorsCall, stride, 20) && AT(FactorsCall, first_row, 24) &&
              AT(FactorsCall, rows, 28) && AT(FactorsCall, count, 32) && AT(FactorsCall, groups, 36) &&
              AT(FactorsCall, steps, 40), "FactorsCall, as in Rust");

// The unit, and the word of its 512 words, that a thread writes.
struct FactorPlace {
    u32 place, group, step, block, row, column;
    u64 index;
    bool exists;
    DEVICE FactorPlace(const FactorsCall& call) {
        index = (u64)blockIdx.x * BLOCK + threadIdx.x;
        u64 unit = index / UNIT_WORDS, line = unit / call.steps;
        u32 word = index % UNIT_WORDS, lane = word / 4 % 32;
        step = (u32)(unit - line * call.steps);
        place = (u32)(line / call.groups);
        group = (u32)(line - (u64)place * call.groups);
        block = word / 128 * 2 + word % 4 / 2;
        row = step * UNIT_ROWS + 16 * (word % 2) + 4 * (lane % 4);
        column = lane / 4;
        exists = place < call.count;
    }
};

KERNEL(matrix_factors_bits, FactorsCall) {
    FactorPlace at(call);
    if (!at.exists) return;
    u32 vector = 64 * at.group + 8 * at.block + at.column, word = 0;
    // Rows begin at a multiple of 32, and bits beyond the last row are zero.
    if (vector < call.vectors_count && at.row < call.rows)
        word = bytes_of_bits(call.vectors[(u64)vector * call.stride + (call.first_row + at.row) / 32] >> at.row % 32);
    call.units[at.index] = word;
}

KERNEL(matrix_factors_words, FactorsCall) {
    FactorPlace at(call);
    if (!at.exists) return;
    u32 vector = 16 * at.group + 8 * (at.block / 4) + at.column, words[4];
    const u32* rows = call.vectors + ((u64)vector * call.count + at.place) * call.stride + call.first_row;
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        words[i] = vector < call.vectors_count && at.row + i < call.rows ? rows[at.row + i] : 0;
    call.units[at.index] = bytes_of(words[0], words[1], words[2], words[3], at.block % 4);
}

struct ProductCall {
    const u32* units;
    const u32* factors;
    u32* answers; // of each vector `columns` words for each modulus; products are added
    const WordModulus* moduli;
    u32 vectors_count;
    u32 columns;
    u32 count;          // moduli
    u32 groups;         // groups of 16 columns of a modulus
    u32 factor_groups;  // groups of 64 columns of vectors
    u32 steps;          // a multiple of 2
};
static_assert(sizeof(ProductCall) == 56 && AT(ProductCall, units, 0) && AT(ProductCall, factors, 8) &&
              AT(ProductCall, answers, 16) && AT(ProductCall, moduli, 24) && AT(ProductCall, vectors_count, 32) &&
              AT(ProductCall, columns, 36) && AT(ProductCall, count, 40) && AT(ProductCall, groups, 44) &&
              AT(ProductCall, factor_groups, 48) && AT(ProductCall, steps, 52), "ProductCall, as in Rust");

// The sums of a lane: of plane p and block i of the factors, its four sums.
struct LaneSums {
    u32 sum[4][8][4];
};

// Adds the answers of a lane: columns g and g + 8 of the group of 16.
template <bool WORDS>
DEVICE void add_answers(const ProductCall& call, const LaneSums& sums, u32 place, u32 group, u32 factor_group) {
    u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    WordModulus modulus = call.moduli[place];
#pragma unroll
    for (u32 side = 0; side < 4; side++) {
        u32 column = group * GROUP_WORDS + g + 8 * (side / 2);
#pragma unroll
        for (u32 block = 0; block < 8; block += WORDS ? 4 : 1) {
            u64 totals[7] = {};
#pragma unroll
            for (u32 plane = 0; plane < 4; plane++)
#pragma unroll
                for (u32 b = 0; b < (WORDS ? 4 : 1); b++) totals[plane + b] += sums.sum[plane][block + b][side];
            u32 vector = (WORDS ? 16 : 64) * factor_group + 8 * (WORDS ? block / 4 : block) + 2 * t + side % 2;
            if (vector < call.vectors_count && column < call.columns)
                add_answer(call.answers + ((u64)vector * call.count + place) * call.columns + column, modulus, totals);
        }
    }
}

template <bool WORDS> DEVICE void multiply_many(const ProductCall& call, Quad* shared) {
    u32 tiles = (call.groups + DOWN - 1) / DOWN, spans = (call.factor_groups + ACROSS - 1) / ACROSS;
    // Neighbouring blocks read the same part of the matrix.
    u32 span = blockIdx.x % spans, line = blockIdx.x / spans, place = line / tiles, tile = line - place * tiles;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp % DOWN, across = warp / DOWN;
    u32 group = tile * DOWN + down, factor_group = span * ACROSS + across;
    u32 stages = call.steps / STAGE_STEPS;

    // A stage has two units of every group, of the matrix and then of the factors; a thread copies 16 bytes
    // of each pair. Beyond the last group the last one is read again.
    u32 line_bytes = call.steps * (4 * UNIT_WORDS);
    u32 matrix_last = smaller(DOWN, call.groups - tile * DOWN) - 1;
    u32 factor_last = smaller(ACROSS, call.factor_groups - span * ACROSS) - 1;
    u64 matrix_line = (u64)place * call.groups + tile * DOWN;
    u64 factor_line = (WORDS ? (u64)place * call.factor_groups : 0) + span * ACROSS;
    const char* matrix_from = (const char*)call.units + matrix_line * line_bytes + 16 * threadIdx.x;
    const char* factors_from = (const char*)call.factors + factor_line * line_bytes + 16 * threadIdx.x;
    auto load = [&](u32 stage) {
        if (stage >= stages) return;
        Quad* to = shared + stage % STAGES * STAGE_QUADS + threadIdx.x;
        u32 at = stage * (STAGE_STEPS * 4 * UNIT_WORDS);
#pragma unroll
        for (u32 i = 0; i < DOWN; i++)
            start_quad(to + i * BLOCK, matrix_from + (smaller(i, matrix_last) * line_bytes + at));
#pragma unroll
        for (u32 i = 0; i < ACROSS; i++)
            start_quad(to + (DOWN + i) * BLOCK, factors_from + (smaller(i, factor_last) * line_bytes + at));
    };

    LaneSums sums = {};
    for (u32 stage = 0; stage < STAGES - 1; stage++) {
        load(stage);
        close_group();
    }
    for (u32 stage = 0; stage < stages; stage++) {
        await_groups<STAGES - 2>();
        block_barrier();
        load(stage + STAGES - 1);
        close_group();
        const Quad* here = shared + stage % STAGES * STAGE_QUADS + lane;
        const Quad* matrix = here + down * BLOCK;
        const Quad* factors = here + (DOWN + across) * BLOCK;
#pragma unroll
        for (u32 step = 0; step < STAGE_STEPS; step++) {
            Quad columns[4], rows[4];
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                columns[i] = factors[step * (UNIT_WORDS / 4) + 32 * i];
                rows[i] = matrix[step * (UNIT_WORDS / 4) + 32 * i];
            }
#pragma unroll
            for (u32 plane = 0; plane < 4; plane++)
#pragma unroll
                for (u32 block = 0; block < 8; block++)
                    add_product(sums.sum[plane][block], rows[plane].word, columns[block / 2].word[block % 2 * 2],
                                columns[block / 2].word[block % 2 * 2 + 1]);
        }
    }
    if (group < call.groups && factor_group < call.factor_groups)
        add_answers<WORDS>(call, sums, place, group, factor_group);
}

KERNEL(matrix_product_bits, ProductCall) {
    SHARED_POOL(Quad, shared);
    multiply_many<false>(call, shared);
}
KERNEL(matrix_product_words, ProductCall) {
    SHARED_POOL(Quad, shared);
    multiply_many<true>(call, shared);
}
