"""Our figures compared with the thesis's tables 5.1 to 5.3 and 7.1 to 7.4.

The thesis's chips are of 90 nm, 1.32 V, by Synopsys; ours are mapped to 180 nm. The rule of scaling: an area goes with the square of the length and a period with the
length, so that ours at 90 nm is area / 4 and period / 2. That is ideal scaling; library, voltage and tools differ as well. The thesis's areas and gates include
memories; ours are of the logic, and memories are given in bits and ports.
"""

LENGTH = 180 / 90
FAST, FULL, STREAM, ONE = 2030, 2330, 24576, 30726


def line(name, *values):
    print(f"{name:<44}" + "".join(f"{value:>18}" for value in values))


def show(value, places, unit=""):
    return "-" if value is None else f"{value:,.{places}f}".replace(",", " ") + (f" {unit}" if unit else "")


class Row:
    """A mapped unit, at 180 nm and scaled."""

    def __init__(self, row, nand2):
        self.area = row["area_um2"] / 1e6
        self.period = row["period_ns"]
        self.scaled_area = self.area / LENGTH**2
        self.scaled_period = self.period / LENGTH
        self.gates = row["area_um2"] / nand2 / 1000


def beside_the_thesis(figures):
    """Prints the tables whose units have been mapped. They need cells whose NAND gate is known: those of the OSU library."""
    if not figures["nand2_um2"]:
        print("\nNo tables beside the thesis's: they are made for the OSU 180 nm library")
        return
    rows = {row["name"]: Row(row, figures["nand2_um2"]) for row in figures["cells"]}
    fpga = {(row["name"], row["family"]): row for row in figures["fpga"]}
    print("\nBeside the thesis's tables, before layout. Ours at 90 nm: area / 4, period / 2; logic without memories, which the thesis's areas include")
    for table, units in [
        (table_5_1, rows),
        (table_5_2, fpga),
        (table_5_3, rows),
        (table_7_1, fpga),
        (table_7_2, rows),
        (table_7_3, rows),
        (table_7_4, rows),
    ]:
        try:
            table(units)
        except KeyError as missing:
            print(f"LEFT OUT: no figures of {missing}")


def table_5_1(rows):
    print("\nTable 5.1: 768-Kbit multiplier in standard cells")
    line("", "thesis, 90 nm", "ours, 180 nm", "ours, at 90 nm")
    ours, way, whole = rows["radix-16 unit"], rows["radix-16 unit, thesis"], rows["768-Kbit multiplier"]
    line("radix-16 unit, mm2", "2.2", show(ours.area, 2), show(ours.scaled_area, 2))
    line("the same in the thesis's way, mm2", "2.2", show(way.area, 2), show(way.scaled_area, 2))
    # Memories 34.24 and 4.63 of 45.3 mm2 (section 5.6).
    line("multiplier, logic, mm2", show(45.3 - 34.24 - 4.63, 1), show(whole.area, 1), show(whole.scaled_area, 1))
    line("multiplier with its memories, mm2", "45.3", "-", "-")
    line("written memory, bits and ports", "8 388 608, 64", "9 961 472, 96", "9 961 472, 96")
    line("tables, bits", "7 864 320", "2 097 152", "2 097 152")
    line("period of the radix-16 unit, ns", "5.0", show(ours.period, 2), show(ours.scaled_period, 2))
    line("period of the multiplier, ns", "5.0", show(whole.period, 2), show(whole.scaled_period, 2))
    print(
        f"Our radix-16 unit beside one in the thesis's way, same cells and tools: area {100 * ours.area / way.area:.0f} %, "
        f"period {100 * ours.period / way.period:.0f} %"
    )


def table_5_2(fpga):
    print("\nTable 5.2: 768-Kbit multiplier on FPGAs")
    line("", "thesis, Stratix V", "Xilinx 7", "ECP5")
    xilinx, ecp5 = (fpga[("768-Kbit multiplier", family)] for family in ["xc7", "ecp5"])
    line("LUTs (ALUTs)", "243 402", show(xilinx["luts"], 0), show(ecp5["luts"], 0))
    line("registers", "245 257", show(xilinx["flip_flops"], 0), show(ecp5["flip_flops"], 0))
    line("multipliers (DSP blocks)", "288", show(xilinx["multipliers"], 0), show(ecp5["multipliers"], 0))
    line("block memories (bits)", "8 912 896 bits", blocks(xilinx), blocks(ecp5))


