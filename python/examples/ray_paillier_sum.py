"""Encrypted salaries of many people, added up by a cluster that cannot read them. Needs Ray: pip install 'modmill[ray]'.

    python examples/ray_paillier_sum.py
"""

import tempfile

import pyarrow as pa
import ray

import modmill.ray
from modmill import paillier

ray.init(num_cpus=2, include_dashboard=False)
public, private = paillier.generate(2048)

# Amounts are in whole cents, or in multiples of 16^exponent if they are floating-point numbers.
salaries = [1000.0 + item / 4 for item in range(400)]
people = ray.data.from_arrow(pa.table({"person": range(400), "salary": salaries}))

# Whoever has the public key encrypts. All rows share one exponent and one bound.
encoding = {"exponent": -2, "magnitude_bits": 32}
encrypted = modmill.ray.paillier_encrypt(people, key=public, column="salary", out="encrypted", **encoding)

with tempfile.TemporaryDirectory() as folder:
    # Written once, so that whatever is computed from it later has the same ciphertexts.
    encrypted.drop_columns(["salary"]).write_parquet(folder, mode="overwrite")

    # The cluster adds up what it cannot read, and the owner of the private key reads the sum.
    stored = ray.data.read_parquet(folder)
    total = modmill.ray.paillier_sum(stored, key=public, column="encrypted", **encoding)

assert private.decrypt(total) == [sum(salaries)]
print("sum:", private.decrypt(total)[0])
