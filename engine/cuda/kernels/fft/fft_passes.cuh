// The passes of `fft_columns.cuh` that only go from memory to memory.
#pragma once

KERNEL(fft_columns, ColumnsCall) { columns_forward<16>(call); }
KERNEL(fft_columns_back, ColumnsCall) { columns_back<16, false>(call); }
KERNEL(fft_last_2, ColumnsCall) { columns_back<2, true>(call); }
KERNEL(fft_last_4, ColumnsCall) { columns_back<4, true>(call); }
KERNEL(fft_last_8, ColumnsCall) { columns_back<8, true>(call); }
KERNEL(fft_last_16, ColumnsCall) { columns_back<16, true>(call); }
