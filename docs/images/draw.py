#!/usr/bin/env python3
"""Writes the pictures of docs/inside/architecture.md (crates.svg, flow.svg), the diagrams of docs/use/hardware.md,
and the plot of the table of powers in docs/notebook/benchmarks.md (pow-h200.svg).

Run `python3 docs/images/draw.py` after a change of the text below; it needs the standard library alone.
"""

import math
import re
from html import escape
from pathlib import Path

INK, MUTED, LINE = "#1f2933", "#52606d", "#52606d"
FACADE, BACKEND, TYPES, PROGRAM, TESTS = "#dbeafe", "#dcfce7", "#f3f4f6", "#fef3c7", "#fae8ff"


class Picture:
    """Boxes and arrows on a white sheet. Coordinates are pixels, y grows downwards."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def box(self, x, y, width, height, fill, title, *lines):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{LINE}"/>'
        )
        middle, step = x + width / 2, 17
        first = y + height / 2 - step * len(lines) / 2 + 5
        self.text(middle, first, title, weight="600", size=15)
        for index, line in enumerate(lines, 1):
            self.text(middle, first + step * index, line, color=MUTED)

    def group(self, x, y, width, height, name):
        """A frame around boxes, with the name of their folder in its upper left corner."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="#fafafa" stroke="#cbd2d9" stroke-dasharray="3 3"/>'
        )
        self.text(x + 14, y + 20, f"{name}/", color=MUTED, weight="600", size=13, anchor="start")

    def text(self, x, y, text, color=INK, weight="400", size=12.5, anchor="middle"):
        self.parts.append(
            f'<text x="{x}" y="{y}" fill="{color}" font-size="{size}" font-weight="{weight}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def arrow(self, *points, dashed=False):
        path = " ".join(f"{x},{y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.5"{dash} marker-end="url(#tip)"/>'
        )

    def save(self, name):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="Helvetica, Arial, sans-serif" role="img">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>\n'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n'
        )
        Path(__file__).with_name(name).write_text(head + "\n".join(self.parts) + "\n</svg>\n")


def crates():
    """Every crate of the workspace in its folder; an arrow leads from a group to one that it uses."""
    picture = Picture(1010, 850, "The crates of modmill in their folders, and which group uses which")
    picture.box(30, 50, 209, 60, PROGRAM, "python/", "Python package")
    picture.group(267, 20, 713, 104, "doors")
    for x, name, purpose in [(282, "cli", "the program"), (519, "openssl", "OpenSSL provider"), (756, "pkcs11", "PKCS#11 module")]:
        picture.box(x, 50, 209, 60, PROGRAM, name, purpose)
    picture.group(30, 164, 620, 104, "service")
    for x, name, purpose in [(41, "load", "load generator"), (162, "server", "signing service"), (283, "records", "kept, sealed"),
                             (404, "client", "ways to sign"), (525, "gather", "batches")]:
        picture.box(x, 194, 113, 60, PROGRAM, name, purpose)
    picture.group(690, 164, 290, 104, "tools")
    picture.box(705, 194, 124, 60, TESTS, "measure", "bench, reports")
    picture.box(842, 194, 124, 60, TESTS, "xtask", "releases, bundles")
    picture.group(30, 308, 370, 104, "schemes")
    for x, name, purpose in [(39, "rsa", "paddings"), (111, "ec", "curves"), (183, "paillier", "sums"), (255, "psi", "matches"),
                             (327, "audit", "weak keys")]:
        picture.box(x, 338, 66, 60, FACADE, name, purpose)
    picture.group(430, 308, 314, 104, "formats")
    for x, name, purpose in [(441, "container", "checked files"), (541, "seal", "secrets on disk"), (641, "tables", "Arrow, Parquet")]:
        picture.box(x, 338, 92, 60, TYPES, name, purpose)
    picture.group(774, 308, 206, 104, "study")
    picture.box(785, 338, 90, 60, FACADE, "fhe", "encrypted bits")
    picture.box(881, 338, 90, 60, FACADE, "hardware", "multipliers")
    picture.group(30, 452, 950, 336, "engine")
    picture.box(45, 482, 150, 60, FACADE, "primes", "random primes")
    picture.box(235, 482, 540, 60, FACADE, "modmill", "the facade: Engine, its operations, sorting by modulus")
    picture.box(235, 598, 250, 60, BACKEND, "cpu", "portable, AVX2 and AVX-512 kernels")
    picture.box(525, 598, 250, 60, BACKEND, "cuda", "devices, one pipeline, CUDA kernels")
    picture.box(235, 714, 540, 60, TYPES, "core", "batches, moduli, requests, plans, errors")
    picture.box(815, 482, 150, 292, TESTS, "testing", "one suite for every path", "oracle, hard inputs", "timing", "",
                "used by tests and", "by modmill selftest")
    for x, top, bottom in [
        (340, 124, 164), (760, 124, 164),  # doors to the service and the tools
        (215, 268, 308), (540, 268, 308), (877, 268, 308),  # the service and the tools to what is below
        (120, 412, 482), (315, 412, 482), (800, 412, 452),  # schemes and study to the engine
        (360, 542, 598), (650, 542, 598),  # the facade to its backends
        (360, 658, 714), (650, 658, 714),
    ]:
        picture.arrow((x, top), (x, bottom - 2))
    picture.arrow((30, 80), (12, 80), (12, 360), (28, 360))  # the Python package to the schemes
    picture.arrow((400, 360), (428, 360))
    picture.arrow((774, 360), (746, 360))
    picture.arrow((195, 512), (233, 512))
    picture.arrow((815, 512), (777, 512))
    picture.text(505, 814, "A crate uses crates of its own row and of the rows below. Only testing also uses one above it, rsa.", color=MUTED)
    picture.text(505, 834, "Outside of the workspace: tools/fuzz. Not crates: study/rtl, tools/lab.", color=MUTED)
    picture.save("crates.svg")


