"""Requests that nobody sends by mistake: half ones, huge headers, garbage, deep JSON. The service answers, and goes on."""

import contextlib
import http.client
import os
import socket
import struct
import threading
import time

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from test_kms_boto3 import code, send


def raw(service, data, wait=5):
    """The service's answer to raw bytes, until it closes or nothing comes for `wait` seconds."""
    answer = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=wait) as connection:
        try:
            connection.sendall(data)
            while piece := connection.recv(65536):
                answer += piece
        except OSError:
            pass
    return answer


def post(service, body, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=300)
    connection.request("POST", "/", body, {"Content-Type": "application/x-amz-json-1.1", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_garbage_is_refused_and_the_service_goes_on(service, credential):
    for data in (
        b"\0" * 1000 + b"\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(500),
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"".join(b"h%d: %s\r\n" % (i, b"v" * 1000) for i in range(500)) + b"\r\n",
    ):
        answer = raw(service, data)
        assert b" 200 " not in answer.split(b"\r\n", 1)[0], answer[:200]
    assert send(service, credential)[0] == 200


def test_bodies_that_are_not_requests(service, credential):
    assert post(service, b"{}")[0] in (400, 403)
    try:
        assert post(service, b"x" * (8 << 20))[0] in (400, 403, 413)
    except (BrokenPipeError, ConnectionResetError):
        pass  # The service refused while the client was still sending.
    target = {"X-Amz-Target": "TrentService.NoSuchThing"}

    def unknown(request):
        del request.headers["X-Amz-Target"]
        request.headers["X-Amz-Target"] = "TrentService.NoSuchThing"

    status, content = send(service, credential, change=unknown)
    assert status == 400 and b"UnknownOperationException" in content
    assert post(service, b"{}", target)[0] in (400, 403)
    for body in (b"[" * 40_000, b'{"a":' * 40_000, b"\xff\xfe", b'{"KeyId":5}', b"null", b""):

        def deep(request, body=body):
            request.data = body
            del request.headers["X-Amz-Target"]
            request.headers["X-Amz-Target"] = "TrentService.DescribeKey"

        status, content = send(service, credential, change=deep)
        assert status == 400 and b"__type" in content, (body[:20], status, content)


def test_slow_headers_are_cut_off_while_others_are_served(service, credential):
    slow = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(200)]
    for connection in slow:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    assert send(service, credential)[0] == 200
    closed = 0
    for connection in slow:
        connection.settimeout(300)
        try:
            while connection.recv(4096):
                pass
            closed += 1
        except ConnectionResetError:
            closed += 1
        connection.close()
    assert closed == len(slow)
    assert send(service, credential)[0] == 200


def test_unknown_keys_tell_nothing_more(kms):
    for key in ("no-such-key", "alias/none", "arn:aws:kms:us-east-1:000000000000:key/none", "a" * 2049):
        answer = code(lambda: kms.describe_key(KeyId=key))
        assert answer in ("NotFoundException", "ValidationException", "InvalidArnException"), answer


@contextlib.contextmanager
def held(service, requests):
    """Connections that send these bytes and then wait."""
    with contextlib.ExitStack() as stack:
        for request in requests:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            with contextlib.suppress(OSError):  # The service may refuse what is too much.
                connection.sendall(request)
        time.sleep(0.5)  # What is measured is what stays, and not the burst at the start.
        yield


def head(path, length, *lines):
    lines = (f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *lines, "", "")
    return "\r\n".join(lines).encode()


def bodies_with_a_token(service):
    token = "X-Vault-Token: " + service.credential("holder", "--allow", "transit")["token"]
    long = head("/v1/transit/encrypt/none", 32 << 20, token) + b"{" * 100_000
    short = head("/v1/transit/encrypt/none", 2, token) + b"{"
    return held(service, [long] * 32 + [short] * 64)


def bodies_without_a_secret(service):
    name = service.credential("known")["access_key_id"]
    scope = time.strftime("%Y%m%d", time.gmtime()) + "/us-east-1/kms/aws4_request"
    signature = f"Credential={name}/{scope}, SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    request = head(
        "/", 1 << 18, "X-Amz-Target: TrentService.Sign", "Content-Type: application/x-amz-json-1.1",
        time.strftime("X-Amz-Date: %Y%m%dT%H%M%SZ", time.gmtime()), "Authorization: AWS4-HMAC-SHA256 " + signature,
    )
    return held(service, [request + b"{" * 1000] * 300)


def closed_windows(service):
    """Requests of HTTP/2 whose answers may never be written."""

    def frame(kind, flags, stream, payload=b""):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    path = b"/v1/sys/health"
    get = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x01x"
    no_window = frame(4, 0, 0, struct.pack(">HI", 4, 0))
    streams = b"".join(frame(1, 5, 2 * index + 1, get) for index in range(100))
    return held(service, [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + no_window + streams] * 40)


@contextlib.contextmanager
def key_generation(service):
    """Another client that generates keys without a pause."""
    kms = service.kms(service.credential("generator"), max_pool_connections=8)
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    end = threading.Event()

    def flood():
        while not end.is_set():
            with contextlib.suppress(BotoCoreError, ClientError):
                kms.generate_data_key_pair_without_plaintext(KeyId=key, KeyPairSpec="RSA_4096")

    threads = [threading.Thread(target=flood) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join()


def slowest(kms, key, seconds=2):
    """The time that 99 of 100 signatures stay below. Every request is answered."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 20:
        start = time.monotonic()
        kms.sign(KeyId=key, Message=b"honest", SigningAlgorithm="RSASSA_PSS_SHA_256")
        times.append(time.monotonic() - start)
    return sorted(times)[len(times) * 99 // 100]


@pytest.mark.parametrize("attack", [bodies_with_a_token, bodies_without_a_secret, closed_windows, key_generation])
def test_honest_requests_are_answered_during_an_attack(service, kms, attack):
    key = kms.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"]
    quiet = slowest(kms, key)
    with attack(service):
        # Every round has the cost of the attack. Other programs of the machine do not disturb every round.
        attacked = min(slowest(kms, key) for _ in range(3))
    assert attacked <= quiet + 0.1, (quiet, attacked)
