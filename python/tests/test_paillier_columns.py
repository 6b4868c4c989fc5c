"""Encrypted columns that behave like columns: NumPy and pandas, parts, mixed numbers, Arrow's fields, packing."""

import fractions
import pickle

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from modmill import tables
from modmill.paillier import EncryptedColumn, PackedColumn, Packing, generate

phe = pytest.importorskip("phe")

PUBLIC, PRIVATE = generate(1024)
NUMBERS = [5, -7, 11]


def column():
    return PUBLIC.encrypt(NUMBERS)


def decrypt(encrypted):
    assert isinstance(encrypted, EncryptedColumn)
    return PRIVATE.decrypt(encrypted)


@pytest.mark.parametrize(
    "clear",
    [
        numpy.array([1, 2, 3]),
        numpy.array([1, 2, 3], "uint8"),
        numpy.array([1, 2, 3], "uint64"),
        numpy.array([0.5, 2, 3]),
        numpy.array([0.5, 2, 3], "float32"),
        numpy.array([True, False, True]),
        pandas.Series([1, 2, 3], index=[7, 8, 9]),
        pandas.Series([0.5, 2, 3]),
        pandas.Series([True, False, True]),
        [1, 2.5, numpy.float32(0.5)],
        [numpy.int64(1), True, numpy.bool_(False)],
        (number / 2 for number in range(3)),
    ],
    ids=str,
)
def test_columns_of_other_libraries_on_either_side(clear):
    listed = clear.tolist() if hasattr(clear, "tolist") else list(clear)
    clear = clear if hasattr(clear, "tolist") else listed
    pairs = list(zip(NUMBERS, (number + 0 for number in listed)))
    assert decrypt(clear * column()) == decrypt(column() * clear) == [a * float(b) for a, b in pairs]
    assert decrypt(clear + column()) == decrypt(column() + clear) == [a + b for a, b in pairs]
    assert decrypt(column() - clear) == [a - b for a, b in pairs]
    assert decrypt(clear - column()) == [b - a for a, b in pairs]
    # A series of pandas takes whatever stands on the right of @ for an array.
    dots = [column() @ clear] if isinstance(clear, pandas.Series) else [column() @ clear, clear @ column()]
    assert all(decrypt(dot) == [sum(a * b for a, b in pairs)] for dot in dots)
    assert decrypt(PUBLIC.encrypt(clear)) == [float(number) for number in listed]


@pytest.mark.parametrize("number", [3, 2.5, True, numpy.int64(3), numpy.uint8(3), numpy.float32(1.5), numpy.float64(0.1), numpy.array(4)])
def test_single_numbers(number):
    value = number.item() if hasattr(number, "item") else number
    assert decrypt(column() + number) == decrypt(number + column()) == [item + value for item in NUMBERS]
    assert decrypt(column() - number) == [item - value for item in NUMBERS]
    assert decrypt(number - column()) == [value - item for item in NUMBERS]
    assert decrypt(column() * number) == decrypt(number * column()) == pytest.approx([item * value for item in NUMBERS])


def test_generators_and_other_forms():
    assert decrypt(PUBLIC.encrypt(number / 2 for number in range(3))) == [0, 0.5, 1]
    assert decrypt(PUBLIC.encrypt(range(3))) == [0, 1, 2]
    assert decrypt(PUBLIC.encrypt(polars.Series([2**100, -5], dtype=polars.Int128))) == [2**100, -5]
    assert decrypt(PUBLIC.encrypt(polars.Series([0.5, 1], dtype=polars.Float32))) == [0.5, 1]
    assert decrypt(PUBLIC.encrypt(pyarrow.array([0.5, 1], "float32"))) == [0.5, 1]
    assert decrypt(PUBLIC.encrypt(pandas.Series([0.5, 1], dtype="Float64"))) == [0.5, 1]
    for wrong, error, reason in [
        (numpy.zeros((2, 2)), ValueError, "column has 2 dimensions"),
        ([None, 1.5], ValueError, "column: item 0 is null"),
        (pandas.Series([0.5, None], dtype="Float64"), ValueError, "column: item 1 is null"),
        ([1.5, "x"], TypeError, "column: item 1 is of type str; an int or a float was expected"),
        ([1.5, [2]], TypeError, "column: item 1 is of type list"),
        ([0.5, fractions.Fraction(1, 3)], ValueError, "column: item 1: 1/3 is no float"),
        ([b"x", 0.5], TypeError, "mixes bytes"),
        ("text", TypeError, "column is of type str"),
        (None, TypeError, "column is of type NoneType"),
    ]:
        with pytest.raises(error, match=reason):
            PUBLIC.encrypt(wrong)
    with pytest.raises(TypeError, match="column is of type list; an EncryptedColumn"):
        PRIVATE.decrypt([1, 2])
    with pytest.raises(TypeError, match="two encrypted columns"):
        column() * column()
    with pytest.raises(TypeError, match="no array"):
        numpy.asarray(column())


