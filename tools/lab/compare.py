#!/usr/bin/env python3
"""Runs `modmill bench` of two builds in turn and prints their speeds side by side.

    python3 tools/lab/compare.py --backend cpu  OLD/modmill NEW/modmill
    python3 tools/lab/compare.py --backend cuda OLD/modmill NEW/modmill
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

# Operations, bits, and options that go with them.
POINTS = {
    "cpu": [
        ("pow", "1024,2048,4096", ["--batch", "64"]),
        ("rsa_sign", "2048,4096", ["--batch", "64"]),
        ("mul", "786432,16777216", ["--batch", "1"]),
    ],
    "cuda": [
        ("pow", "1024,2048,4096", []),
        ("pow", "1024,2048", ["--shared-modulus"]),
        ("rsa_sign", "2048,4096", []),
        ("mul", "786432,16777216", []),
        ("mul_mod_chain", "256,1024", []),
    ],
}
OPTIONS = {"cpu": ["--threads", "1", "--seconds", "1.5"], "cuda": ["--seconds", "0.3"]}


def records(program, backend, point):
    """The results of one point, as (operation with its options, bits) and the record."""
    op, bits, options = point
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "records.json"
        command = [program, "bench", "--backend", backend, "--ops", op, "--bits", bits, "--algorithm", "auto"]
        command += ["--peers=none", "--json", str(file), *OPTIONS[backend], *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = [record for record in json.loads(file.read_text()) if record.get("ops_per_s")]
    if not all(record["verified"] for record in found):
        raise SystemExit(f"wrong answers: {' '.join(command)}")
    name = f"{op} --shared-modulus" if "--shared-modulus" in options else op
    return [((name, record["bits"]), record) for record in found]


def speeds_of(record, backend):
    """Operations a second: in kernels and end to end on GPUs, end to end on CPUs."""
    end_to_end = record["ops_per_s"]
    return (record["kernel_ops_per_s"], end_to_end) if backend == "cuda" else (end_to_end,)


def shown(values):
    """Figures in a cell; those end to end on a GPU in brackets."""
    first, *rest = [f"{value:.4g}" for value in values]
    return f"{first} ({rest[0]})" if rest else first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=POINTS, default="cpu")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("old")
    parser.add_argument("new")
    arguments = parser.parse_args()
    backend = arguments.backend
    speeds = {}
    for _ in range(arguments.turns):
        for side, program in (("old", arguments.old), ("new", arguments.new)):
            for point in POINTS[backend]:
                for key, record in records(program, backend, point):
                    speeds.setdefault(key, {}).setdefault(side, []).append(speeds_of(record, backend))
    # On a CPU other work only takes time, so that the best turn tells the most.
    summary = max if backend == "cpu" else statistics.median
    print("| operation | bits | before, /s | after, /s | ratio |\n|---|---|---|---|---|")
    for (op, bits), sides in speeds.items():
        old, new = ([summary(values) for values in zip(*sides[side])] for side in ("old", "new"))
        ratios = [after / before for before, after in zip(old, new)]
        print(f"| `{op}` | {bits} | {shown(old)} | {shown(new)} | {shown(ratios)} |")


if __name__ == "__main__":
    main()
