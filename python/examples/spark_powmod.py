"""A step over tables of Arrow in Spark. Needs pyspark and Java 17 or newer.

    python examples/spark_powmod.py
"""

import os
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from modmill import tables

# The workers run this interpreter.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

prime = 2**127 - 1
step = tables.Powmod(base="number", exp=65537, mod=prime, out="power")

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
rows = [(item, bytearray(item.to_bytes(16, "big"))) for item in range(200)]
numbers = spark.createDataFrame(rows, "id long, number binary")


def powers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        answers = step(batch)
        # Spark has no binary of a fixed size.
        place = answers.schema.get_field_index("power")
        yield answers.set_column(place, "power", answers.column("power").cast(pa.binary()))


# Spark pickles the step with the function, and its workers call it with record batches.
answered = numbers.mapInArrow(powers, "id long, number binary, power binary, error string")
answers = {row.id: int.from_bytes(row.power, "big") for row in answered.collect()}
spark.stop()

assert answers == {item: pow(item, 65537, prime) for item in range(200)}
print(len(answers), "powers")
