"""The factors that the numbers of a dataset share, in subsets that actors of Ray compare with each other.

Every subset is a tree, to which the product of all other subsets comes modulo its own. The actors keep what they computed in files of a
folder, each named by the digest of what it was computed from: the rows of a subset, the product of its numbers, and its answers. A task
that is run again reads the file that is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import ray.data

from . import ray as modmill_ray
from .arithmetic import mulmod
from .engine import Engine
from .errors import ItemError
from .trees import ProductTree
from .types import Backend

__all__ = ["ROWS", "compare"]

ROWS = 65536
"""Rows of a subset. While it is computed, a tree takes some 40 times the memory of its numbers."""


class Folder:
    """The files of a job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def table(self, name: str) -> Any:
        """Return the rows of a file."""
        with pa.memory_map(str(self.path / name)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all()

    def contents(self, name: str) -> bytes:
        """Return the contents of a file."""
        return (self.path / name).read_bytes()

    def make(self, name: str, content: Callable[[], Any]) -> None:
        """Write a file unless it is there. It appears as a whole, and whoever else writes it has the same content."""
        if (self.path / name).exists():
            return
        contents = content()
        part = self.path / f".{name}.{uuid.uuid4().hex}"
        with part.open("wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path / name)


def _arrow_file(table: Any) -> Any:
    """The rows of a table as the bytes of a file of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


def _digest(*parts: Any) -> str:
    """The digest of byte strings, each after its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:32]


def _zero(type: Any) -> int | bytes:
    """The zero of a column of numbers."""
    if pa.types.is_integer(type):
        return 0
    return bytes(type.byte_width if pa.types.is_fixed_size_binary(type) else 1)


class _Trees:
    """The parts that both actors share."""

    def __init__(self, work: str, modulus: str, max_bits: int | None, backend: Backend | None, threads: int) -> None:
        self.folder = Folder(Path(work))
        self.modulus = modulus
        self.max_bits = max_bits
        self.engine = Engine(backend=backend, threads=threads)

    def numbers(self, table: Any) -> tuple[Any, dict[int, str]]:
        """Return the moduli of a subset, with zeros for those that are null or too long, and why these have no answer."""
        column = table.column(self.modulus)
        failed = {item: f"{self.modulus} is null" for item in pc.indices_nonzero(column.is_null()).to_pylist()}
        if self.max_bits is not None and not pa.types.is_integer(column.type):
            bits = pc.multiply(pc.cast(pc.binary_length(column), pa.int64()), 8)
            for item in pc.indices_nonzero(pc.fill_null(pc.greater(bits, self.max_bits), False)).to_pylist():
                failed[item] = f"{self.modulus} has {bits[item]} bits, more than max_bits"
        if failed:
            values = column.to_pylist()
            for item in failed:
                values[item] = _zero(column.type)
            column = pa.chunked_array([pa.array(values, column.type)])
        return column, failed


class Products(_Trees):
    """An actor that keeps the rows of subsets and the products of their numbers, and returns their names."""

    def __call__(self, table: Any) -> Any:
        rows = _arrow_file(table)
        name = _digest(json.dumps([self.modulus, self.max_bits]).encode(), rows)
        self.folder.make(f"rows-{name}", lambda: rows)
        self.folder.make(f"root-{name}", lambda: self._product(table))
        return pa.table({"subset": [name]})

    def _product(self, table: Any) -> bytes:
        try:
            return ProductTree(self.numbers(table)[0], engine=self.engine).product(out="bytes")
        except ItemError as zeros:
            # They have no answer; the others are compared without them.
            return bytes(zeros.answers)


class Factors(_Trees):
    """An actor that returns the rows of subsets with the factors that their numbers share with any other."""

    def __init__(self, out: str, error: str | None, all: Sequence[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.out = out
        self.error = error
        self.all = all

    def __call__(self, names: Any) -> Any:
        (name,) = names.column("subset").to_pylist()
        settings = json.dumps([name, self.out, self.error, self.all])
        file = f"gcds-{_digest(settings.encode())}"
        self.folder.make(file, lambda: _arrow_file(self._answers(name)))
        return self.folder.table(file)

    def _answers(self, name: str) -> Any:
        table = self.folder.table(f"rows-{name}")
        column, failed = self.numbers(table)
        others = self._others(name)
        answers, reasons = ProductTree(column, engine=self.engine).shared_factors(
            others, out="arrow", errors="column", engine=self.engine
        )
        table = table.append_column(self.out, pa.array(answers))
        if self.error is None:
            return table
        reasons = pa.array(reasons)
        if failed:
            reasons = pa.array([failed.get(item, reason) for item, reason in enumerate(reasons.to_pylist())], pa.string())
        return table.append_column(self.error, reasons)

    def _others(self, name: str) -> bytes:
        """The product of all other subsets, modulo that of this one."""
        root = self.folder.contents(f"root-{name}")
        others = list(self.all)
        # Another subset may have the same rows.
        others.remove(name)
        product = b"\x01"
        for other in others:
            rest = mulmod(self.folder.contents(f"root-{other}"), 1, root, out="bytes", engine=self.engine)
            product = mulmod(product, rest, root, out="bytes", engine=self.engine)
        return product


def _without_rows(ds: Any, out: str, error: str | None) -> Any:
    """Return a dataset without rows that has the columns of another one and those of answers."""
    schema = ds.schema()
    known = zip(schema.names, schema.types) if schema else ()
    # Columns of Python's objects have no type of Arrow.
    types = {name: type if isinstance(type, pa.DataType) else pa.null() for name, type in known}
    types[out] = pa.binary()
    if error is not None:
        types[error] = pa.string()
    return ray.data.from_arrow(pa.schema(types).empty_table())


def compare(
    ds: Any,
    modulus: str,
    out: str,
    error: str | None,
    work: Any,
    subsets: int | None,
    max_bits: int | None,
    actors: modmill_ray.Actors,
) -> Any:
    """Return the rows of a dataset with the factors that their numbers share."""
    if "://" in str(work):
        raise ValueError(f"work: {work} is an address; it is a folder that every machine of the cluster sees")
    names = ds.columns()
    modmill_ray.check_columns(names, [("modulus", modulus)])
    for new in (out, error):
        if new in (names or ()):
            raise ValueError(f"the dataset has a column {new!r} already; name the new one otherwise")
    if out == error:
        raise ValueError(f"out and error are both {out!r}; the new columns need different names")
    folder = Path(work).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    arguments: dict[str, Any] = {"work": str(folder), "modulus": modulus, "max_bits": max_bits}
    rows = actors.batch_size or ROWS
    if subsets is not None:
        if subsets < 1:
            raise ValueError(f"subsets is {subsets}; there is one at least")
        rows = max(1, -(-ds.count() // subsets))
    found = replace(actors, batch_size=rows).map(ds, Products, arguments).take_all()
    all = sorted(row["subset"] for row in found)
    if not all:
        return _without_rows(ds, out, error)
    jobs = ray.data.from_items([{"subset": name} for name in all], override_num_blocks=len(all))
    arguments = {**arguments, "out": out, "error": error, "all": all}
    return replace(actors, batch_size=1).map(jobs, Factors, arguments)