def test_mixed_numbers_are_exact_or_refused():
    assert decrypt(PUBLIC.encrypt([2**52 + 1, 0.5, -3])) == [2**52 + 1, 0.5, -3]
    for mixed in [[2**60 + 1, 0.5], [0.5, 10**400]]:
        with pytest.raises(ValueError, match="a whole number that no float holds"):
            PUBLIC.encrypt(mixed)
        with pytest.raises(ValueError, match="a whole number that no float holds"):
            PUBLIC.encrypt([1, 2]) * mixed
    # With exponents of their own, whole numbers stay whole.
    for key in (PUBLIC, PRIVATE):
        found = decrypt(key.encrypt([0.5, 2**60 + 1, -2.25, -7], each=True))
        assert found == [0.5, 2**60 + 1, -2.25, -7] and [type(number) for number in found] == [float, int, float, int]
    theirs = phe.PaillierPublicKey(PUBLIC.n)
    numbers = EncryptedColumn.from_phe(PUBLIC, [theirs.encrypt(number) for number in (2**60 + 1, 0.5, -7)])
    found = decrypt(numbers)
    assert found == [2**60 + 1, 0.5, -7] and [type(number) for number in found] == [int, float, int]


def test_exponents_of_strangers_take_no_memory():
    huge = EncryptedColumn.from_arrow(PUBLIC, column().ciphertexts(), 2**31 - 1, 64)
    with pytest.raises(OverflowError, match="item 0 is too large: its exponent is 2147483647"):
        decrypt(huge)


def test_parts():
    whole = PUBLIC.encrypt(range(10))
    assert decrypt(whole[0]) == [0] and decrypt(whole[-1]) == decrypt(whole[numpy.int64(9)]) == [9]
    assert decrypt(whole[2:5]) == [2, 3, 4] and decrypt(whole[::-3]) == [9, 6, 3, 0] and decrypt(whole[20:]) == []
    assert decrypt(whole[[7, 7, -10]]) == decrypt(whole[numpy.array([7, 7, 0])]) == [7, 7, 0]
    mask = [number % 3 == 0 for number in range(10)]
    for key in [mask, numpy.array(mask), pandas.Series(mask), pyarrow.array(mask), polars.Series(mask)]:
        assert decrypt(whole[key]) == [0, 3, 6, 9]
    assert [decrypt(item) for item in whole[:3]] == [[0], [1], [2]]
    for key in [10, -11, [3, 10], [True, False]]:
        with pytest.raises(IndexError):
            whole[key]
    with pytest.raises(TypeError):
        whole[1.5]
    each = PUBLIC.encrypt([0.5, 1e10], each=True)
    assert each[1:].exponent == each.exponent[1:] and decrypt(each[1]) == [1e10]
    joined = EncryptedColumn.concat([whole[:2], whole[9], whole[:0]])
    assert (decrypt(joined), joined.exponent) == ([0, 1, 9], 0)
    assert decrypt(EncryptedColumn.concat([whole[:1], each])) == [0, 0.5, 1e10]
    with pytest.raises(ValueError, match="belongs to the key"):
        EncryptedColumn.concat([whole, generate(1024)[0].encrypt([1])])
    with pytest.raises(ValueError, match="no columns"):
        EncryptedColumn.concat([])


