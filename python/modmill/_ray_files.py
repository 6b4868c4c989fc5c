"""Parquet files through actors of Ray that read and write them on their own."""

from __future__ import annotations

import os
import shutil
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import ray.data

from . import ray as modmill_ray
from . import tables
from ._modmill import ParquetReader, ParquetWriter
from .engine import Engine
from .types import Backend

__all__ = ["convert"]


class FileWorker:
    """An actor that takes names of files."""

    def __init__(
        self, step: tables.Powmod, keep: list[str] | None, batch_size: int, backend: Backend | None, threads: int
    ) -> None:
        step.engine = Engine(backend=backend, threads=threads)
        self.step = step
        self.keep = keep
        self.batch_size = batch_size
        # While a GPU computes a batch, others are converted.
        self.at_once = 3 if backend == "cuda" else 1

    def __call__(self, names: Any) -> Any:
        files = zip(names.column("input").to_pylist(), names.column("output").to_pylist(), strict=True)
        done = [self._convert(source, target) for source, target in files]
        rows = pa.array([rows for rows, _ in done], pa.int64())
        failed = pa.array([failed for _, failed in done], pa.int64())
        return names.append_column("rows", rows).append_column("failed", failed)

    def _convert(self, source: str, target: str) -> tuple[int, int]:
        # A task that is run again while an earlier run still writes has a file of its own. The last to finish replaces the
        # file of the other, which has the same rows.
        part = f"{target}.{uuid.uuid4().hex}"
        rows = failed = 0
        reader = ParquetReader(source, self.batch_size, None if self.keep is None else [*self.keep, *self.step.columns])
        schema = pa.schema(reader)
        writer = ParquetWriter(part, self._written(schema.empty_table()).schema, self.step.out)
        batches = (pa.Table.from_batches([pa.record_batch(batch)]).replace_schema_metadata(schema.metadata) for batch in reader)
        for answers in self._answers(batches):
            for piece in answers.to_batches():
                writer.write(piece)
            rows += len(answers)
            failed += answers.column(self.step.out).null_count
        writer.close()
        os.replace(part, target)
        return rows, failed


    def _answers(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The answers to batches in their order. ``at_once`` of them are computed at the same time."""
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self.at_once) as pool:
            for batch in batches:
                waiting.append(pool.submit(self._written, batch))
                if len(waiting) == self.at_once:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _written(self, table: Any) -> Any:
        """The columns to write: those to keep, and the answers."""
        answers = self.step(table)
        if self.keep is None:
            return answers
        for name in self.keep:
            if name not in table.column_names:
                raise ValueError(f"keep: the file has no column {name!r}")
        return answers.select([*self.keep, *answers.column_names[len(table.column_names) :]])


def convert(
    step: tables.Powmod,
    input: Any,
    output: Any,
    keep: Sequence[str] | None,
    mode: str,
    actors: modmill_ray.Actors,
) -> list[dict[str, Any]]:
    """Send files through a step, and put what they became into a folder at once."""
    if mode not in ("refuse", "replace"):
        raise ValueError(f"mode is {mode!r}; it is 'refuse' or 'replace'")
    sources = _sources(input)
    folder = _local(output)
    _check(folder, mode, sources)
    present = pa.schema(ParquetReader(str(sources[0]), 1)).names
    modmill_ray.check_columns(present, [*step.arguments.items(), *(("keep", name) for name in keep or ())])

    # The files are written beside the folder, on the same file system, so that one rename puts all of them in place.
    staging = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    staging.mkdir(parents=True)
    try:
        names = {source: f"{index:05}-{source.stem}.parquet" for index, source in enumerate(sources)}
        jobs = [{"input": str(source), "output": str(staging / name)} for source, name in names.items()]
        # A block for each file, so that files spread over all actors.
        ds = ray.data.from_items(jobs, override_num_blocks=len(jobs))
        batch_size = actors.batch_size or (1 << 17 if actors.num_gpus else 4096)
        arguments = {"step": step, "keep": None if keep is None else list(keep), "batch_size": batch_size}
        reports = replace(actors, batch_size=1).map(ds, FileWorker, arguments).take_all()
        for rest in set(staging.iterdir()) - {staging / name for name in names.values()}:
            rest.unlink()
        _check(folder, mode, sources)
        _swap(staging, folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    reports.sort(key=lambda report: str(report["output"]))
    return [{**report, "output": str(folder / Path(report["output"]).name)} for report in reports]


def _local(name: Any) -> Path:
    if "://" in str(name):
        raise ValueError(f"{name} is an address; files are on a file system that every machine of the cluster sees")
    return Path(name).absolute()


def _sources(input: Any) -> list[Path]:
    names = [input] if isinstance(input, (str, os.PathLike)) else list(input)
    sources: list[Path] = []
    for name in names:
        path = _local(name)
        if path.is_dir():
            # Hidden files are parts of a folder that are not complete, as elsewhere.
            sources += sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
        elif path.is_file():
            sources.append(path)
        else:
            raise FileNotFoundError(f"there is no file or folder {path}")
    if not sources:
        raise FileNotFoundError(f"there are no Parquet files in {input}")
    if len(set(sources)) < len(sources):
        raise ValueError(f"input names a file twice; {len(sources)} files, {len(set(sources))} of them different")
    return sources


def _check(folder: Path, mode: str, sources: list[Path]) -> None:
    """Refuse a folder that must not be replaced."""
    if folder.is_file():
        raise FileExistsError(f"output {folder} is a file")
    if any(folder.resolve() in source.resolve().parents for source in sources):
        raise ValueError(f"output {folder} is a folder of the input")
    present = list(folder.iterdir()) if folder.exists() else []
    if present and mode == "refuse":
        raise FileExistsError(f"output {folder} is not empty; mode='replace' replaces it")
    others = [path.name for path in present if path.suffix != ".parquet" or not path.is_file()]
    if others:
        raise FileExistsError(f"output {folder} has {others[0]!r}, which is no Parquet file; it is not replaced")


def _swap(staging: Path, folder: Path) -> None:
    """Replace a folder by another."""
    if not folder.exists():
        staging.rename(folder)
        return
    old = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.old")
    folder.rename(old)
    staging.rename(folder)
    shutil.rmtree(old)
