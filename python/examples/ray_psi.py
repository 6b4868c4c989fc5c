"""Two companies learn which customers they have in common, each with a cluster of its own. Needs Ray: pip install 'modmill[ray]'.

    python examples/ray_psi.py

One cluster plays both parts here. In real life the folders `hers`, `his` and `answer` are what the companies send each other.
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import ray

import modmill.ray
from modmill import psi

ray.init(num_cpus=2, include_dashboard=False)
customers = pa.table({"id": range(300), "mail": [f"user{item}@example.org".encode() for item in range(300)]})
buyers = pa.table({"mail": [f"user{item}@example.org".encode() for item in range(250, 400)]})

# Each company has a secret of its own, which its actors share, and which serves for one run.
alice, bob = psi.Party().picklable(), psi.Party().picklable()

with tempfile.TemporaryDirectory() as folder:
    hers, his, answer = (str(Path(folder) / name) for name in ("hers", "his", "answer"))

    # Both blind their own items. Bob sorts his, so that their order says nothing; Alice's come back with her ids.
    blinded = modmill.ray.psi_blind(ray.data.from_arrow(customers), party=alice, column="mail")
    blinded.select_columns(["id", "element"]).write_parquet(hers, mode="overwrite")
    blinded = modmill.ray.psi_blind(ray.data.from_arrow(buyers), party=bob, column="mail")
    blinded.select_columns(["element"]).sort("element").write_parquet(his, mode="overwrite")

    # Bob blinds Alice's elements too, and sends their tags.
    tags = modmill.ray.psi_tags(ray.data.read_parquet(hers), party=bob, column="element")
    tags.select_columns(["id", "tag"]).write_parquet(answer, mode="overwrite")

    # Alice blinds Bob's elements too. Items that both have got the same tags.
    own = modmill.ray.psi_tags(ray.data.read_parquet(his), party=alice, column="element")
    known = {row["tag"] for row in own.select_columns(["tag"]).iter_rows()}
    common = sorted(row["id"] for row in ray.data.read_parquet(answer).iter_rows() if row["tag"] in known)

assert common == list(range(250, 300))
print(f"{len(common)} customers in common")