def test_quotients_means_and_products_with_matrices():
    for divisor in [1, 2, 4, 8, 16, 1024, -4, 2.0, numpy.int64(2), 2**70, 0.5, 3, -0.1]:
        assert decrypt(column() / divisor) == pytest.approx([number / divisor for number in NUMBERS], rel=1e-15)
    # By a power of two the bound grows by few bits.
    assert (PUBLIC.encrypt([3, 5]) / 2).magnitude_bits <= PUBLIC.encrypt([3, 5]).magnitude_bits + 4
    assert decrypt(column() / [2, 4, 8]) == [2.5, -1.75, 1.375]
    with pytest.raises(ZeroDivisionError):
        column() / 0
    assert decrypt(PUBLIC.encrypt([1, 2, 3, 4]).mean()) == [2.5]
    with pytest.raises(ValueError, match="no mean"):
        PUBLIC.encrypt([]).mean()
    matrix = numpy.array([[1, 2, 3], [0, -1, 4]])
    expected = (matrix @ numpy.array(NUMBERS)).tolist()
    assert decrypt(matrix @ column()) == decrypt(matrix.tolist() @ column()) == expected
    assert decrypt(column() @ matrix.T) == decrypt(column() @ (matrix.T / 2) * 2) == expected
    with pytest.raises(ValueError, match="rows of the matrix differ"):
        [[1, 2, 3], [1, 2]] @ column()
    with pytest.raises(ValueError, match="2 items"):
        matrix.T @ column()


def test_sums_by_group():
    rng = numpy.random.default_rng(7)
    values, keys = rng.integers(-1000, 1000, 200), rng.integers(0, 23, 200)
    frame = pandas.DataFrame({"value": values, "key": keys})
    expected = frame.groupby("key", sort=False)["value"].sum()
    for labels in [keys, frame["key"], pyarrow.array(keys), [f"group {key}" for key in keys]]:
        found, sums = PUBLIC.encrypt(values).sum_by(labels)
        assert [str(label).removeprefix("group ") for label in found] == [str(label) for label in expected.index]
        assert decrypt(sums) == expected.tolist()
    each = PUBLIC.encrypt([0.5, 1e6, 2.0], each=True)
    assert decrypt(each.sum_by(list("aba"))[1]) == [2.5, 1e6]
    assert decrypt(PUBLIC.encrypt([]).sum_by([])[1]) == []
    with pytest.raises(ValueError, match="2 keys for 3 numbers"):
        column().sum_by([1, 2])


def test_fresh_numbers_are_not_masked_again():
    theirs = phe.PaillierPublicKey(PUBLIC.n)

    def masked(encrypted):
        """Whether python-paillier shows other ciphertexts than the column has."""
        return [number.ciphertext() for number in encrypted.to_phe(theirs)] != encrypted.ciphertexts()

    fresh = [column(), PRIVATE.encrypt(NUMBERS), column()[1:], column().randomize(), (column() + 1).randomize()]
    fresh += [pickle.loads(pickle.dumps(column())), EncryptedColumn.concat([column(), column()])]
    fresh += [EncryptedColumn.from_phe(PUBLIC, [theirs.encrypt(5)])]
    assert not any(masked(encrypted) for encrypted in fresh)
    computed = [column() + 1, column() * 2, -column(), column().sum(), column() @ [1, 2, 3], column() / 2]
    computed += [EncryptedColumn.concat([column(), column() + 1]), column().sum_by(list("aab"))[1]]
    assert all(masked(encrypted) for encrypted in computed)


def test_exponent_and_bound_travel_with_arrow(tmp_path):
    prices = PUBLIC.encrypt([1.5, -0.25, 3.0], exponent=-2)
    table = pyarrow.table(prices.to_arrow("price"))
    assert table.column_names == ["price"] and table.column("price").type == pyarrow.binary(256)
    pyarrow.parquet.write_table(table, tmp_path / "prices.parquet")
    read = pyarrow.parquet.read_table(tmp_path / "prices.parquet")
    for held in [prices.to_arrow(), table, table.to_batches()[0], read, read.slice(0, 3)]:
        again = EncryptedColumn.from_arrow(PUBLIC, held)
        assert (again.exponent, again.magnitude_bits) == (-2, prices.magnitude_bits)
        assert decrypt(again + 1) == [2.5, 0.75, 4.0]
        assert pyarrow.array(PRIVATE.decrypt_to_arrow(held)).to_pylist() == [1.5, -0.25, 3.0]
        assert decrypt(EncryptedColumn.from_arrow(PUBLIC, held, -2, prices.magnitude_bits)) == [1.5, -0.25, 3.0]
        with pytest.raises(ValueError, match="exponent is 0, and the column says -2"):
            EncryptedColumn.from_arrow(PUBLIC, held, 0)
        with pytest.raises(ValueError, match="exponent is -3, and the column says -2"):
            PRIVATE.decrypt_to_arrow(held, -3)
        with pytest.raises(ValueError, match="magnitude_bits is 32, and the column says 64"):
            EncryptedColumn.from_arrow(PUBLIC, held, magnitude_bits=32)
    octets = PUBLIC.encrypt_to_arrow([0.5, 2.0], exponent=-3)
    assert octets.metadata == {"modmill.paillier.exponent": "-3", "modmill.paillier.magnitude_bits": "64"}
    assert pyarrow.array(PRIVATE.decrypt_to_arrow(octets)).to_pylist() == [0.5, 2.0]
    each = PUBLIC.encrypt([0.5, 1e10], each=True)
    assert decrypt(EncryptedColumn.from_arrow(PUBLIC, each.to_arrow(), each.exponent)) == [0.5, 1e10]
    with pytest.raises(ValueError, match="exponent of its own"):
        EncryptedColumn.from_arrow(PUBLIC, each.to_arrow())
    wrong = table.cast(pyarrow.schema([table.schema.field(0).with_metadata({"modmill.paillier.exponent": "x"})]))
    with pytest.raises(ValueError, match="says 'x' for modmill.paillier.exponent"):
        EncryptedColumn.from_arrow(PUBLIC, wrong)