def flow():
    """The way of a batch from a call of the engine to a kernel and back."""
    picture = Picture(860, 872, "The flow of a batch from Engine::pow to a kernel and back")
    picture.box(190, 20, 480, 62, FACADE, "Engine::pow", "checks lengths and widths of the operands")
    picture.box(190, 118, 480, 62, FACADE, "Groups by modulus", "0 is an error, 1 needs no work; odd moduli by number of limbs")
    picture.box(190, 216, 480, 62, TYPES, "One Request per group", "operation, bits, exponent bits, count, moduli, secrecy, place")
    picture.box(60, 314, 340, 62, BACKEND, "Plan of the CPU", "plan(&Request) -> Option<Plan>")
    picture.box(460, 314, 340, 62, BACKEND, "Plan of the GPUs", "plan(&Request) -> Option<Plan>")
    picture.box(190, 412, 480, 62, FACADE, "The engine compares once", "the Plan with fewer seconds runs; ask() answers with that Plan")
    picture.box(60, 510, 340, 62, BACKEND, "Path on the CPU", "groups of lanes, spread over all threads")
    picture.box(460, 510, 340, 62, BACKEND, "Device pipeline", "chunk by chunk: gather, launch, scatter")
    picture.box(60, 608, 340, 62, BACKEND, "Kernel on the CPU", "Montgomery products: Rust, AVX2, AVX-512")
    picture.box(460, 608, 340, 62, BACKEND, "Kernels of the family", "CUDA C++, compiled for this size and device")
    picture.box(190, 706, 480, 62, FACADE, "Answers by index", "joined with the part modulo 2^k where a modulus is even")
    picture.box(190, 794, 480, 58, FACADE, "Batch, or Error::Items", "in the order of the call; failed items named")
    picture.arrow((430, 82), (430, 116))
    picture.arrow((430, 180), (430, 214))
    picture.arrow((430, 768), (430, 792))
    for x in (300, 560):
        picture.arrow((x, 278), (x, 312))
        picture.arrow((x, 376), (x, 410))
        picture.arrow((x, 474), (x, 508))
        picture.arrow((x, 670), (x, 704))
    for x in (230, 630):
        picture.arrow((x, 572), (x, 606))
    # Even moduli: the odd part takes the same way, the power of two a short one beside it.
    picture.arrow((670, 149), (832, 149), (832, 737), (672, 737), dashed=True)
    picture.text(752, 141, "even N = m 2^k:", color=MUTED)
    picture.text(752, 165, "m stays in the flow,", color=MUTED)
    picture.text(752, 181, "2^k goes apart", color=MUTED)
    picture.save("flow.svg")


