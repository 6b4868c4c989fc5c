"""Powers over a dataset of Ray, and over Parquet files. Needs Ray: pip install 'modmill[ray]'.

    python examples/ray_powmod.py
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import ray

import modmill.ray

# A real cluster is joined by ray.init(address="auto").
ray.init(num_cpus=2, include_dashboard=False)
prime = 2**127 - 1

# Every row has a key of its own: Ray does not keep rows in order.
numbers = pa.array([item.to_bytes(16, "big") for item in range(1000)], pa.binary(16))
table = pa.table({"id": range(1000), "number": numbers})

powers = modmill.ray.powmod(ray.data.from_arrow(table), base="number", exp=65537, mod=prime, out="power")
answers = {row["id"]: int.from_bytes(row["power"], "big") for row in powers.take_all()}
assert answers == {item: pow(item, 65537, prime) for item in range(1000)}
print(len(answers), "powers")

# With files Ray hands out names alone; actors read and write. Zero has no inverse, which is an error of its row.
with tempfile.TemporaryDirectory() as folder:
    source, target = Path(folder, "numbers"), Path(folder, "inverses")
    source.mkdir()
    for part in range(2):
        pq.write_table(table.slice(500 * part, 500), source / f"{part}.parquet")
    reports = modmill.ray.powmod_files(source, target, base="number", exp=-1, mod=prime, out="inverse")
    for report in reports:
        print(Path(report["output"]).name, report["rows"], "rows,", report["failed"], "failed")
    inverses = pq.read_table(target)
    assert inverses.num_rows == 1000
    assert [row["error"] for row in inverses.slice(0, 1).to_pylist()] != [None]