def test_steps_read_what_the_field_says():
    clear = pyarrow.table({"x": [0.5, -1.25, None]})
    encrypted = tables.PaillierEncrypt(PUBLIC, column="x", exponent=-2, magnitude_bits=40)(clear)
    decrypted = tables.PaillierDecrypt(PRIVATE, column="encrypted", error="why")(encrypted)
    assert decrypted["decrypted"].to_pylist() == [0.5, -1.25, None]
    with pytest.raises(ValueError, match="exponent is 0, and the column says -2"):
        tables.PaillierDecrypt(PRIVATE, column="encrypted", error="why", exponent=0)(encrypted)
    step = tables.PaillierSum(PUBLIC, column="encrypted")
    total = step.join([step(encrypted.slice(0, 1)), step(encrypted.slice(1, 1))])
    assert (decrypt(total), total.exponent) == ([-0.75], -2)


def test_packed_columns():
    packing = Packing(16, terms=1000)
    assert packing.terms == 1024 and packing.slots(PUBLIC) == 39
    values = numpy.arange(-50, 50)
    packed = packing.encrypt(PUBLIC, values)
    assert (len(packed), packed.ciphertexts, packed.terms) == (100, 3, 1)
    assert PRIVATE.decrypt(packed) == values.tolist()
    assert PRIVATE.decrypt(packed + packed * 2) == PRIVATE.decrypt(3 * packed) == (3 * values).tolist()
    again = PackedColumn.from_bytes(PUBLIC, packed.to_bytes(), packing)
    for total in [PackedColumn.sum([packed, again]), packed + pickle.loads(pickle.dumps(packed))]:
        assert total.terms == 2 and PRIVATE.decrypt(total) == (2 * values).tolist()
    with pytest.raises(ValueError, match="packed in another way"):
        PackedColumn.from_bytes(PUBLIC, packed.to_bytes(), Packing(8, terms=1000))
    with pytest.raises(ValueError, match="packed in different ways"):
        packed + Packing(16, terms=1000, signed=False).encrypt(PUBLIC, range(100))
    with pytest.raises(OverflowError, match="the packing allows 1024"):
        packed * 1025
    for wrong in [[2**15], [0, -(2**15) - 1], [2**200], [-(2**200)]]:
        with pytest.raises(ValueError, match=f"item {len(wrong) - 1} of the numbers"):
            packing.encrypt(PUBLIC, wrong)
    with pytest.raises(ValueError, match="a number has 65 bits"):
        Packing(65, terms=1)
    with pytest.raises(ValueError, match="has an exponent"):
        packing.encrypt(PUBLIC, [0.5])
    with pytest.raises(ValueError, match="positive integers"):
        packed * 0
    floats = Packing(24, terms=10, exponent=-4)
    gradients = floats.encrypt(PUBLIC, numpy.array([0.25, -1.5, 1e-9, 3]))
    assert PRIVATE.decrypt(gradients + gradients) == [0.5, -3.0, 0.0, 6.0]
    with pytest.raises(ValueError, match="item 1 is not finite"):
        floats.encrypt(PUBLIC, [0.5, float("nan")])
    with pytest.raises(ValueError, match="belongs to the key"):
        generate(1024)[1].decrypt(packed)
