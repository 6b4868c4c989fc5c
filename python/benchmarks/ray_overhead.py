"""What Ray costs: CPU seconds of a million rows over the bare engine, and one worker against two.

    python benchmarks/ray_overhead.py [--rows 200000] [--rounds 3]
    python benchmarks/ray_overhead.py --scaling [--rows 40000]

The first computes the same cheap powers of rows of 2048 bits three times: by the bare engine over Parquet files, by
`modmill.ray.powmod` over a dataset, and by `modmill.ray.powmod_files`. CPU seconds are those of this process and of all processes of
Ray, from before to after a job; a small job goes first, so that the start of Ray does not count. What all of them take over the bare
engine is scaled to a million rows. The second computes full powers of 2048 bits with one worker and with two, each with one thread,
and prints the ratio of the rates. Needs Ray, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

# Workers compete with other programs on equal terms.
os.environ.setdefault("RAY_worker_niceness", "0")

import pyarrow as pa
import pyarrow.parquet as pq
import ray

import modmill.ray
from modmill import tables

BITS = 2048
MODULUS = 2**BITS - 1942289
FILES = 8
TICK = os.sysconf("SC_CLK_TCK")


def write(folder: Path, rows: int) -> None:
    folder.mkdir()
    part = rows // FILES
    for index in range(FILES):
        octets = pa.py_buffer(secrets.token_bytes(part * BITS // 8))
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(BITS // 8), part, [None, octets])
        pq.write_table(pa.table({"id": range(index * part, index * part + part), "number": column}), folder / f"{index}.parquet")


def cpu_seconds() -> float:
    """The CPU time so far of this process and of all that it started, by Linux's own account."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            # Time of its own, and of children that have ended.
            ticks[int(entry.name)] = sum(int(field) for field in fields[11:15])
    family, found = {os.getpid()}, True
    while found:
        found = {process for process, parent in parents.items() if parent in family} - family
        family |= found
    return sum(ticks[process] for process in family if process in ticks) / TICK


def bare(source: Path, exp: int) -> None:
    step = tables.Powmod(base="number", exp=exp, mod=MODULUS, engine=modmill.Engine(backend="cpu", threads=1))
    for path in sorted(source.iterdir()):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=4096):
            step(pa.Table.from_batches([batch]))


def dataset(source: Path, exp: int, **options: Any) -> None:
    # Ray makes one block of little data, which would be the work of one actor.
    ds = ray.data.read_parquet(str(source)).repartition(2 * FILES)
    ds = modmill.ray.powmod(ds, base="number", exp=exp, mod=MODULUS, **options)
    for _ in ds.iter_internal_ref_bundles():
        pass


def files(source: Path, exp: int, **options: Any) -> None:
    target = source.with_name("answers")
    modmill.ray.powmod_files(source, target, base="number", exp=exp, mod=MODULUS, mode="replace", **options)


def overhead(folder: Path, rows: int, rounds: int) -> None:
    write(folder / "small", 800)
    write(folder / "rows", rows)
    ways = {"bare engine": bare, "dataset": dataset, "files": files}
    best: dict[str, float] = {}
    for name, compute in ways.items():
        compute(folder / "small", 3)
    for _ in range(rounds):
        for name, compute in ways.items():
            before = cpu_seconds()
            compute(folder / "rows", 3)
            best[name] = min(best.get(name, float("inf")), cpu_seconds() - before)
    print("| way | CPU seconds a million rows | over the bare engine |")
    print("|---|---|---|")
    for name, seconds in best.items():
        million, over = (1e6 / rows * value for value in (seconds, seconds - best["bare engine"]))
        print(f"| {name} | {million:.1f} | {over:.1f} |")


def scaling(folder: Path, rows: int, rounds: int) -> None:
    write(folder / "rows", rows)
    best: dict[int, float] = {}
    for _ in range(rounds):
        for workers in (1, 2):
            started = time.perf_counter()
            # Workers take less than a CPU each, so that the reader has room.
            dataset(folder / "rows", 2**BITS - 1, num_cpus=0.5, concurrency=workers, batch_size=rows // 16)
            best[workers] = min(best.get(workers, float("inf")), time.perf_counter() - started)
    print("| workers | powers/s | ratio |")
    print("|---|---|---|")
    for workers, seconds in best.items():
        print(f"| {workers} | {rows / seconds:.0f} | {best[1] / seconds:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scaling", action="store_true", help="compare one worker with two")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with tempfile.TemporaryDirectory() as folder:
        if options.scaling:
            scaling(Path(folder), options.rows or 40_000, options.rounds)
        else:
            overhead(Path(folder), options.rows or 200_000, options.rounds)


if __name__ == "__main__":
    main()
