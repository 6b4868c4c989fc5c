// Products in residues.
#pragma once

// a b mod N: b becomes an entry, and a is multiplied by B^2 and by that.
KERNEL(residue_multiply, PowerCall) {
    TileNumbers<true> x;
    x.open(call);
    u32 lane = threadIdx.x % 32;
    u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u32 tiles = (call.count + TILE_ITEMS - 1) / TILE_ITEMS;
    u32 entry = call.tables + warp * ENTRY_PAIRS;
    for (u32 round = 0; round * warps < tiles; round++) {
        u32 tile = smaller(round * warps + warp, tiles - 1);
        x.modulus = tile * call.modulus_stride * MODULUS_SIDES * SIDE_PAIRS;
#pragma unroll 1
        for (u32 step = 0; step < 3; step++) {
            if (step < 2) x.load((step == 0 ? call.seconds : call.bases) + (u64)tile * SIDE_PAIRS + lane);
            u32 place = x.modulus + (step == 0 ? SQUARE_B : RADIX_ENTRY) * SIDE_PAIRS;
            u32 from[2] = {step == 2 ? entry : place, 0};
            // Never a square; a compiler that knows it keeps too much in registers, and matrix products wait.
            x.product(call.exponent_bits > 0, from, step == 0, entry);
        }
        x.store(call.results + (u64)tile * SIDE_PAIRS + lane);
    }
    x.memory.matrices.close();
}
