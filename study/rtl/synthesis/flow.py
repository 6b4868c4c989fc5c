"""Runs Yosys, ABC and OpenSTA on a unit, for standard cells and for FPGAs."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
OSU = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
MEMORIES = ["machine/modmill_bank.sv", "machine/modmill_table.sv"]


def sources():
    """All files of the RTL, each before those that use it, and the tops for synthesis."""
    lists = ["modmill_multiplier.f", "modmill_exponentiator.f"]
    names = [name for file in lists for name in (RTL / file).read_text().split()]
    names += ["thesis/thesis_sum16.sv", "thesis/thesis_radix16.sv", "synthesis/synthesis_tops.sv"]
    return list(dict.fromkeys(names))


def run(command, log):
    """Runs a command, keeps what it prints in `log` and returns it; an error ends the program."""
    # In the folder of the table, whose name is a parameter of the units.
    with log.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, cwd=RTL / "tables")
    text = log.read_text()
    if done.returncode != 0 or re.search(r"^\s*(ERROR|Error)\b", text, re.M) or "rror:" in text:
        sys.exit(f"synthesise: {command[0]} failed, see {log}:\n{text[-2000:]}")
    return text


def yosys(lines, folder, name):
    path = folder / f"{name}.ys"
    path.write_text("\n".join(lines) + "\n")
    return run(["yosys", "-Q", "-s", str(path)], folder / f"{name}.log")


def kept(path, resume, script, make):
    """The figures in the file `path` if they were made from the same sources by the same `script`, and `resume` is set; otherwise those that `make` makes, which
    are then kept there."""
    names = [*sources(), "synthesis/adders.v", "synthesis/memory_ports.sv"]
    if not any("modmill_modular" in line or "exponentiator" in line for line in script if line.startswith("hierarchy")):
        names = [name for name in names if not name.startswith("modular/")]
    texts = [(RTL / name).read_text() for name in names]
    digest = hashlib.sha256("\0".join([*script, *texts]).encode()).hexdigest()
    if resume and path.exists():
        old = json.loads(path.read_text())
        if old["digest"] == digest:
            return old["row"]
    row = make()
    path.write_text(json.dumps({"digest": digest, "row": row}) + "\n")
    return row


def hierarchy(top, parameters):
    chosen = " ".join(f"-chparam {name} {value}" for name, value in parameters.items())
    return f"hierarchy -check -top {top} {chosen}"


def slug_of(name):
    """A unit's name as the name of a file."""
    return re.sub(r"\W+", "-", name)


def counted(text):
    """How often each cell occurs, by the last statistics in Yosys's output."""
    last = text[text.rindex("Number of cells") :]
    return {cell: int(count) for cell, count in re.findall(r"^ {5,}(\S+) +(\d+)$", last, re.M)}


def cell_area(liberty, cell):
    """The area of a cell of the library, in square micrometres, or None if it has no such cell."""
    found = re.search(rf"cell \({re.escape(cell)}\) \{{.*?\barea : ([0-9.]+)", liberty.read_text(), re.S)
    return float(found.group(1)) if found else None


def gated(folder):
    """Copies of the sources in which every register takes a value in every cycle: in silicon a clock gate takes the place of `enable`. Memories
    are their ports only."""
    copies = folder / "sources"
    copies.mkdir(exist_ok=True)
    paths = [RTL / "synthesis/memory_ports.sv"]
    for name in sources():
        if name in MEMORIES:
            continue
        copy = copies / Path(name).name
        copy.write_text((RTL / name).read_text().replace("if (enable)", "if (1'b1)"))
        paths.append(copy)
    return paths


def to_cells(name, unit, liberty, period, driver, folder, resume):
    """Area of the logic in square micrometres, cells, flip-flops and the period in ns. `unit` is the top module, its parameters and the modules whose copies are
    mapped one by one: a whole unit would take ABC too long."""
    top, parameters, apart = unit
    slug = slug_of(name)
    netlist = folder / f"{slug}.v"
    # ABC's own script restructures the adders for area and makes carries ripple; this one keeps them, sizes the cells and adds buffers. Nor does it look for
    # equal functions (`ifraig`), which turns the parallel prefixes of an increment into a chain.
    abc = folder / f"{slug}.abc"
    abc.write_text(f"strash\n&get -n\n&nf -D {period}\n&put\nbuffer -c -p\ntopo\nupsize -D {period}\ndnsize -D {period}\n")
    # The cell that drives the logic: ABC sees a flip-flop's output as an input of its own, and buffers it only if it knows the strength.
    drive = folder / f"{slug}.drive"
    drive.write_text(f"set_driving_cell {driver}\nset_load 20\n")
    lines = ["read_verilog -sv " + " ".join(str(path) for path in gated(folder)), hierarchy(top, parameters)]
    lines += [f"setattr -mod -set keep_hierarchy 1 A:hdlname={module} *{module}*" for module in apart]
    lines += [
        # Yosys's `synth` without what finds nothing here: memories, state machines, shared operators.
        "proc; flatten; opt_expr; opt_clean; wreduce; peepopt; opt_clean; alumacc; opt",
        f"techmap -max_iter 1 t:$alu; techmap -map {RTL / 'synthesis/adders.v'} t:$lcu; techmap; opt -fast",
        f"dfflibmap -liberty {liberty}",
        f"abc -liberty {liberty} -constr {drive} -script {abc}",
        "opt_clean -purge",
        "splitnets",
        "opt_clean -purge",
        f"write_verilog -noattr -noexpr -nohex {netlist}",
        "blackbox A:memory_ports",
        f"stat -liberty {liberty} -top {top}",
    ]
    script = [*lines, abc.read_text(), drive.read_text(), liberty.read_text()]
    return kept(folder / f"{slug}.json", resume, script, lambda: mapped(name, slug, top, lines, liberty, netlist, folder))