def hardware_multiplier():
    """The improved multiplier: memories, units and the ways between them."""
    picture = Picture(900, 700, "The improved 768-Kbit multiplier")
    columns = [(40, "a", "0", "A"), (600, "b", "1", "B")]
    for x, operand, unit, memory in columns:
        picture.text(x + 130, 28, f"s_axis_{operand}: 384 bits, 2048 beats", color=MUTED)
        picture.arrow((x + 130, 36), (x + 130, 58))
        picture.box(x, 60, 260, 62, TYPES, f"Input buffer {operand}", "16 banks x 2048 x 24 bits")
        picture.box(x, 166, 260, 44, TYPES, "Interchange")
        picture.box(x, 246, 260, 62, BACKEND, f"Radix-16 unit {unit}", "16 sums of 16 rotated words")
        picture.box(x, 344, 260, 62, BACKEND, "16 modular multipliers", "pipelined, canonical results")
        picture.box(x, 442, 260, 44, TYPES, "Interchange")
        picture.box(x, 522, 260, 62, FACADE, f"Memory {memory}", "16 banks x 4096 x 64 bits")
        for top, bottom in [(122, 166), (210, 246), (308, 344), (406, 442), (486, 522)]:
            picture.arrow((x + 130, top), (x + 130, bottom - 2))
        # From the memory back to the unit.
        side = x - 20 if unit == "0" else x + 280
        edge = x if unit == "0" else x + 260
        inside = edge - 2 if unit == "0" else edge + 2
        picture.arrow((edge, 553), (side, 553), (side, 188), (inside, 188))
    picture.box(345, 60, 210, 106, PROGRAM, "Control", "stage, step, parity", "addresses, exponents", "enable")
    picture.box(345, 246, 210, 62, TYPES, "Twiddle tables", "32 lanes x 1024 x 64 bits")
    picture.arrow((450, 308), (450, 375), (302, 375))
    picture.arrow((450, 308), (450, 375), (598, 375))
    picture.arrow((450, 166), (450, 244), dashed=True)
    picture.text(482, 338, "factors", color=MUTED)
    picture.text(450, 430, "F4: products of the two", color=MUTED)
    picture.text(450, 446, "units go to A or B", color=MUTED)
    picture.arrow((302, 464), (598, 464))
    picture.arrow((598, 474), (302, 474))
    picture.text(450, 494, "I4: halves of a group", color=MUTED)
    picture.text(450, 510, "come from both memories", color=MUTED)
    picture.box(320, 610, 260, 62, BACKEND, "Carry resolver", "16 digits a cycle, look-ahead")
    picture.arrow((170, 584), (170, 641), (318, 641))
    picture.arrow((730, 584), (730, 630), (582, 630))
    picture.arrow((580, 655), (640, 655))
    picture.text(650, 659, "m_axis: 384 bits, 4096 beats", color=MUTED, anchor="start")
    picture.save("hardware-multiplier.svg")


def hardware_crossing():
    """The stage that crosses the memories: every bank is read once."""
    picture = Picture(860, 330, "The last inverse stage reads every bank of both memories once")
    for x, memory in [(40, "A"), (440, "B")]:
        picture.text(x + 190, 30, f"memory {memory}, banks rotated by s", weight="600", size=14)
        for bank in range(16):
            own = (bank < 8) == (memory == "A")
            fill = FACADE if own else PROGRAM
            left = x + 24 * bank
            picture.parts.append(
                f'<rect x="{left}" y="44" width="22" height="30" fill="{fill}" stroke="{LINE}"/>'
            )
            picture.text(left + 11, 64, str(bank), size=11)
    picture.box(120, 210, 240, 80, FACADE, "Unit 0", "group with sum of digits s", "lanes 0-7 from A, 8-15 from B")
    picture.box(500, 210, 240, 80, PROGRAM, "Unit 1", "group with sum s + 8", "lanes 0-7 from A, 8-15 from B")
    picture.arrow((135, 76), (180, 208))
    picture.arrow((327, 76), (560, 208))
    picture.arrow((535, 76), (680, 208))
    picture.arrow((727, 76), (300, 208))
    picture.text(430, 316, "The two groups differ in the top bit of digit n2, which moves their banks by 8.", color=MUTED)
    picture.save("hardware-crossing.svg")


