"""Operations over datasets and files of Ray. Skipped, and said so, where Ray is not installed.

``MODMILL_RAY_LONG=0`` leaves out the cluster of two nodes that loses one of them.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Ray reads these when it starts. Its workers would wait behind everything else on a busy machine, and its memory monitor
# would kill them for the memory of other programs.
os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ray = pytest.importorskip("ray", reason="LEFT OUT: Ray is not installed, modmill.ray is not tested")

import ray.data

import modmill.ray
from modmill import paillier, rsa, tables
from test_documents import ENVIRONMENT, ROOT, first_example

PRIME = 2**127 - 1
LONG = os.environ.get("MODMILL_RAY_LONG", "1") != "0"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster of one node with two CPUs."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=128 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def numbers(count: int) -> pa.Table:
    column = pa.array([item.to_bytes(16, "big") for item in range(count)], pa.binary(16))
    return pa.table({"id": pa.array(range(count), pa.int64()), "number": column})


def by_id(rows: list[dict[str, Any]], name: str) -> dict[int, Any]:
    """The answers by key, none of which comes twice."""
    answers = {row["id"]: row[name] for row in rows}
    assert len(answers) == len(rows)
    return answers


def test_defaults_leave_cpus_to_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    for cpus, gpus, num_gpus, expected in [
        (1, 0, None, (0, 1)),
        (2, 0, None, (1, 1)),
        (4, 0, None, (1, 3)),
        (64, 0, None, (1, 56)),
        (64, 8, 1, (1, 8)),
        (64, 8, 0.5, (1, 16)),
        (1, 0, 1, (0, 1)),
    ]:
        monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": float(cpus), "GPU": float(gpus)})
        actors = modmill.ray.Actors(num_gpus)
        actors.fill()
        assert (actors.num_cpus, actors.concurrency) == expected
    actors = modmill.ray.Actors(num_cpus=4, concurrency=(1, 5))
    actors.fill()
    assert (actors.num_cpus, actors.concurrency) == (4, (1, 5))


def test_one_long_row_fails_alone(cluster: None) -> None:
    """A row of 64 MB among short ones, which would make every row as wide: 256 GB."""
    long = numbers(4000).append_column("value", pa.array([bytes(2**26) if item == 7 else b"\x03" for item in range(4000)]))
    rows = modmill.ray.powmod(ray.data.from_arrow(long), base="value", exp=5, mod=PRIME).select_columns(
        ["id", "power", "error"]
    )
    errors = by_id(rows.take_all(), "error")
    assert len(errors) == 4000
    assert {item: error for item, error in errors.items() if error} == {7: f"base has {2**29} bits, more than max_bits"}


def test_wrong_columns_are_told_at_once(cluster: None, tmp_path: Path) -> None:
    ds = ray.data.from_arrow(numbers(10))
    for name, call in {
        "exp": lambda: modmill.ray.powmod(ds, base="number", exp="absent", mod=PRIME),
        "message": lambda: modmill.ray.rsa_sign(ds, key=rsa.generate(2048).picklable(), message="absent"),
        "column": lambda: modmill.ray.paillier_encrypt(ds, key=paillier.generate(2048)[0], column="absent"),
    }.items():
        with pytest.raises(ValueError, match=f"^{name}: there is no column 'absent'; the columns are id, number$"):
            call()
    pq.write_table(numbers(10), tmp_path / "numbers.parquet")
    for arguments in ({"base": "absent"}, {"base": "number", "keep": ["id", "absent"]}):
        with pytest.raises(ValueError, match="there is no column 'absent'; the columns are id, number"):
            modmill.ray.powmod_files(tmp_path, tmp_path / "out", exp=5, mod=PRIME, **arguments)


def test_powmod_with_failed_rows(cluster: None) -> None:
    table = numbers(100).append_column("mod", pa.array([item % 10 for item in range(100)], pa.uint64()))
    # Blocks of different kinds of rows, among them an empty one and one whose rows all fail.
    ds = ray.data.from_arrow([table.slice(0, 1), table.slice(1, 0), table.slice(1)])
    rows = modmill.ray.powmod(ds, base="number", exp=65537, mod="mod", out="p", error="why", batch_size=17).take_all()
    powers, reasons = by_id(rows, "p"), by_id(rows, "why")
    for item in range(100):
        if item % 10 == 0:
            assert (powers[item], reasons[item]) == (None, "the modulus is zero")
        else:
            assert int.from_bytes(powers[item], "big") == pow(item, 65537, item % 10)
            assert reasons[item] is None


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="at least one is the name of a column"):
        modmill.ray.powmod(None, base=1, exp=2, mod=3)
    with pytest.raises(TypeError, match="exp is float"):
        modmill.ray.powmod(None, base="number", exp=2.5, mod=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="different names"):
        modmill.ray.powmod(None, base="number", exp=2, mod=3, out="error")
    with pytest.raises(TypeError, match="picklable.*a function that returns the key"):
        modmill.ray.rsa_sign(None, key=rsa.generate(1024, allow_small=True), message="m")
    with pytest.raises(TypeError, match="picklable.*a function that returns the key"):
        modmill.ray.paillier_decrypt(None, key=paillier.generate(1024)[1], column="c")


def test_signatures_and_encryption(cluster: None, tmp_path: Path) -> None:
    """One job from messages to verified signatures and from votes to their sum, by keys that actors load on their own."""
    secret = rsa.generate(2048)
    path = tmp_path / "key.pem"
    path.write_text(secret.to_pem())
    public, private = paillier.generate(1024)
    messages = [None if item == 7 else f"message {item}".encode() for item in range(40)]
    votes = [None if item == 7 else item - 20 for item in range(40)]
    table = pa.table({"id": range(40), "message": pa.array(messages, pa.binary()), "vote": votes})

    # Actors of different steps share two CPUs with the reader.
    small = {"num_cpus": 0.25, "concurrency": 1, "batch_size": 16}
    ds = ray.data.from_arrow(table)
    ds = modmill.ray.rsa_sign(ds, key=lambda: rsa.load(path.read_bytes()), message="message", **small)
    ds = modmill.ray.rsa_verify(ds, key=secret.public_key, message="message", signature="signature", **small)
    ds = modmill.ray.paillier_encrypt(ds, key=public, column="vote", error="vote_error", **small)
    ds = modmill.ray.paillier_decrypt(ds, key=private.picklable(), column="encrypted", error="open_error", **small)
    ds = ds.materialize()

    rows = ds.take_all()
    assert by_id(rows, "valid") == {item: item != 7 for item in range(40)}
    assert by_id(rows, "error")[7] == "messages is null" and by_id(rows, "vote_error")[7] == "the number is null"
    assert by_id(rows, "decrypted") == dict(enumerate(votes))
    signatures = by_id(rows, "signature")
    assert rsa.verify(secret.public_key, [messages[3]], [signatures[3]]) == [True]

    kept = ray.data.from_arrow(pa.table({"encrypted": [row["encrypted"] for row in rows if row["id"] != 7]}))
    total = modmill.ray.paillier_sum(kept, key=public, column="encrypted", **small)
    assert private.decrypt(total) == [sum(vote for vote in votes if vote is not None)]


def test_files(cluster: None, tmp_path: Path) -> None:
    table, source, target = numbers(100), tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for part in range(3):
        # The last file has no rows.
        pq.write_table(table.slice(50 * part, 50), source / f"{part}.parquet", row_group_size=13)
    arguments: dict[str, Any] = {"base": "number", "exp": -1, "mod": PRIME, "out": "inverse", "batch_size": 20}

    reports = modmill.ray.powmod_files(source, target, **arguments)
    assert [(Path(report["output"]).name, report["rows"], report["failed"]) for report in reports] == [
        ("00000-0.parquet", 50, 1),
        ("00001-1.parquet", 50, 0),
        ("00002-2.parquet", 0, 0),
    ]
    rows = pq.read_table(target).to_pylist()
    assert by_id(rows, "inverse")[0] is None and "no inverse" in by_id(rows, "error")[0]
    inverses = by_id(rows, "inverse")
    assert all(int.from_bytes(inverses[item], "big") == pow(item, -1, PRIME) for item in range(1, 100))

    with pytest.raises(FileExistsError, match="not empty"):
        modmill.ray.powmod_files(source, target, **arguments)
    modmill.ray.powmod_files([source / "1.parquet"], target, mode="replace", **arguments)
    assert sorted(by_id(pq.read_table(target).to_pylist(), "id")) == list(range(50, 100))

    modmill.ray.powmod_files(source, target, keep=["id"], mode="replace", **arguments)
    kept = pq.read_table(target)
    assert kept.column_names == ["id", "inverse", "error"] and by_id(kept.to_pylist(), "inverse") == inverses
    with pytest.raises(Exception, match="keep: there is no column 'nombre'"):
        modmill.ray.powmod_files(source, target, keep=["nombre"], mode="replace", **arguments)
    modmill.ray.powmod_files([source / "1.parquet"], target, mode="replace", **arguments)

    # An exception ends the job, leaves the folder as it was, and nothing beside it.
    with pytest.raises(Exception, match="no column 'nombre'"):
        modmill.ray.powmod_files(source, target, mode="replace", **{**arguments, "base": "nombre"})
    assert [path.name for path in target.iterdir()] == ["00000-1.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def shared(moduli: list[int]) -> list[int]:
    product = math.prod(moduli)
    return [math.gcd(n, product // n) for n in moduli]


def test_batch_gcd(cluster: None, tmp_path: Path) -> None:
    """Subsets meet: the numbers of each share factors with those of others, and some rows have no number."""
    rng = random.Random(5)
    primes = [n for n in range(2**10, 2**11) if all(n % d for d in range(2, 46))]
    moduli = [rng.choice(primes) * rng.choice(primes) * (2**89 - 1 + 2 * item) for item in range(200)]
    moduli[7] = moduli[150]
    values: list[bytes | None] = [n.to_bytes(20, "big") for n in moduli]
    values[3], values[5], values[9] = None, bytes(20), bytes(2100)
    table = pa.table({"id": pa.array(range(200), pa.int64()), "modulus": pa.array(values, pa.binary())})
    present = [item for item in range(200) if item not in (3, 5, 9)]
    expected = dict(zip(present, shared([moduli[item] for item in present])))
    ds = ray.data.from_arrow([table.slice(start, 50) for start in range(0, 200, 50)])
    for options in ({"subsets": 4, "max_bits": 1000}, {"batch_size": 50}, {}):
        rows = modmill.ray.batch_gcd(ds, modulus="modulus", work=tmp_path, **options).take_all()
        found = by_id(rows, "gcd")
        assert {item: int.from_bytes(found[item]) for item in present} == expected
        reasons = {item: reason for item, reason in by_id(rows, "error").items() if reason}
        assert reasons == {
            3: "modulus is null",
            5: "the modulus is zero",
            9: "modulus has 16800 bits, more than max_bits",
        }
    # A second job over these rows computes nothing again.
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    modmill.ray.batch_gcd(ds, modulus="modulus", work=tmp_path, max_bits=1000, subsets=4).take_all()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    for arguments, text in [
        ({"modulus": "n"}, "modulus: there is no column 'n'"),
        ({"modulus": "modulus", "out": "id"}, "the dataset has a column 'id' already"),
        ({"modulus": "modulus", "subsets": 0}, "subsets is 0"),
    ]:
        with pytest.raises(ValueError, match=text):
            modmill.ray.batch_gcd(ds, work=tmp_path, **arguments)  # type: ignore[arg-type]


def workers() -> list[int]:
    """The processes of actors that compute batches."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = path.read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::") and b"Factors" in title:
            found.append(int(path.parent.name))
    return found


