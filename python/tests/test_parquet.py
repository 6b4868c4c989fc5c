"""The reader and the writer of Parquet files, against those of pyarrow."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modmill._modmill import ParquetReader, ParquetWriter


def table(rows: int) -> pa.Table:
    """Columns of many types, with nulls, and with metadata."""
    items = range(rows)
    columns = {
        "id": pa.array(items, pa.int32()),
        "number": pa.array([item.to_bytes(32, "big") if item % 7 else None for item in items], pa.binary(32)),
        "bytes": pa.array([bytes(item % 5) for item in items], pa.large_binary()),
        "name": pa.array([f"name {item % 3}" for item in items]).dictionary_encode(),
        "list": pa.array([[1.5] * (item % 4) for item in items], pa.list_(pa.float64())),
        "time": pa.array([item * 10**6 for item in items], pa.timestamp("us", "UTC")),
    }
    return pa.table(columns).replace_schema_metadata({"origin": "here"})


def read(path: Path, batch_size: int) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    reader = ParquetReader(path, batch_size)
    return pa.schema(reader), [pa.record_batch(batch) for batch in reader]


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_files_of_pyarrow_are_read(compression: str, tmp_path: Path) -> None:
    for rows in (0, 1, 1000):
        expected = table(rows)
        path = tmp_path / f"{rows}.parquet"
        pq.write_table(expected, path, compression=compression, row_group_size=130)
        schema, batches = read(path, 300)
        assert schema.metadata[b"origin"] == b"here"
        assert [len(batch) for batch in batches] == {0: [], 1: [1], 1000: [300, 300, 300, 100]}[rows]
        assert pa.Table.from_batches(batches, schema.remove_metadata()).equals(expected)


def test_pyarrow_reads_what_is_written(tmp_path: Path) -> None:
    expected, path = table(500), tmp_path / "new.parquet"
    writer = ParquetWriter(path, expected.schema, "number")
    for batch in expected.to_batches(max_chunksize=123):
        writer.write(batch)
    writer.close()
    found = pq.read_table(path)
    assert found.equals(expected) and found.schema.metadata[b"origin"] == b"here"
    with pytest.raises(ValueError, match="is closed"):
        writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.write(expected.to_batches()[0])


def test_some_columns_and_many_row_groups(tmp_path: Path) -> None:
    expected, path = table(1000), tmp_path / "some.parquet"
    pq.write_table(expected, path)
    reader = ParquetReader(path, 300, ["list", "id"])
    assert pa.schema(reader).names == ["id", "list"]
    batches = [pa.record_batch(batch) for batch in reader]
    assert pa.Table.from_batches(batches).equals(expected.select(["id", "list"]).replace_schema_metadata(None))
    # More rows than a group has.
    items = pa.table({"id": range(2**20 + 5), "word": ["a"] * (2**20 + 5)})
    writer = ParquetWriter(path, items.schema, "id")
    for batch in items.to_batches(max_chunksize=2**19):
        writer.write(batch)
    writer.close()
    assert pq.read_table(path).equals(items) and pq.ParquetFile(path).num_row_groups == 2


def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    path, whole = tmp_path / "some.parquet", tmp_path / "whole.parquet"
    with pytest.raises(FileNotFoundError):
        ParquetReader(path, 10)
    path.write_bytes(b"no Parquet")
    with pytest.raises(ValueError, match="some.parquet cannot be read"):
        ParquetReader(path, 10)

    # The pages of a file are damaged behind its intact description.
    pq.write_table(table(1000), whole, compression="zstd")
    content = bytearray(whole.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="some.parquet cannot be read"):
        read(path, 10)

    writer = ParquetWriter(path, table(0).schema, "number")
    with pytest.raises(TypeError, match="structs"):
        writer.write(pa.array([1, 2]))
    with pytest.raises(ValueError, match="some.parquet cannot be written"):
        writer.write(pa.record_batch({"id": pa.array([1])}))
    with pytest.raises(FileNotFoundError):
        ParquetWriter(tmp_path / "nowhere" / "new.parquet", table(0).schema, "number")


def test_a_reader_that_is_left_early_ends(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    pq.write_table(table(10_000), path)
    reader = ParquetReader(path, 10)
    assert len(next(reader)) == 10
    del reader
    path.unlink()
