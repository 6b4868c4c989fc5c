"""The cost of Ray: CPU seconds of a million rows over the bare engine, one worker against two, and files on a GPU.

    python benchmarks/ray_overhead.py [--rows 1000000] [--rounds 3]
    python benchmarks/ray_overhead.py --scaling [--rows 40000]
    python benchmarks/ray_overhead.py --gpu PROGRAM [--rows 16000000]

The first computes the same cheap powers of rows of 2048 bits three times: by the bare engine over Parquet files, by
`modmill.ray.powmod` over a dataset, and by `modmill.ray.powmod_files`, which also writes files. CPU seconds are those of this
process and of all processes of Ray. Jobs of two sizes tell what a row costs from what the start of a job costs. A difference
that is below the range of the turns says nothing: give it more rows. The second
computes full powers of 2048 bits with one worker and with two, each with one thread, and prints the ratio of the rates, without the
start, and how many cores worked. Fewer than two for two workers mean that other programs had the rest, or that the blocks were not
shared evenly. The third computes full powers of 2048 bits, each with its own modulus, from a Parquet file to a Parquet file: by
`PROGRAM powm`, the command line program, and by `modmill.ray.powmod_files` with one actor that has a GPU and all CPUs but two. Both write the
answers alone. All need Ray, Linux, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Workers compete with other programs on equal terms.
os.environ.setdefault("RAY_worker_niceness", "0")

import numpy
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


class Meter:
    """The CPU time of this process and of all that it started, by Linux's own account, looked at once in every ``period`` seconds.

    A process that has ended keeps the time that was seen last: Linux does not pass it on to a parent that does not wait for it. The
    total never falls, and misses at most ``period`` seconds of each process.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._ticks: dict[tuple[int, str], int] = {}
        self._lock = threading.Lock()
        self._own = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def seconds(self) -> float:
        with self._lock:
            self._sample()
            return sum(self._ticks.values()) / TICK - self._own

    def _watch(self) -> None:
        while True:
            self.seconds()
            # The time of the watching itself does not count.
            self._own = time.thread_time()
            time.sleep(self._period)

    def _sample(self) -> None:
        seen: dict[int, tuple[int, str, int]] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                # Its parent, its start, which tells it from others that had its number, and its time in and outside of the kernel.
                seen[int(entry.name)] = (int(fields[1]), fields[19], int(fields[11]) + int(fields[12]))
        family = {os.getpid()} | {process for process, start in self._ticks if seen.get(process, (0, ""))[1] == start}
        while found := {process for process, (parent, _, _) in seen.items() if parent in family} - family:
            family |= found
        for process in family:
            _, start, ticks = seen[process]
            self._ticks[process, start] = ticks


def bare(source: Path, exp: int) -> None:
    step = tables.Powmod(base="number", exp=exp, mod=MODULUS, engine=modmill.Engine(backend="cpu", threads=1))
    for path in sorted(source.iterdir()):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=4096):
            step(pa.Table.from_batches([batch]))


def dataset(source: Path, exp: int, *, blocks: int = 2 * FILES, **options: Any) -> None:
    # Ray makes one block of little data, which would be the work of one actor.
    ds = ray.data.read_parquet(str(source)).repartition(blocks)
    ds = modmill.ray.powmod(ds, base="number", exp=exp, mod=MODULUS, **options)
    computed = sum(bundle.num_rows() or 0 for bundle in ds.iter_internal_ref_bundles())
    expected = sum(pq.ParquetFile(path).metadata.num_rows for path in source.iterdir())
    assert computed == expected, f"{computed} of {expected} rows"


def files(source: Path, exp: int, **options: Any) -> None:
    target = source.with_name("answers")
    modmill.ray.powmod_files(source, target, base="number", exp=exp, mod=MODULUS, mode="replace", **options)