def test_batch_gcd_of_no_rows(cluster: None, tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([], pa.int64()), "modulus": pa.array([], pa.binary())})
    ds = ray.data.from_arrow(table)
    found = modmill.ray.batch_gcd(ds, modulus="modulus", work=tmp_path)
    assert (found.columns(), found.take_all()) == (["id", "modulus", "gcd", "error"], [])
    found = modmill.ray.batch_gcd(ds, modulus="modulus", work=tmp_path, out="shared", error=None)
    assert found.columns() == ["id", "modulus", "shared"]


def test_names_of_files_tell_their_settings_apart() -> None:
    from modmill._ray_trees import _digest

    assert len({_digest(b"ab", b"c"), _digest(b"a", b"bc"), _digest(b"abc"), _digest(b"abc", b"")}) == 4


def test_a_worker_is_killed(cluster: None, tmp_path: Path) -> None:
    """A worker dies while it computes a subset: answers that are there stay, and every row arrives once."""
    rng = random.Random(6)
    moduli = [rng.getrandbits(1024) | 1 for _ in range(6000)]
    moduli[1000] = moduli[5999]
    table = pa.table({"id": range(6000), "modulus": [n.to_bytes(128, "big") for n in moduli]})
    ds = ray.data.from_arrow([table.slice(start, 500) for start in range(0, 6000, 500)])
    killed: list[int] = []

    def written() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tmp_path.glob("gcds-*")}

    before: dict[Path, int] = {}

    def kill() -> None:
        while not killed and not is_over.is_set():
            if any(tmp_path.glob("gcds-*")):
                for pid in workers()[:1]:
                    before.update(written())
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                    killed.append(pid)
            time.sleep(0.01)

    is_over = threading.Event()

    answers = modmill.ray.batch_gcd(ds, modulus="modulus", work=tmp_path, batch_size=500)
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    rows = answers.take_all()
    is_over.set()
    thread.join()
    after = written()
    assert killed and len(after) == 12, f"{killed} killed, {len(after)} subsets"
    assert 0 < len(before) < 12 and before.items() <= after.items()
    found = by_id(rows, "gcd")
    assert [int.from_bytes(found[item]) for item in range(6000)] == modmill.batch_gcd(moduli)


