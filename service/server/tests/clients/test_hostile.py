"""Requests that nobody sends by mistake: half ones, huge headers, garbage, deep JSON. The service answers, and goes on."""

import http.client
import os
import socket

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
