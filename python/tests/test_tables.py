"""Steps over tables of Arrow."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pyarrow as pa
import pytest

from modmill import paillier, psi, rsa, tables

PRIME = 2**127 - 1


def integers(column: Any) -> list[int | None]:
    return [None if row is None else int.from_bytes(row, "big") for row in column.to_pylist()]


def test_powers_of_columns_and_numbers(rng: random.Random) -> None:
    rows = [(rng.getrandbits(120), rng.getrandbits(90), rng.getrandbits(100) | 1) for _ in range(50)]
    rows += [(0, 0, 1), (0, 1, 2), (1, 0, PRIME), (PRIME, 3, PRIME), (PRIME - 1, 2, PRIME)]
    columns = [[number.to_bytes(16, "big") for number in column] for column in zip(*rows)]
    table = pa.table({name: pa.array(column, pa.binary(16)) for name, column in zip("bem", columns)})
    answers = tables.Powmod(base="b", exp="e", mod="m", out="p")(table)
    assert integers(answers["p"]) == [pow(*row) for row in rows]
    assert answers["p"].type == pa.binary(16) and answers["error"].null_count == len(rows)
    answers = tables.Powmod(base=3, exp="e", mod=b"\x03\xf1", out="p", error=None)(table)
    assert integers(answers["p"]) == [pow(3, row[1], 1009) for row in rows]
    assert answers.column_names == ["b", "e", "m", "p"]
    for batch in table.to_batches():
        assert isinstance(tables.Powmod(base="b", exp=2, mod=7)(batch), pa.RecordBatch)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2), pa.uint64()], ids=str)
@pytest.mark.parametrize("width", [None, 77])
def test_types_do_not_depend_on_values(kind: pa.DataType, width: int | None) -> None:
    numbers: list[Any] = [7, 300] if kind == pa.uint64() else [b"\x00\x07", b"\x01\x2c"]
    if kind in (pa.binary(), pa.large_binary()):
        numbers[0] = b"\x07"
    table = pa.table({"n": pa.array([*numbers, None], kind)})
    step = tables.Powmod(base="n", exp=3, mod="n", width=width)
    schema = step.schema(table.schema)
    for start in range(3):
        assert step(table.slice(start, 1)).schema == schema
    assert integers(step(table)["power"]) == [0, 0, None]


def test_wrong_arguments_are_named() -> None:
    table = pa.table({"n": pa.array([b"\x07"]), "text": ["seven"]})
    with pytest.raises(ValueError, match="mod: the table has no column 'm'; its columns are n, text"):
        tables.Powmod(base="n", exp=1, mod="m")(table)
    with pytest.raises(ValueError, match="has a column 'text' already"):
        tables.Powmod(base="n", exp=1, mod=7, out="text")(table)
    with pytest.raises(TypeError, match="base is a column of Utf8"):
        tables.Powmod(base="text", exp=1, mod=7)(table)
    public, private = paillier.generate(1024)
    with pytest.raises(TypeError, match="'text' has the type string"):
        tables.PaillierEncrypt(public, column="text")(table)
    with pytest.raises(ValueError, match="integers, whose exponent is 0, not -1"):
        tables.PaillierEncrypt(public, column="i", exponent=-1)(pa.table({"i": [1]}))
    with pytest.raises(ValueError, match="1 rows of the column 'c' are null"):
        tables.PaillierSum(public, column="c")(pa.table({"c": pa.array([None], pa.binary(256))}))


def test_keys_are_pickled_on_request_alone() -> None:
    key = rsa.generate(1024, allow_small=True)
    table = pa.table({"m": pa.array([b"message", None])})
    with pytest.raises(TypeError, match="picklable"):
        pickle.dumps(tables.RsaSign(key, message="m"))
    step = pickle.loads(pickle.dumps(tables.RsaSign(key.picklable(), message="m", padding="pkcs1v15")))
    assert step(table)["signature"][0].as_py() == rsa.sign(key, b"message", padding="pkcs1v15")
    calls = []
    step = tables.RsaSign(lambda: calls.append(1) or key, message="m")
    for start in (0, 0, 1):
        assert step(table.slice(start)).schema == step.schema(table.schema)
    assert calls == [1]
    # A key that a function returned stays where it is.
    assert step.__getstate__()["_key"] is None


@pytest.mark.parametrize("exponent", [0, -3])
def test_encrypted_columns(exponent: int, rng: random.Random) -> None:
    public, private = paillier.generate(1024)
    numbers: list[Any] = [rng.randrange(-(2**40), 2**40) for _ in range(20)] + [0, 1, -1, 2**63 - 1, None]
    kind = pa.int64()
    if exponent:
        numbers = [None if number is None else number % 2**30 / 16 for number in numbers] + [float("nan"), 1e40, -1e40]
        kind = pa.float64()
    table = pa.table({"n": pa.array(numbers, kind)})
    settings: dict[str, Any] = {"exponent": exponent, "magnitude_bits": 64}
    # The private key encrypts too.
    for key in (public, private):
        encrypted = tables.PaillierEncrypt(key, column="n", out="c", **settings)(table)
        failed = [reason is not None for reason in encrypted["error"].to_pylist()]
        assert failed == [number is None or not abs(number) < 1e20 for number in numbers]
        decrypted = tables.PaillierDecrypt(private, column="c", error="why", **settings)(encrypted)
        assert decrypted["decrypted"].type == kind
        assert decrypted["decrypted"].to_pylist() == [None if wrong else n for n, wrong in zip(numbers, failed)]
    step = tables.PaillierSum(public, column="c", **settings)
    whole = encrypted.filter(pa.compute.is_valid(encrypted["c"]))
    pieces = [step(whole.slice(0, 7)), step(whole.slice(7, 0)), step(whole.slice(7))]
    assert private.decrypt(step.join(pieces)) == [sum(n for n, wrong in zip(numbers, failed) if not wrong)]
    assert private.decrypt(step.join([])) == [0]


def test_types_of_encrypted_columns() -> None:
    public, private = paillier.generate(1024)
    for kind, exponent in [(pa.int32(), 0), (pa.float32(), -2)]:
        table = pa.table({"n": pa.array([1, None], kind)})
        encrypt = tables.PaillierEncrypt(public, column="n", out="c", exponent=exponent)
        decrypt = tables.PaillierDecrypt(private, column="c", error="why", exponent=exponent)
        for start in (0, 1, 2):
            encrypted = encrypt(table.slice(start))
            assert encrypted.schema == encrypt.schema(table.schema)
            assert decrypt(encrypted).schema == decrypt.schema(encrypted.schema)


def test_wrong_ciphertexts_fail_alone() -> None:
    public, private = paillier.generate(1024)
    right = public.encrypt([5, 2**70, -7]).ciphertexts("bytes")
    wrong = [bytes(256), public.n.to_bytes(256, "big"), b"\xff" * 256]
    table = pa.table({"c": pa.array([right[0], wrong[0], right[1], wrong[1], right[2], wrong[2], None], pa.binary(256))})
    answers = tables.PaillierDecrypt(private, column="c", magnitude_bits=80)(table)
    assert answers["decrypted"].to_pylist() == [5, None, None, None, -7, None, None]
    reasons = answers["error"].to_pylist()
    assert reasons[2] == "the number does not fit the type int64" and reasons[6] == "the number is null"
    assert all("ciphertext" in reasons[row] or "decrypt" in reasons[row] for row in (1, 3, 5))


def test_steps_of_an_intersection() -> None:
    alice, bob = psi.Party("ffdhe2048"), psi.Party("ffdhe2048")
    hers, his = [b"ann", b"ben", b"", b"cid"], [b"ben", b"dora", b""]
    blinded = tables.PsiBlind(alice, column="item")(pa.table({"id": range(4), "item": hers}))
    assert blinded.column_names == ["id", "item", "element"] and blinded["element"].type == pa.binary(256)
    tags = tables.PsiTags(bob, column="element")(blinded)["tag"]
    assert tags.type == pa.binary(16)
    other = tables.PsiBlind(bob, column="item")(pa.table({"item": pa.chunked_array([his[:1], [], his[1:]], pa.binary())}))
    known = set(tables.PsiTags(alice, column="element")(other)["tag"].to_pylist())
    assert [tag in known for tag in tags.to_pylist()] == [False, True, True, False]
    # Pieces without rows have the same types.
    step = tables.PsiBlind(alice, column="item")
    assert step.schema(blinded.schema.remove(2)) == blinded.schema
    with pytest.raises(ValueError, match="null"):
        step(pa.table({"item": pa.array([b"x", None])}))
    with pytest.raises(TypeError, match="only on request"):
        pickle.dumps(step)
    again = pickle.loads(pickle.dumps(tables.PsiBlind(alice.picklable(), column="item")))
    table = pa.table({"item": hers})
    assert again(table)["element"] == step(table)["element"]
