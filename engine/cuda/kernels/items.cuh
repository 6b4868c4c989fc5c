// The items of a batch and the groups of threads that compute them, THREADS threads to a number. Every thread
// of a warp takes part in every step; groups beyond the end of the batch repeat its last item and store
// nothing.
#pragma once

struct Items {
    u32 group, groups, count;
    DEVICE Items(u32 count)
        : group((blockIdx.x * BLOCK + threadIdx.x) / THREADS), groups(gridDim.x * BLOCK / THREADS), count(count) {}
    // Rounds that every group makes, so that warps stay together.
    DEVICE u32 rounds() const { return (count + groups - 1) / groups; }
    DEVICE u32 item(u32 round) const { return smaller(round * groups + group, count - 1); }
    DEVICE bool stores(u32 round) const { return round * groups + group < count; }
};