def mapped(name, slug, top, lines, liberty, netlist, folder):
    """Runs the script `lines` and times the netlist that it writes."""
    counts = counted(yosys(lines, folder, slug))
    areas = {cell: cell_area(liberty, cell) for cell in counts}
    used = {cell: count for cell, count in counts.items() if areas[cell]}
    return {
        "name": name,
        "area_um2": sum(count * areas[cell] for cell, count in used.items()),
        "cells": sum(used.values()),
        "flip_flops": sum(count for cell, count in used.items() if cell.startswith("DFF")),
        "period_ns": timed(name, slug, top, liberty, netlist, folder),
    }


def single_assignments(netlist):
    """Writes assignments to lists of nets as assignments to single ones: OpenSTA takes no others. Yosys splits nets, but not the ports of modules."""
    widths = {}
    lines = []
    for line in netlist.read_text().splitlines():
        declared = re.match(r" *(?:input|output|wire) (?:\[(\d+):0\] )?(\S+?) ?;", line)
        if declared:
            widths[declared.group(2)] = int(declared.group(1) or 0) + 1
        elif line.startswith("module "):
            widths = {}
        listed = re.match(r" *assign (\{.*\}) = (.*);", line)
        if listed:
            left, right = (bits_of(side, widths) for side in listed.groups())
            if len(left) != len(right):
                sys.exit(f"synthesise: {netlist} has an assignment of {len(right)} bits to {len(left)}")
            lines += [f"  assign {to} = {bit};" for to, bit in zip(left, right)]
        else:
            lines.append(line)
    netlist.write_text("\n".join(lines) + "\n")


def bits_of(side, widths):
    """The bits of one side of an assignment, the first one first."""
    bits = []
    for constant, name, first, last in re.findall(r"\d+'b([01xz]+)|(\\\S+|[A-Za-z_]\w*)(?: ?\[(\d+)(?::(\d+))?\])?", side):
        if constant:
            bits += [f"1'b{bit}" for bit in constant]
            continue
        high = int(first) if first else widths[name] - 1
        low = int(last) if last else high if first else 0
        bits += [f"{name} [{place}]" for place in range(high, low - 1, -1)] if first or widths[name] > 1 else [f"{name} "]
    return bits


def timed(name, slug, top, liberty, netlist, folder):
    """The longest path from flip-flop to flip-flop, by OpenSTA."""
    single_assignments(netlist)
    script = folder / f"{slug}.tcl"
    script.write_text(
        f"read_liberty {liberty}\nread_verilog {netlist}\nlink_design {top}\n"
        "create_clock -name clk -period 100 [get_ports clk]\nreport_checks -path_delay max -digits 4\nexit\n"
    )
    timing = run(["sta", "-exit", str(script)], folder / f"{slug}.sta.log")
    slack = re.findall(r"^\s*([0-9.]+)\s+slack \(MET\)", timing, re.M)
    if not slack or "arning" in timing:
        sys.exit(f"synthesise: {name} was not timed, see {folder / slug}.sta.log")
    return round(100 - float(slack[0]), 3)


def to_fpga(name, unit, family, folder, resume):
    """The counts of the primitives that matter, module by module, added up."""
    top, parameters = unit
    lines = ["read_verilog -sv " + " ".join(str(RTL / path) for path in sources()), hierarchy(top, parameters)]
    # The steps after the mapping give every cell a name from its nets, which takes minutes for a whole machine.
    lines.append("synth_xilinx -family xc7 -noiopad" if family == "xc7" else "synth_ecp5 -noflatten -run :check")
    lines.append(f"stat -top {top}")
    slug = f"{family}-{slug_of(name)}"
    return kept(folder / f"{slug}.json", resume, lines, lambda: mapped_to_fpga(name, family, slug, lines, folder))


def mapped_to_fpga(name, family, slug, lines, folder):
    """Runs the script `lines` and counts."""
    counts = counted(yosys(lines, folder, slug))

    def total(pattern):
        return sum(count for cell, count in counts.items() if re.fullmatch(pattern, cell))

    return {
        "name": name,
        "family": family,
        "luts": total(r"LUT[1-6]"),
        "lut_memories": total(r"RAM\d+\w*|TRELLIS_DPR16X4"),
        "carries": total(r"CARRY4|CCU2C"),
        "flip_flops": total(r"FD\w+|TRELLIS_FF"),
        "multipliers": total(r"DSP48E1|MULT18X18D"),
        "block_memories": total(r"RAMB36E1|DP16KD"),
        "half_block_memories": total(r"RAMB18E1"),
    }