def hardware_modular():
    """Chapter 7's modular multiplier."""
    picture = Picture(860, 470, "The modular multiplier of chapter 7")
    picture.box(40, 30, 220, 62, FACADE, "Memory X", "32 banks x 32 x 64 bits")
    picture.box(320, 30, 220, 62, FACADE, "Memory Y", "32 banks x 32 x 64 bits")
    picture.box(600, 30, 220, 62, FACADE, "FFT(M'), FFT(M)", "single port, written once")
    picture.box(40, 140, 220, 62, BACKEND, "Radix-16 unit", "4 cycles for 32 points")
    picture.box(320, 140, 500, 62, BACKEND, "8 modular multipliers", "twiddle factors, or the transform of the other factor")
    picture.box(40, 260, 780, 62, BACKEND, "Carry resolver and adder", "32 digits a cycle: resolve T, U and W, add T + W, subtract M")
    picture.box(40, 380, 220, 62, FACADE, "Memory T", "32 banks x 32 x 24 bits")
    picture.box(600, 380, 220, 62, FACADE, "R - M", "digits, written once")
    picture.arrow((150, 92), (150, 138))
    picture.arrow((260, 171), (318, 171))
    for x in (430, 710):
        picture.arrow((x, 92), (x, 138))
    # Results of a stage go back to X or Y.
    picture.arrow((570, 140), (570, 116), (220, 116), (220, 94))
    picture.arrow((370, 116), (370, 94))
    # Sums go to the resolver, digits back to X.
    picture.arrow((40, 61), (20, 61), (20, 280), (38, 280))
    picture.arrow((820, 291), (840, 291), (840, 14), (100, 14), (100, 28))
    picture.arrow((120, 322), (120, 378))
    picture.arrow((190, 378), (190, 324))
    picture.arrow((710, 378), (710, 324))
    picture.save("hardware-modular.svg")


def number(cell):
    """The number in a cell of a table, `1.3 to 1.4 M` or `4 940`, or None. Of a range it is the middle."""
    scale = {"k": 1e3, "M": 1e6}.get(cell.strip()[-1:], 1)
    values = [float(part.replace(" ", "")) for part in re.findall(r"\d[\d ]*(?:\.\d+)?", cell)]
    return scale * sum(values) / len(values) if values else None


def powers():
    """Powers a second against bits, from the table of docs/notebook/benchmarks.md."""
    text = (Path(__file__).parents[1] / "notebook/benchmarks.md").read_text()
    table = text[text.index("| bits | batch | family | in kernels /s |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    series = [
        ("one modulus", "#15803d", 5),
        ("a modulus for each item", "#1d4ed8", 3),
        ("CGBN, not constant-time", "#b45309", 6),
    ]
    picture = Picture(760, 460, "Powers per second on one H200 against bits of modulus and exponent")
    left, right, top, bottom, least, most = 80, 560, 24, 400, 3e3, 4e7

    def place(bits, rate):
        x = left + (right - left) * math.log2(bits / 512) / 4
        return round(x, 1), round(bottom - (bottom - top) * math.log(rate / least) / math.log(most / least), 1)

    for rate, name in [(1e4, "10 k"), (1e5, "100 k"), (1e6, "1 M"), (1e7, "10 M")]:
        y = place(512, rate)[1]
        picture.parts.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="#e5e7eb"/>')
        picture.text(left - 8, y + 4, name, anchor="end")
    for bits in [512, 1024, 1536, 2048, 3072, 4096, 8192]:
        x = place(bits, least)[0]
        picture.parts.append(f'<line x1="{x}" x2="{x}" y1="{top}" y2="{bottom}" stroke="#f3f4f6"/>')
        picture.text(x, bottom + 18, str(bits))
    picture.text((left + right) / 2, bottom + 42, "bits of modulus and exponent; powers a second", color=MUTED)
    for name, color, column in series:
        rates = [(int(row[0]), number(row[column])) for row in rows if 512 <= int(row[0]) <= 8192]
        points = [place(bits, rate) for bits, rate in rates if rate]
        path = " ".join(f"{x},{y}" for x, y in points)
        picture.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        picture.parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{color}"/>' for x, y in points]
        x, y = points[-1]
        picture.text(x + 10, y + {3: 14}.get(column, 2), name, color=color, anchor="start")
    picture.save("pow-h200.svg")


if __name__ == "__main__":
    powers()
    crates()
    flow()
    hardware_multiplier()
    hardware_crossing()
    hardware_modular()
