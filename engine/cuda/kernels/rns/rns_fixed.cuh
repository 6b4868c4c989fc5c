// Powers of one base modulo one number, in residues. A power is the product of entries of a table, one for
// every digit of the exponent; nothing is squared. docs/algorithms/fixed-base.md derives it.
//
// Entry d of position j is base^(d 2^(window j)) in Montgomery form, item `j 2^window + d` of the table's
// tiles. `choose` looks entries up for some positions of all items, and `power` multiplies by them.
#pragma once

// Entries in Montgomery form from the tiles of numbers.
KERNEL(residue_fixed_entries, PowerCall) {
    TileNumbers<true> x;
    x.open(call);
    u32 lane = threadIdx.x % 32;
    u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u32 tiles = (call.count + TILE_ITEMS - 1) / TILE_ITEMS;
    x.modulus = 0;
    for (u32 round = 0; round * warps < tiles; round++) {
        u32 tile = smaller(round * warps + warp, tiles - 1);
        x.load(call.bases + (u64)tile * SIDE_PAIRS + lane);
#pragma unroll 1
        for (u32 step = 0; step < 2; step++) {
            u32 from[2] = {(u32)(step == 0 ? RADIX_ENTRY : SQUARE_B) * SIDE_PAIRS, 0};
            // Never a square, as in `residue_multiply`.
            x.product(call.exponent_bits > 0, from, step == 1, call.tables + tile * ENTRY_PAIRS);
        }
    }
    x.memory.matrices.close();
}

// x times the entries that were chosen for it; x is 1 before the first positions. Entries are in Montgomery
// form and x is not, so that every product is x times the entry's number.
KERNEL(residue_fixed_power, PowerCall) {
    TileNumbers<true> x;
    x.open(call);
    u32 lane = threadIdx.x % 32;
    u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u32 tiles = (call.count + TILE_ITEMS - 1) / TILE_ITEMS;
    x.modulus = 0;
    for (u32 round = 0; round * warps < tiles; round++) {
        u32 tile = smaller(round * warps + warp, tiles - 1);
        x.load(call.bases ? call.bases + (u64)tile * SIDE_PAIRS + lane : x.workspace + ONE_STATE * SIDE_PAIRS);
#pragma unroll 1
        for (u32 position = 0; position < call.window; position++) {
            u32 from[2] = {call.tables + (position * tiles + tile) * ENTRY_PAIRS, 0};
            // Never a square, as in `residue_multiply`.
            x.product(call.exponent_bits > 0, from, false, 0);
        }
        x.store(call.results + (u64)tile * SIDE_PAIRS + lane);
    }
    x.memory.matrices.close();
}

// The argument of `residue_fixed_choose`.
struct ChooseCall {
    const Pair* entries; // tiles of the table
    Pair* chosen;        // for every position the entries of all tiles
    Numbers exponents;
    u32 first;           // position
    u32 positions;
    u32 window;
    u32 count;           // items
    u32 rows;            // rows of entries that shared memory holds at a time
};
static_assert(sizeof(ChooseCall) == 56 && AT(ChooseCall, entries, 0) && AT(ChooseCall, chosen, 8) &&
              AT(ChooseCall, exponents, 16) && AT(ChooseCall, first, 32) && AT(ChooseCall, positions, 36) &&
              AT(ChooseCall, window, 40) && AT(ChooseCall, count, 44) && AT(ChooseCall, rows, 48),
              "ChooseCall, as in Rust");

// Looks up the entries of secret digits. A block serves one position. Some rows of all entries of the
// position are in shared memory, once for every lane: the words of lane l are in bank l whatever the digit,
// so that a digit decides neither which banks are busy nor how long, and addresses in global memory do not
// depend on digits. The number of blocks is a multiple of the number of positions.
KERNEL(residue_fixed_choose, ChooseCall) {
    SHARED_POOL(u32, entry_words);
    u32 entries = 1u << call.window, lane = threadIdx.x % 32;
    u32 position = blockIdx.x % call.positions, slice = blockIdx.x / call.positions;
    u32 warps = blockDim.x / 32, slices = gridDim.x / call.positions;
    u32 tiles = (call.count + TILE_ITEMS - 1) / TILE_ITEMS;
    u32 digit_start = (call.first + position) * call.window;
    for (u32 first_row = 0; first_row < ENTRY_ROWS; first_row += call.rows) {
        u32 rows = smaller(call.rows, ENTRY_ROWS - first_row);
        for (u32 i = threadIdx.x; i < rows * entries * 32; i += blockDim.x) {
            u32 entry = i / 32 % entries, row = first_row + i / 32 / entries;
            u32 number = (call.first + position) * entries + entry;
            const Pair* tile = call.entries + (u64)(number / TILE_ITEMS) * ENTRY_PAIRS;
            entry_words[i] = tile[row * 32 + number % 8 * 4 + i % 4].row[number % TILE_ITEMS / 8];
        }
        block_barrier();
        for (u32 tile = slice * warps + threadIdx.x / 32; tile < tiles; tile += slices * warps) {
            u32 digits[2];
            for (u32 row = 0; row < 2; row++) {
                u32 item = smaller(tile * TILE_ITEMS + lane / 4 + 8 * row, call.count - 1);
                digits[row] = exponent_digit(call.exponents, item, digit_start, call.window);
            }
            Pair* to = call.chosen + (u64)(position * tiles + tile) * ENTRY_PAIRS + first_row * 32 + lane;
            for (u32 row = 0; row < rows; row++) {
                const u32* words = entry_words + row * entries * 32 + lane;
                to[row * 32] = Pair{{words[digits[0] * 32], words[digits[1] * 32]}};
            }
        }
        block_barrier();
    }
}