def test_first_example_of_the_manual(tmp_path: Path) -> None:
    example = first_example(ROOT / "docs/use/ray.md")
    subprocess.run([sys.executable, "-c", example], check=True, cwd=tmp_path, timeout=600, env=ENVIRONMENT)


def test_folders_that_are_not_replaced(tmp_path: Path) -> None:
    table, source, target = numbers(1), tmp_path / "in", tmp_path / "out"
    arguments: dict[str, Any] = {"base": "number", "exp": 3, "mod": PRIME, "mode": "replace"}
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        modmill.ray.powmod_files(source, target, **arguments)
    source.mkdir()
    with pytest.raises(FileNotFoundError, match="no Parquet files"):
        modmill.ray.powmod_files(source, target, **arguments)
    pq.write_table(table, source / "a.parquet")
    with pytest.raises(ValueError, match="twice"):
        modmill.ray.powmod_files([source, source / "a.parquet"], target, **arguments)
    with pytest.raises(ValueError, match="folder of the input"):
        modmill.ray.powmod_files(source, source, **arguments)
    with pytest.raises(ValueError, match="folder of the input"):
        modmill.ray.powmod_files(source, tmp_path, **arguments)
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="thesis.txt"):
        modmill.ray.powmod_files(source, target, **arguments)
    with pytest.raises(FileExistsError, match="is a file"):
        modmill.ray.powmod_files(source, source / "a.parquet", **arguments)
    with pytest.raises(ValueError, match="is an address"):
        modmill.ray.powmod_files("s3://bucket/in", target, **arguments)
    with pytest.raises(ValueError, match="'append'"):
        modmill.ray.powmod_files(source, target, **{**arguments, "mode": "append"})
    assert (target / "thesis.txt").exists()


