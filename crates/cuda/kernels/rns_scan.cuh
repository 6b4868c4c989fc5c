// Secret digits: the table of powers, every word of which is read to look one entry up.
//
// An entry has a side for base B and one for base A. Secret tables lie row by row: for every group of
// channels the quads (two words of base B, two of base A) of all entries, a lane's next to its
// neighbours'. So a row is one piece of memory, which a single copy brings into shared memory beside
// the arithmetic.
#pragma once

enum { ENTRY_PAIRS = 2 * SIDE_PAIRS };
enum { SCAN_ENTRIES = 1 << SECRET_WINDOW, SCAN_QUADS = SCAN_ENTRIES * 32 };

// Looks up a digit for each of the two numbers, a row at a time beside the products before the one that
// needs the entry. SCAN_DEPTH rows are on their way or arrived.
struct Scan {
    enum { SHARED_QUADS = SCAN_DEPTH * (SCAN_QUADS + 1) }; // of a warp: rows, then their barriers
    Quad* table; // this warp's
    Pair* place; // this lane's, for what the next row says of the entry, whose sides lie one after the other
    Quad* stage; // this warp's
    u32 row;     // to be looked at next; GROUPS if none is
    u32 number;  // of rows looked at so far
    u32 digit[2];

    DEVICE u64* barrier(u32 slot) const { return (u64*)(stage + SCAN_DEPTH * SCAN_QUADS + slot); }
    DEVICE Quad* slot_of(u32 slot) const { return stage + slot * SCAN_QUADS; }

    DEVICE void open(Pair* pairs, Quad* shared) {
        table = (Quad*)pairs;
        stage = shared + threadIdx.x / 32 * SHARED_QUADS;
        number = 0;
        for (u32 slot = 0; slot < SCAN_DEPTH; slot++) open_copies(barrier(slot));
    }

    // An entry, of which this lane has `sides`, into the table.
    DEVICE void insert(u32 entry, const Pair* sides) const {
        Quad* to = table + entry * 32 + threadIdx.x % 32;
        for (u32 m = 0; m < GROUPS; m++) {
            Pair b = sides[m * 32], a = sides[m * 32 + SIDE_PAIRS];
            to[m * SCAN_QUADS] = Quad{{b.row[0], b.row[1], a.row[0], a.row[1]}};
        }
    }

    DEVICE void fetch(u32 row, u32 slot) const {
        start_copy(slot_of(slot), table + row * SCAN_QUADS, SCAN_QUADS * sizeof(Quad), barrier(slot));
    }

    // When the table stands.
    DEVICE void begin() const {
        publish_for_copies();
        for (u32 i = 0; i < SCAN_DEPTH; i++) fetch(i, (number + i) % SCAN_DEPTH);
    }

    // Looks digits up from here on, into the entry at `to`.
    DEVICE void start(Pair* to) {
        place = to;
        row = 0;
    }

    // One row of every entry; the digits' bits choose among them.
    DEVICE void advance() {
        if (row == GROUPS) return;
        u32 slot = number % SCAN_DEPTH;
        finish_copy(barrier(slot), number / SCAN_DEPTH & 1);
        Quad best = choose<SECRET_WINDOW>(slot_of(slot) + threadIdx.x % 32);
        place[0] = Pair{{best.word[0], best.word[1]}};
        place[SIDE_PAIRS] = Pair{{best.word[2], best.word[3]}};
        place += 32;
        // The rows after the last are the first of the next scan.
        u32 next = row + SCAN_DEPTH;
        fetch(next < GROUPS ? next : next - GROUPS, slot);
        row++;
        number++;
    }

    // The entry that the lowest BITS bits of the digits say.
    template <int BITS> DEVICE Quad choose(const Quad* entries) const {
        if constexpr (BITS == 0) {
            return *entries;
        } else {
            Quad low = choose<BITS - 1>(entries), high = choose<BITS - 1>(entries + (32 << (BITS - 1)));
            for (int i = 0; i < 4; i++) low.word[i] = digit[i % 2] >> (BITS - 1) & 1 ? high.word[i] : low.word[i];
            return low;
        }
    }

    // Waits for the rows that nobody needs any more.
    DEVICE void end() {
        for (u32 i = 0; i < SCAN_DEPTH; i++, number++) finish_copy(barrier(number % SCAN_DEPTH), number / SCAN_DEPTH & 1);
    }
};
