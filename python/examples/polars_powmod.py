"""A step over tables of Arrow in a lazy query of polars.

    python examples/polars_powmod.py
"""

import polars as pl

from modmill import tables

prime = 2**127 - 1
step = tables.Powmod(base="number", exp=65537, mod=prime, out="power")


def powers(frame: pl.DataFrame) -> pl.DataFrame:
    answers = pl.from_arrow(step(frame.to_arrow()))
    assert isinstance(answers, pl.DataFrame)
    return answers


numbers = pl.LazyFrame({"id": range(1000), "number": [item.to_bytes(16, "big") for item in range(1000)]})
schema = {**numbers.collect_schema(), "power": pl.Binary, "error": pl.String}
answers = numbers.filter(pl.col("id") % 2 == 1).map_batches(powers, schema=schema).collect()

print(answers)
assert answers.height == 500
for row in answers.iter_rows(named=True):
    assert int.from_bytes(row["power"], "big") == pow(row["id"], 65537, prime)