@pytest.mark.skipif(not LONG, reason="LEFT OUT: the cluster that loses a node, because MODMILL_RAY_LONG is 0")
def test_a_node_is_killed(tmp_path: Path) -> None:
    """Two nodes are busy, one of them is killed, and every row arrives once."""
    from ray.cluster_utils import Cluster

    ray.shutdown()
    count, batch = 10_000, 100
    marks = tmp_path / "marks"
    marks.mkdir()

    def read(ids: pa.Table) -> pa.Table:
        """The rows of a reader, which returns them again if they are lost."""
        rows = [item.to_bytes(16, "big") for item in ids["id"].to_pylist()]
        return ids.append_column("number", pa.array(rows, pa.binary(16)))

    def busy() -> set[str]:
        return {path.name.split("-")[0] for path in marks.iterdir()}

    def batches() -> list[str]:
        """The nodes of all batches that were computed."""
        return [path.name.split("-")[0] for path in marks.iterdir() if "-start-" not in path.name]

    class Marking(modmill.ray.Worker):
        """An actor that leaves its node's name for itself and for each batch, and computes when both nodes have an actor."""

        def __init__(self, **arguments: Any) -> None:
            super().__init__(**arguments)
            (marks / f"{ray.get_runtime_context().get_node_id()}-start-{time.time_ns()}").touch()

        def __call__(self, table: Any) -> Any:
            deadline = time.monotonic() + 120
            while len(busy()) < 2 and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(0.1)
            answers = super().__call__(table)
            (marks / f"{ray.get_runtime_context().get_node_id()}-{time.time_ns()}").touch()
            return answers

    # A node has room for one actor and a reader, so that the actors are on different nodes.
    size = {"num_cpus": 4, "object_store_memory": 128 << 20}
    nodes = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **size})
    killed: list[list[str]] = []

    def kill(node: Any) -> None:
        """Kill the node when both have computed five batches."""
        while not killed:
            names = batches()
            if len(set(names)) == 2 and min(names.count(name) for name in set(names)) >= 5:
                nodes.remove_node(node, allow_graceful=False)
                killed.append(names)
            time.sleep(0.1)

    try:
        other = nodes.add_node(**size)
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, log_to_driver=False)
        threading.Thread(target=kill, args=(other,), daemon=True).start()
        step = tables.Powmod(base="number", exp=65537, mod=PRIME)
        ds = ray.data.range(count, override_num_blocks=40).map_batches(read, batch_format="pyarrow")
        actors = modmill.ray.Actors(num_cpus=3, concurrency=2, batch_size=batch)
        rows = actors.map(ds, Marking, {"step": step}).take_all()
        assert killed and len(killed[0]) < count // batch, f"killed after {killed}"
        powers = by_id(rows, "power")
        assert sorted(powers) == list(range(count))
        assert all(int.from_bytes(powers[item], "big") == pow(item, 65537, PRIME) for item in range(count))
        print(f"killed after {len(killed[0])} batches, {len(batches())} computed for {count // batch}")
    finally:
        killed.append([])
        ray.shutdown()
        nodes.shutdown()
