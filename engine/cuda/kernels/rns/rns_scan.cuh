// Secret digits: the table of powers, all of which is read to look entries up.
//
// Addresses in global memory do not depend on digits: the rows of the table, each the words of all entries
// for one group of channels of one base, are copied to shared memory one by one, during the products before
// those that need the entries. There every lane takes its own words. A lane's words of all entries lie in one
// bank, which no other lane reads in the same access, so that a digit decides neither which banks are busy
// nor how long. A row serves SCAN_DIGITS digits at once. If SHARED_WORDS, shared memory is short, and a row
// has the words of one of the lanes' two numbers.
#pragma once

enum { ENTRY_ROWS = 2 * GROUPS, ENTRY_PAIRS = ENTRY_ROWS * 32 };
enum { SCAN_ENTRIES = 1 << SECRET_WINDOW, SCAN_DIGITS = 32 / SECRET_WINDOW };
// Numbers of a lane in a row, and the rows of a table.
enum { SCAN_ITEMS = SHARED_WORDS ? 1 : 2, SCAN_ROWS = ENTRY_ROWS * 2 / SCAN_ITEMS };
// Words of a row: an entry's are those of 32 lanes for the first number, then for the second, so that the
// distance from entry to entry is a multiple of the 32 banks.
enum { BANKS = 32, SCAN_STEP = SCAN_ITEMS * BANKS, SCAN_WORDS = SCAN_ENTRIES * SCAN_STEP };
static_assert(SCAN_STEP % BANKS == 0, "a lane's bank must not depend on the digit");

// Looks the digits up that are in a word of each of the two numbers' exponents.
struct Scan {
    enum { SHARED_QUADS = SCAN_WORDS / 4 + 1 }; // quads of a warp: a row, then its barrier
    u32* table;    // this warp's
    Pair* place;   // this lane's, for what the next row says of the first chosen entry; others follow it
    u32* stage;    // this warp's row in shared memory
    u32 row;       // to be looked at next; SCAN_ROWS if none is
    u32 number;    // rows looked at so far
    u32 digits[2]; // for each of the two numbers, the first chosen in the lowest bits

    DEVICE u64* barrier() const { return (u64*)(stage + SCAN_WORDS); }

    DEVICE void open(Pair* pairs, Quad* shared) {
        table = (u32*)pairs;
        stage = (u32*)(shared + threadIdx.x / 32 * SHARED_QUADS);
        number = 0;
        open_copies(barrier());
    }

    // An entry, of which this lane has `sides`, into the table.
    DEVICE void insert(u32 entry, const Pair* sides) const {
        u32* to = table + entry * SCAN_STEP + threadIdx.x % 32;
        for (u32 i = 0; i < SCAN_ROWS; i++)
            for (u32 j = 0; j < SCAN_ITEMS; j++) {
                u32 number = i * SCAN_ITEMS + j; // of the two numbers of all groups
                to[i * SCAN_WORDS + j * BANKS] = sides[number / 2 * 32].row[number % 2];
            }
    }

    DEVICE void fetch(u32 from) const {
        start_copy(stage, table + from * SCAN_WORDS, SCAN_WORDS * sizeof(u32), barrier());
    }

    // Begins to copy the table, once it is written.
    DEVICE void begin() const {
        publish_for_copies();
        fetch(0);
    }

    // Looks the digits up from here on, into entries from `to` on.
    DEVICE void start(Pair* to) {
        place = to;
        row = 0;
    }

    // Copies the words of one row for all chosen entries.
    DEVICE void advance() {
        if (row == SCAN_ROWS) return;
        finish_copy(barrier(), number & 1);
        const u32* own = stage + threadIdx.x % 32;
        u32 first = row * SCAN_ITEMS % 2; // of the lane's numbers
        u32 chosen[SCAN_DIGITS][SCAN_ITEMS];
#pragma unroll
        for (u32 i = 0; i < SCAN_DIGITS; i++)
            for (u32 j = 0; j < SCAN_ITEMS; j++) {
                u32 digit = (first + j ? digits[1] : digits[0]) >> i * SECRET_WINDOW & (SCAN_ENTRIES - 1);
                chosen[i][j] = own[digit * SCAN_STEP + j * BANKS];
            }
#pragma unroll
        for (u32 i = 0; i < SCAN_DIGITS; i++) {
            if constexpr (SCAN_ITEMS == 2) place[i * ENTRY_PAIRS] = Pair{{chosen[i][0], chosen[i][1]}};
            else place[i * ENTRY_PAIRS].row[first] = chosen[i][0];
        }
        row++;
        number++;
        if (row * SCAN_ITEMS % 2 == 0) place += 32;
        // After the last row comes the first of the next scan.
        fetch(row % SCAN_ROWS);
    }

    DEVICE void finish() {
        while (row < SCAN_ROWS) advance();
    }

    // Waits for the row that nobody needs any more.
    DEVICE void end() { finish_copy(barrier(), number++ & 1); }
};