def overhead(folder: Path, rows: int, rounds: int) -> None:
    sizes = [rows // 5, rows]
    for size in sizes:
        write(folder / f"{size}", size)
    turns: dict[tuple[str, int], list[float]] = {}

    def measure(ways: dict[str, Callable[[Path, int], None]], clock: Callable[[], float]) -> None:
        # The first turn warms up.
        for turn in range(rounds + 1):
            for size in sizes:
                for name, compute in ways.items():
                    before = clock()
                    compute(folder / f"{size}", 3)
                    if turn > 0:
                        turns.setdefault((name, size), []).append(clock() - before)

    # Before Ray starts, so that nothing of Ray counts.
    measure({"bare engine": bare}, time.process_time)
    start_ray()
    measure({"dataset": dataset, "files": files}, Meter(0.05).seconds)
    names = ["bare engine", "dataset", "files"]
    best = {key: min(seconds) for key, seconds in turns.items()}
    ranges = {key: max(seconds) - min(seconds) for key, seconds in turns.items()}
    scale = 1e6 / (sizes[1] - sizes[0])
    millions = {name: (best[name, sizes[1]] - best[name, sizes[0]]) * scale for name in names}
    print("| way | CPU seconds of a job without rows | CPU seconds a million rows | over the bare engine | range of the turns |")
    print("|---|---|---|---|---|")
    for name, million in millions.items():
        start = best[name, sizes[0]] - million * sizes[0] / 1e6
        spread = (ranges[name, sizes[0]] + ranges[name, sizes[1]]) * scale
        print(f"| {name} | {start:.1f} | {million:.1f} | {million - millions['bare engine']:.1f} | {spread:.1f} |")


def start_ray() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False


def scaling(folder: Path, rows: int, rounds: int) -> None:
    start_ray()
    sizes = [rows // 5, rows]
    for size in sizes:
        write(folder / f"{size}", size)
    # A look takes some milliseconds, which two busy workers do not have.
    meter = Meter(1.0)
    # Seconds, and CPU seconds.
    best: dict[tuple[int, int], tuple[float, float]] = {}
    for _ in range(rounds):
        for size in sizes:
            for workers in (1, 2):
                started, before = time.perf_counter(), meter.seconds()
                # Workers take less than a CPU each, so that the reader has room. Short blocks let both end at the same time.
                dataset(folder / f"{size}", 2**BITS - 1, blocks=64, num_cpus=0.5, concurrency=workers, batch_size=256)
                turn = (time.perf_counter() - started, meter.seconds() - before)
                best[workers, size] = min(best.get((workers, size), turn), turn)
    print("| workers | powers/s | ratio | cores in use |")
    print("|---|---|---|---|")
    spent = {workers: [best[workers, sizes[1]][i] - best[workers, sizes[0]][i] for i in (0, 1)] for workers in (1, 2)}
    for workers, (seconds, cpu) in spent.items():
        rate, ratio = (sizes[1] - sizes[0]) / seconds, spent[1][0] / seconds
        print(f"| {workers} | {rate:.0f} | {ratio:.2f} | {cpu / seconds:.2f} |")


def on_gpu(folder: Path, program: str, rows: int, rounds: int) -> None:
    sizes = [rows // 5, rows]
    for size in sizes:
        octets = {name: bytearray(numpy.random.default_rng().bytes(size * BITS // 8)) for name in ("base", "exp", "mod")}
        # Every modulus is odd and has all its bits.
        octets["mod"][:: BITS // 8] = bytes([255]) * size
        octets["mod"][BITS // 8 - 1 :: BITS // 8] = bytes([255]) * size
        columns = {
            name: pa.FixedSizeBinaryArray.from_buffers(pa.binary(BITS // 8), size, [None, pa.py_buffer(column)])
            for name, column in octets.items()
        }
        pq.write_table(pa.table(columns), folder / f"{size}.parquet", compression="none", use_dictionary=False)
    answers, target = folder / "answers.parquet", folder / "answers"

    def bare_program(source: Path) -> None:
        subprocess.run([program, "powm", "--in", source, "--out", answers, "--backend", "cuda"], check=True, stderr=subprocess.DEVNULL)

    def through_ray(source: Path) -> None:
        modmill.ray.powmod_files(
            source,
            target,
            base="base",
            exp="exp",
            mod="mod",
            keep=[],
            mode="replace",
            num_gpus=1,
            num_cpus=max((os.cpu_count() or 1) - 2, 1),
        )

    ray.init(include_dashboard=False, log_to_driver=False)
    ways: dict[str, Callable[[Path], None]] = {"bare program": bare_program, "powmod_files": through_ray}
    best: dict[tuple[str, int], float] = {}
    # The first turn warms up.
    for turn in range(rounds + 1):
        for name, compute in ways.items():
            for size in sizes:
                started = time.perf_counter()
                compute(folder / f"{size}.parquet")
                seconds = time.perf_counter() - started
                if turn > 0:
                    best[name, size] = min(best.get((name, size), float("inf")), seconds)
                    print(f"{name}, {size} rows: {seconds:.2f} s", flush=True)
    ours, theirs = pq.read_table(target, columns=["power"])["power"], pq.read_table(answers, columns=["result"])["result"]
    for start in range(0, rows, 1 << 18):
        powers, results = (column.slice(start, 1 << 18).to_pylist() for column in (ours, theirs))
        same = all(power.lstrip(b"\0") == result.lstrip(b"\0") for power, result in zip(powers, results, strict=True))
        assert same, f"Ray and the program disagree, from row {start} on"
    print("| way | seconds for " + " | seconds for ".join(f"{size} rows" for size in sizes) + " | rows/s without the start | ratio |")
    print("|---|---|---|---|---|")
    rates = {name: (sizes[1] - sizes[0]) / (best[name, sizes[1]] - best[name, sizes[0]]) for name in ways}
    for name, rate in rates.items():
        turns = " | ".join(f"{best[name, size]:.1f}" for size in sizes)
        print(f"| {name} | {turns} | {rate:.0f} | {rate / rates['bare program']:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scaling", action="store_true", help="compare one worker with two")
    parser.add_argument("--gpu", metavar="PROGRAM", help="compare files on a GPU with this command line program")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.gpu:
            on_gpu(Path(folder), options.gpu, options.rows or 16_000_000, options.rounds)
        elif options.scaling:
            scaling(Path(folder), options.rows or 40_000, options.rounds)
        else:
            overhead(Path(folder), options.rows or 1_000_000, options.rounds)


if __name__ == "__main__":
    main()
