"""Private set intersection against sets of Python."""

import hashlib
import pickle
import socket
import threading

import pyarrow as pa
import pytest

import modmill
from modmill import psi


def items(numbers):
    return [f"item {number}".encode() for number in numbers]


def run(hers, his, **options):
    """Both roles over a pair of sockets: the receiver's answer and the sender's."""
    here, there = socket.socketpair()
    answers = {}

    def send():
        try:
            answers["sender"] = psi.send(his, there, **options)
        except Exception as error:
            answers["sender"] = error
        finally:
            there.close()

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return psi.receive(hers, here, **options), answers
    finally:
        here.close()
        sender.join()


@pytest.mark.parametrize("group", ["ffdhe2048", "ffdhe3072", "ffdhe4096"])
def test_positions_are_those_of_sets(group):
    hers, his = items(range(0, 60)), items(range(40, 90))
    found, answers = run(hers, his, group=group)
    assert found == [hers.index(item) for item in hers if item in set(his)]
    assert answers["sender"] == 60


def test_size_and_generators():
    assert run((item for item in items(range(9))), iter(items(range(5, 20))), reveal="size")[0] == 4


@pytest.mark.parametrize("hers, his", [([], items(range(3))), (items(range(3)), []), ([], [])])
def test_empty_sets(hers, his):
    assert run(hers, his, group="ffdhe2048")[0] == []


def test_columns_of_arrow_stay_columns():
    party, other = psi.Party("ffdhe2048"), psi.Party("ffdhe2048")
    names = pa.array(items(range(5)))
    blinded = pa.array(party.blind(names))
    assert blinded.type == pa.binary(256)
    twice = party.tags(other.blind_again(blinded))
    expected = other.tags(party.blind_again(other.blind(names.to_pylist())))
    assert [bytes(tag.as_py()) for tag in pa.array(twice)] == expected


