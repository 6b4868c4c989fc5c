"""Paillier: identities, python-paillier both ways, overflows, forms of columns, pickling."""

import base64
import json
import math
import pickle
import random

import modmill
import numpy
import pandas
import polars
import pyarrow
import pytest
from modmill.paillier import EncryptedColumn, PrivateKey, PublicKey, generate

phe = pytest.importorskip("phe")

VALUES = [0.0, 1.0, -1.0, 0.1, -2.5e-7, 123456.789, -1e12, math.pi]


@pytest.fixture(scope="module", params=["short", "full", "subgroup"])
def keys(request):
    return generate(1024, short=request.param == "short", subgroup=request.param == "subgroup")


@pytest.fixture(scope="module")
def theirs(keys):
    public = phe.PaillierPublicKey(keys[0].n)
    members = json.loads(keys[1].to_json())
    p, q = (phe.util.base64_to_int(members[name]) for name in "pq")
    return public, phe.PaillierPrivateKey(public, p, q)


def test_numbers_come_back(keys):
    public, private = keys
    assert private.decrypt(public.encrypt(VALUES)) == VALUES
    assert private.decrypt(private.encrypt(VALUES)) == VALUES
    assert private.decrypt(public.encrypt(VALUES, each=True)) == VALUES
    whole = [0, 1, -1, 2**63, -(2**200), public.n // 3 - 1, 1 - public.n // 3]
    assert private.decrypt(public.encrypt(whole)) == whole
    assert private.decrypt(private.encrypt(whole)) == whole
    assert private.decrypt(public.encrypt([])) == []
    assert private.decrypt(public.encrypt([0.1], exponent=-2)) == [26 / 256]


def test_columns_of_every_form(keys):
    public, private = keys
    floats = numpy.array(VALUES)
    assert private.decrypt(public.encrypt(floats)) == VALUES
    assert private.decrypt(public.encrypt(pyarrow.array(VALUES))) == VALUES
    assert private.decrypt(public.encrypt(numpy.array([5, -6]))) == [5, -6]
    assert private.decrypt(public.encrypt(pyarrow.array([5, 6], pyarrow.uint64()))) == [5, 6]
    assert private.decrypt(public.encrypt([b"\x01\x00", b"\x07"])) == [256, 7]
    with pytest.raises(ValueError, match="null"):
        public.encrypt([1, None])


def test_arithmetic(keys):
    public, private = keys
    a, b = [5, -7, 2**40], [11, 3, -1]
    x, y = public.encrypt(a), public.encrypt(b)
    assert private.decrypt(x + y) == [s + t for s, t in zip(a, b)]
    assert private.decrypt(x - y) == [s - t for s, t in zip(a, b)]
    assert private.decrypt(-x) == [-s for s in a]
    assert private.decrypt(x + b) == private.decrypt(b + x) == [s + t for s, t in zip(a, b)]
    assert private.decrypt(x - b) == [s - t for s, t in zip(a, b)]
    assert private.decrypt(10 - x) == [10 - s for s in a]
    assert private.decrypt(x * b) == private.decrypt(b * x) == [s * t for s, t in zip(a, b)]
    assert private.decrypt(x.multiply(-3, secret=False)) == [-3 * s for s in a]
    assert private.decrypt(x * 0.5) == [s / 2 for s in a]
    assert private.decrypt(x + 0.25) == [s + 0.25 for s in a]
    assert private.decrypt(x.sum()) == [sum(a)]
    assert private.decrypt(x.dot(b)) == [sum(s * t for s, t in zip(a, b))]
    assert private.decrypt(x.dot([0.5, 2.0, 0.0])) == [2.5 - 14]
    again = x.randomize()
    assert private.decrypt(again) == a and again.ciphertexts() != x.ciphertexts()


def test_columns_of_arrow_come_out(keys):
    public, private = keys

    def arrow(column):
        return pyarrow.array(private.decrypt_to_arrow(column))

    ends = [2**63 - 1, -(2**63), 0, -1]
    assert arrow(public.encrypt(ends)) == pyarrow.array(ends, "int64")
    assert arrow(public.encrypt([0.5, -3.25])) == pyarrow.array([0.5, -3.25], "float64")
    assert arrow(public.encrypt([])) == pyarrow.array([], "int64")
    # An exponent of one, and numbers that it takes beyond 64 bits.
    sixteens = EncryptedColumn.from_arrow(public, public.encrypt([3, -(2**59), 0]).ciphertexts(), 1, 64)
    assert arrow(sixteens).to_pylist() == [48, -(2**63), 0]
    beyond = EncryptedColumn.from_arrow(public, public.encrypt([3, 2**59]).ciphertexts(), 1, 64)
    for column, item in [(public.encrypt([1, 2**63]), 1), (public.encrypt([-(2**64)]), 0), (beyond, 1)]:
        with pytest.raises(OverflowError, match=f"item {item} does not fit in 64 bits: decrypt to a list"):
            private.decrypt_to_arrow(column)


def test_columns_of_arrow_go_in_and_come_out(keys):
    public, private = keys

    def arrow(numbers, exponent=None):
        ciphertexts = pyarrow.array(public.encrypt_to_arrow(numbers, exponent))
        width = (2 * public.bits + 7) // 8
        assert ciphertexts.type == pyarrow.binary(width) and ciphertexts.null_count == 0
        return ciphertexts

    ends = [2**63 - 1, -(2**63), 0, -1]
    for numbers in [ends, pyarrow.array(ends), numpy.array(ends), pyarrow.chunked_array([ends[:1], ends[1:]])]:
        assert pyarrow.array(private.decrypt_to_arrow(arrow(numbers))).to_pylist() == ends
    # Others decrypt what was encrypted, and the other way round.
    assert private.decrypt(EncryptedColumn.from_arrow(public, arrow(ends), 0, 64)) == ends
    assert pyarrow.array(private.decrypt_to_arrow(public.encrypt(ends).to_arrow())).to_pylist() == ends
    # Slices, chunks and columns of other types have the same numbers.
    whole = arrow(ends)
    assert pyarrow.array(private.decrypt_to_arrow(whole.slice(1, 2))).to_pylist() == ends[1:3]
    for column in [pyarrow.chunked_array([whole.slice(2), whole.slice(0, 2)]), whole.slice(2).cast("binary")]:
        assert pyarrow.array(private.decrypt_to_arrow(column)).to_pylist()[:2] == ends[2:]
    assert pyarrow.array(private.decrypt_to_arrow(whole.slice(0, 0))) == pyarrow.array([], "int64")

    floats = [0.5, -3.25, 0.0, 1e-30]
    doubled = numpy.repeat(floats, 2)
    series = polars.Series(floats), pandas.Series(floats)
    for numbers in [floats, pyarrow.array(floats), numpy.array(floats), doubled[::2], *series]:
        found = pyarrow.array(private.decrypt_to_arrow(arrow(numbers, -3), -3))
        assert found == pyarrow.array([0.5, -3.25, 0.0, 0.0], "float64")
        assert private.decrypt(public.encrypt(numbers)) == floats
    assert pyarrow.array(private.decrypt_to_arrow(arrow([3, -(2**59), 0]), 1)).to_pylist() == [48, -(2**63), 0]


def test_columns_of_arrow_that_are_refused(keys):
    public, private = keys
    whole = pyarrow.array(public.encrypt_to_arrow([1, 2, 3]))
    octets = whole.to_pylist()
    for number in [bytes(len(octets[0])), b"\xff" * len(octets[0])]:
        with pytest.raises(ValueError, match="item 1 of the ciphertexts"):
            private.decrypt_to_arrow(pyarrow.array([octets[0], number, octets[2]], whole.type))
    with pytest.raises(ValueError, match="item 1 is null"):
        private.decrypt_to_arrow(pyarrow.array([octets[0], None], whole.type))
    for item, numbers in [(1, [1, 2**63, 2**64]), (0, [-(2**64)])]:
        with pytest.raises(OverflowError, match=f"item {item} does not fit in 64 bits: decrypt to a list"):
            private.decrypt_to_arrow(pyarrow.array(public.encrypt_to_arrow(numbers)))
    with pytest.raises(ValueError, match="exponent of floating-point numbers has to be given"):
        public.encrypt_to_arrow([0.5])
    with pytest.raises(ValueError, match="exponent is for columns of float"):
        public.encrypt_to_arrow([5], 1)
    with pytest.raises(ValueError, match="exponent is for columns of Arrow"):
        private.decrypt_to_arrow(public.encrypt([5]), 0)
    for numbers in [pyarrow.array([0.5, None]), polars.Series([0.5, None]), [0.5, None]]:
        with pytest.raises(ValueError, match="column: item 1 is null"):
            public.encrypt(numbers)


def test_python_paillier_reads_ours(keys, theirs):
    public, private = keys
    their_public, their_private = theirs
    for column in [public.encrypt(VALUES), private.encrypt(VALUES), public.encrypt(VALUES, each=True)]:
        assert [their_private.decrypt(number) for number in column.to_phe(their_public)] == VALUES
    whole = [0, 5, -6, 2**70]
    assert [their_private.decrypt(number) for number in public.encrypt(whole).to_phe(their_public)] == whole
    total = (public.encrypt(VALUES) * 3).sum()
    assert their_private.decrypt(total.to_phe(their_public)[0]) == pytest.approx(3 * math.fsum(VALUES), rel=1e-12)


def test_python_paillier_is_read(keys, theirs):
    public, private = keys
    numbers = [theirs[0].encrypt(value) for value in VALUES]
    assert private.decrypt(EncryptedColumn.from_phe(public, numbers)) == VALUES
    column = EncryptedColumn.from_phe(public, numbers, magnitude_bits=64)
    assert private.decrypt(column + public.encrypt([1.0] * len(VALUES))) == [value + 1 for value in VALUES]
    other, _ = phe.generate_paillier_keypair(n_length=1024)
    with pytest.raises(ValueError, match="another key"):
        EncryptedColumn.from_phe(public, [other.encrypt(1)])
    with pytest.raises(ValueError, match="another n"):
        public.encrypt([1]).to_phe(other)


def test_keys_exchange_with_python_paillier(keys):
    public, private = keys
    assert PublicKey.from_json(public.to_json("name")) == public
    again = PrivateKey.from_json(private.to_json("name"))
    assert again.public_key == public and again.decrypt(public.encrypt([5])) == [5]
    with pytest.raises(ValueError, match="not a key"):
        PublicKey.from_json("{}")
    with pytest.raises(ValueError, match="it is a public key where a private key was expected"):
        PrivateKey.from_json(public.to_json())
    with pytest.raises(ValueError, match="it is a private key where a public key was expected"):
        PublicKey.from_json(private.to_json())


def test_a_base_that_hides_nothing_is_refused():
    """Somebody who changes the base of a public key on its way must not read what is encrypted with it."""
    public, private = generate(1024)
    members, n = json.loads(public.to_json()), public.n
    own = int.from_bytes(base64.urlsafe_b64decode(members["hs"] + "=="), "big")

    def text(base):
        return base64.urlsafe_b64encode(base.to_bytes(256, "big").lstrip(b"\0")).rstrip(b"=").decode()

    for base in [n * n - 1, n + 1, n - 1, 1, n]:
        members["hs"] = text(base)
        with pytest.raises(ValueError, match="hs"):
            PublicKey.from_json(json.dumps(members))
    members["hs"] = text(own * own % (n * n))
    changed = PublicKey.from_json(json.dumps(members))
    assert changed != public and len({changed, public}) == 2
    with pytest.raises(ValueError, match="belongs to the key"):
        EncryptedColumn.from_bytes(public, changed.encrypt([52000]).to_bytes())
    with pytest.raises(ValueError, match="not a Paillier column that can be read"):
        EncryptedColumn.from_bytes(public, b"rubbish")


def test_keys_that_anyone_can_factor_are_refused():
    text = '{"kty":"DAJ","alg":"PAI-GN1","n":"%s"}'
    for n, reason in [(3**700, "divisible by 3"), ((2**512 - 569) ** 2, "perfect power with exponent 2")]:
        octets = n.to_bytes((n.bit_length() + 7) // 8, "big")
        with pytest.raises(ValueError, match=reason):
            PublicKey.from_json(text % base64.urlsafe_b64encode(octets).rstrip(b"=").decode())
    with pytest.raises(ValueError, match="the factor q is not prime"):
        modmill._modmill.PaillierPrivateKey.of_primes(2**512 - 569, 2**512 - 5)


def test_overflow_is_refused(keys):
    public, _ = keys
    column = public.encrypt([2**900])
    with pytest.raises(OverflowError, match="might overflow"):
        column * 2**200
    with pytest.raises(OverflowError, match="too large"):
        public.encrypt([public.n // 3])
    with pytest.raises(OverflowError):
        public.encrypt([1e-300, 1e300])
    with pytest.raises(ValueError, match="not finite"):
        public.encrypt([math.nan])


def test_wrong_keys_and_lengths(keys):
    public, private = keys
    other, _ = generate(1024)
    with pytest.raises(ValueError, match="belongs to the key"):
        public.encrypt([1]) + other.encrypt([1])
    with pytest.raises(ValueError, match="belongs to the key"):
        private.decrypt(other.encrypt([1]))
    with pytest.raises(ValueError, match="2 items"):
        public.encrypt([1]) + public.encrypt([1, 2])
    assert public != other and len({public, other, PublicKey.from_json(public.to_json())}) == 2


def test_pickles_arrow_and_bytes(keys):
    public, private = keys
    column = public.encrypt([1.5, -2.5])
    for again in [
        pickle.loads(pickle.dumps(column)),
        EncryptedColumn.from_bytes(public, column.to_bytes()),
        EncryptedColumn.from_arrow(public, column.to_arrow(), column.exponent, column.magnitude_bits),
        EncryptedColumn.from_arrow(public, column.to_arrow()),
        EncryptedColumn.from_arrow(public, pyarrow.array(column.to_arrow()), column.exponent),
    ]:
        assert private.decrypt(again) == [1.5, -2.5]
    assert pickle.loads(pickle.dumps(public)) == public
    with pytest.raises(TypeError, match="only on request"):
        pickle.dumps(private)
    assert pickle.loads(pickle.dumps(private.picklable())).decrypt(column) == [1.5, -2.5]
    changed = bytearray(column.to_bytes())
    changed[-40] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        EncryptedColumn.from_bytes(public, bytes(changed))


def test_random_sums_and_progress(keys):
    public, private = keys
    rng = random.Random(5)
    values = [rng.randrange(-(2**60), 2**60) for _ in range(200)]
    seen = []
    engine = modmill.Engine(threads=2)
    column = public.encrypt(values, engine=engine, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (200, 200)
    assert private.decrypt(column.sum(engine=engine), engine=engine) == [sum(values)]


def test_encryption_and_decryption_are_shown(keys):
    public, private = keys
    engine = modmill.Engine(backend="cpu", threads=1)

    def is_shown(work):
        """Whether most of what a call tells is from its middle; a fast machine gets more to do."""
        for size in range(10, 20):
            told = []
            work(1 << size, lambda done, total: told.append(0 < done < total))
            if len(told) >= 10:
                return sum(told) > len(told) // 2
        return False

    some = public.encrypt(list(range(256)), engine=engine)
    arrow = pyarrow.array(some.to_arrow())

    def decrypt(count, progress):
        ciphertexts = pyarrow.chunked_array([arrow] * (count // 256))
        private.decrypt(EncryptedColumn.from_arrow(public, ciphertexts, 0, 64), engine=engine, progress=progress)

    assert is_shown(lambda count, progress: public.encrypt(list(range(count)), engine=engine, progress=progress))
    assert is_shown(decrypt)


def test_both_powers_of_the_owner_are_shown(keys):
    """The first power of all items is half of the work that is counted, and the second power the other half."""
    _, private = keys
    engine = modmill.Engine(backend="cpu", threads=1)
    told = []
    for size in range(10, 20):
        told.clear()
        private.encrypt(list(range(1 << size)), engine=engine, progress=lambda done, total: told.append(done / total))
        if len(told) >= 10:
            break
    assert any(0 < done < 0.5 for done in told) and any(0.5 < done < 1 for done in told)
    assert told == sorted(told) and told[-1] == 1