def blocks(row):
    halves = row["half_block_memories"]
    return show(row["block_memories"], 0) + (f" + {halves} halves" if halves else "")


def table_5_3(rows):
    print("\nTable 5.3: time of a 768-Kbit product, ms")
    whole = rows["768-Kbit multiplier"]
    for name, time in [
        ("Xeon X5650 with GMP (thesis)", 6),
        ("Tesla C2050 (thesis)", 0.42),
        ("multiplier of the thesis, 200 MHz", 0.206),
        ("ours at 200 MHz, one product", ONE * 5e-6),
        ("ours at 200 MHz, in a stream", STREAM * 5e-6),
        ("ours at its period at 180 nm, in a stream", STREAM * whole.period * 1e-6),
        ("ours scaled to 90 nm, one product", ONE * whole.scaled_period * 1e-6),
        ("ours scaled to 90 nm, in a stream", STREAM * whole.scaled_period * 1e-6),
    ]:
        line(name, show(time, 3), f"{6 / time:.0f} times")


def table_7_1(fpga):
    print("\nTable 7.1: modular multiplier on FPGAs; ours with the exponentiator around it and its ports")
    line("", "thesis, Stratix V", "Xilinx 7", "ECP5")
    columns = [fpga[("12288-bit exponentiator", family)] for family in ("xc7", "ecp5")]
    line("LUTs (ALUTs)", "213 677", *(show(row["luts"], 0) for row in columns))
    line("LUTs that are memories", "-", *(show(row["lut_memories"], 0) for row in columns))
    line("registers", "89 007", *(show(row["flip_flops"], 0) for row in columns))
    line("multipliers (DSP blocks)", "72", *(show(row["multipliers"], 0) for row in columns))
    line("block memories (bits)", "483 328 bits", *(blocks(row) for row in columns))
    line("cycles of a product", FULL, FULL, FULL)
    line("cycles of a fast product", FAST, FAST, FAST)


def table_7_2(rows):
    print("\nTable 7.2: 12 288-bit modular multiplier in standard cells; ours with the exponentiator around it and its ports")
    line("", "thesis, 90 nm", "ours, 180 nm", "ours, at 90 nm")
    row = rows["12288-bit exponentiator"]
    line("logic, mm2", "-", show(row.area, 1), show(row.scaled_area, 2))
    line("chip with its memories, mm2", "11.7", "-", "-")
    # X, Y and the transforms of M' and M; T and R - M in digits; eight tables of 1024 words.
    written, tables = show(4 * 1024 * 64 + 2 * 1024 * 24, 0), show(8 * 1024 * 64, 0)
    line("written memory, bits", "-", written, written)
    line("written memory, banks with two ports", "-", 6 * 32, 6 * 32)
    line("tables, bits", "-", tables, tables)
    line("period, ns", "3.1", show(row.period, 2), show(row.scaled_period, 2))


def table_7_3(rows):
    print("\nTable 7.3: time of a fast product and of the longest power, throughput; ours scaled to 90 nm")
    line("", "product, us", "power, s", "Kbit/s", "ours: product", "power", "Kbit/s")
    for bits, power in [(8192, 0.104), (12288, 0.156)]:
        product = FAST * rows["12288-bit exponentiator"].scaled_period / 1000
        longest = 2 * bits * product / 1e6
        line(f"{bits} bits", "6.34", power, "78.8", show(product, 2), show(longest, 3), show(bits / longest / 1000, 1))


def table_7_4(rows):
    print("\nTable 7.4: bit products per gate and second by equation 7.4, (2 M^2 + M) / (gates seconds), M = 12 288")
    line("", "K gates", "period, ns", "K products/s", "M bit products")
    row = rows["12288-bit exponentiator"]
    work = 2 * 12288**2 + 12288
    for name, gates, period in [
        ("thesis, 90 nm, with memories", 5300, 3.1),
        ("ours, 180 nm, logic only", row.gates, row.period),
        ("ours, at 90 nm, logic only", row.gates, row.scaled_period),
    ]:
        rate = 1e9 / (FAST * period)
        line(name, show(gates, 0), show(period, 2), show(rate / 1000, 1), show(work * rate / (gates * 1000) / 1e6, 1))
    print("A gate is a NAND2X1. The thesis prints 18.0 M, twice what the equation gives.")