def expand(item, domain, octets):
    """expand_message_xmd of RFC 9380 with SHA-256, written anew."""
    end = domain + bytes([len(domain)])
    first = hashlib.sha256(bytes(64) + item + octets.to_bytes(2, "big") + b"\0" + end).digest()
    out, last = b"", bytes(32)
    for counter in range(1, -(-octets // 32) + 1):
        mixed = bytes(a ^ b for a, b in zip(first, last))
        last = hashlib.sha256(mixed + bytes([counter]) + end).digest()
        out += last
    return out[:octets]


def test_elements_are_powers_of_the_hash():
    """Two parties' quotient of exponents is not known, but their elements of one item generate the same group."""
    prime = 2**2048 - 2**1984 + (int_e(1918) + 560316) * 2**64 - 1
    party = psi.Party("ffdhe2048")
    element = int.from_bytes(party.blind([b"ann"])[0], "big")
    hashed = int.from_bytes(expand(b"ann", b"modmill-psi hash to group 1 ffdhe2048", 272), "big") % prime
    # The element is an even power of the hash: a square, as the product with the square of the hash is.
    assert pow(element, (prime - 1) // 2, prime) == 1
    # Blinding the number 4 = 2^2 and the hash gives powers to the same exponent: so does their product.
    four = int.from_bytes(party.blind_again([(4).to_bytes(256, "big")])[0], "big")
    product = (4 * hashed % prime).to_bytes(256, "big")
    assert int.from_bytes(party.blind_again([product])[0], "big") == four * element % prime


def int_e(bits):
    """The integral part of 2^bits e."""
    total, term, divisor = 0, 1 << (bits + 64), 1
    while term:
        total += term
        term //= divisor
        divisor += 1
    return total >> 64


def test_parties_that_disagree_raise():
    here, there = socket.socketpair()
    sender = threading.Thread(target=lambda: pytest.raises(Exception, psi.send, [b"a"], there, group="ffdhe2048"))
    sender.start()
    with pytest.raises(ConnectionError, match="ffdhe2048"):
        psi.receive([b"a"], here)
    here.close()
    sender.join()


def test_wrong_arguments_are_named():
    party = psi.Party("ffdhe2048")
    with pytest.raises(ValueError, match="ffdhe1024"):
        psi.Party("ffdhe1024")
    with pytest.raises(ValueError, match="item 1 is null"):
        party.blind([b"a", None])
    with pytest.raises(ValueError, match="item 0 has 3 bytes; 256"):
        party.blind_again([b"abc"])
    with pytest.raises(ValueError, match="element 0"):
        party.blind_again([(1).to_bytes(256, "big")])
    with pytest.raises(ValueError, match="reveal"):
        psi.receive([], None, reveal="all")
    here, there = socket.socketpair()
    with pytest.raises(ValueError, match="item 1"):
        psi.receive([b"a", "b"], here)
    there.close()


def test_exceptions_of_items_streams_and_listeners_are_raised():
    def broken():
        yield b"a"
        raise LookupError("no more")

    here, there = socket.socketpair()
    with pytest.raises(LookupError):
        psi.receive(broken(), here)

    def stop(done, total):
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        psi.receive([b"a"], here, progress=stop)
    there.close()
    here.settimeout(0.2)
    with pytest.raises(OSError):
        psi.receive([b"a"], here)


def test_progress_counts_both_stages():
    seen = []
    hers, his = items(range(30)), items(range(20))
    here, there = socket.socketpair()
    sender = threading.Thread(target=psi.send, args=(his, there), kwargs={"group": "ffdhe2048"})
    sender.start()
    psi.receive(hers, here, group="ffdhe2048", progress=lambda done, total: seen.append((done, total)))
    sender.join()
    assert seen == [(30, 30), (50, 50)]


def test_an_engine_can_be_named():
    engine = modmill.Engine(backend="cpu", threads=1)
    assert run(items(range(3)), items(range(2)), engine=engine, group="ffdhe2048")[0] == [0, 1]


def test_a_party_is_pickled_on_request() -> None:
    party = psi.Party("ffdhe2048")
    with pytest.raises(TypeError, match="only on request"):
        pickle.dumps(party)
    again = pickle.loads(pickle.dumps(party.picklable()))
    assert again.group == party.group and again.blind([b"ann"]) == party.blind([b"ann"])
    pickle.dumps(again)
    with pytest.raises(ValueError, match="secret exponent of ffdhe2048"):
        type(party._party)._unpickle("ffdhe2048", b"\x03")


def hello(items, role=0):
    return b"modmill-psi1" + bytes([role, 0, 0]) + items.to_bytes(8, "little")


def frame(kind, *records):
    return bytes([kind]) + len(records).to_bytes(4, "little") + b"".join(records)


def element(number):
    return number.to_bytes(256, "big")


REST = frame(1) + frame(2, bytes(16)) + frame(2)


@pytest.mark.parametrize(
    "messages, reason",
    [
        (hello(3) + frame(1, element(4), element(5)) + REST, "sent 2 of the 3 elements that it announced"),
        (hello(2**63) + REST, "the limit is"),
        (hello(2) + frame(1, element(5), element(4)) + REST, "not in ascending order"),
        (hello(2) + frame(1, element(5), element(5)) + REST, "repeated"),
        (hello(2) + frame(1, element(5), element(1)) + REST, "sent element 1, which is not between 2 and p - 2"),
        (hello(2) + frame(1, element(5), element(2**2048 - 1)) + REST, "sent element 1"),
        (hello(0, role=0x80) + REST, "unknown role 128"),
        (hello(148) + frame(1, element(4), element(5)), "closed the connection after 2 of 148 elements"),
        (b"", "closed the connection before"),
    ],
)
def test_a_party_that_breaks_the_protocol_is_a_connection_error(messages, reason):
    here, there = socket.socketpair()
    there.sendall(messages)
    there.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionError, match=reason):
        psi.receive([b"ann"], here, group="ffdhe2048")
    here.close()
    there.close()
