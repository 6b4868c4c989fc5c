"""HAProxy with ssl-mode-async: hundreds of clients, clients that leave in the middle, descriptors and memory that stay."""

import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import common

if not shutil.which("haproxy"):
    common.left_out("there is no haproxy, and it could not be installed")

# Valgrind finds accesses to memory that is not there, and makes everything a hundred times slower. It has no AVX-512.
VALGRIND = "MODMILL_VALGRIND" in os.environ
HANDSHAKES = int(os.environ.get("MODMILL_HANDSHAKES", "200" if VALGRIND else "4000"))
CLIENTS = 200
SLOWER = 30 if VALGRIND else 1

if VALGRIND and not shutil.which("valgrind"):
    common.left_out("there is no valgrind (apt-get install valgrind)")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


PORTS = {bits: free_port() for bits in (2048, 4096)}
binds = "".join(
    f"frontend f{bits}\n bind 127.0.0.1:{port} ssl crt {common.path(f'site{bits}.pem')} no-tls-tickets\n"
    " http-request return status 200 content-type text/plain string ok\n"
    for bits, port in PORTS.items()
)
with open(common.path("haproxy.cfg"), "w") as file:
    file.write(
        "global\n nbthread 1\n ssl-mode-async\n tune.ssl.cachesize 0\n maxconn 2000\n"
        f"defaults\n mode http\n timeout client {30 * SLOWER}s\n timeout server 30s\n timeout connect 5s\n" + binds
    )
log = open(common.path("haproxy.log"), "w")
# Jobs have stacks of their own, which valgrind takes for large frames.
found = common.path("valgrind.log")
watched = ["valgrind", "--error-exitcode=99", "--max-stackframe=67108864", f"--log-file={found}"] if VALGRIND else []
haproxy = subprocess.Popen(
    [*watched, "haproxy", "-db", "-f", common.path("haproxy.cfg")], env=common.environment(), stdout=log, stderr=log
)


def descriptors():
    return len(os.listdir(f"/proc/{haproxy.pid}/fd"))


def memory():
    with open(f"/proc/{haproxy.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def connect(bits):
    return socket.create_connection(("127.0.0.1", PORTS[bits]), timeout=60 * SLOWER)


def context(bits, version):
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(common.path(f"cert{bits}.pem"))
    client.check_hostname = False
    client.minimum_version = client.maximum_version = version
    return client


def handshakes(bits, version, count, failed):
    client = context(bits, version)
    for _ in range(count):
        try:
            with connect(bits) as connection, client.wrap_socket(connection) as secured:
                secured.sendall(b"GET / HTTP/1.0\r\n\r\n")
                if b"200 OK" not in secured.recv(1000):
                    failed.append("no answer")
        except OSError as error:
            failed.append(repr(error))


def leave(bits, count):
    """Clients that send a greeting and close the connection while it is answered."""
    client = context(bits, ssl.TLSVersion.TLSv1_2)
    for _ in range(count):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secured = client.wrap_bio(incoming, outgoing)
        try:
            secured.do_handshake()
        except ssl.SSLWantReadError:
            pass
        with connect(bits) as connection:
            connection.sendall(outgoing.read())
            time.sleep(random.random() * 0.01)
            if random.random() < 0.5:
                # A reset instead of an orderly end.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def together(*work):
    threads = [threading.Thread(target=function, args=arguments) for function, *arguments in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


try:
    end = time.monotonic() + 20 * SLOWER
    while True:
        try:
            connect(2048).close()
            break
        except OSError:
            assert time.monotonic() < end and haproxy.poll() is None, "HAProxy does not start"
            time.sleep(0.05)
    failed = []
    tls12, tls13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    together(*[(handshakes, 2048, tls12, 2, failed) for _ in range(CLIENTS)])
    before = (descriptors(), memory())
    each = max(1, HANDSHAKES // CLIENTS)
    start = time.monotonic()
    kinds = [(2048, tls12), (2048, tls13), (2048, tls13), (4096, tls12)]
    together(
        *[(handshakes, *kinds[number % len(kinds)], each, failed) for number in range(CLIENTS)],
        *[(leave, 2048, 30) for _ in range(8)],
        *[(leave, 4096, 10) for _ in range(4)],
    )
    seconds = time.monotonic() - start
    assert haproxy.poll() is None, "HAProxy has ended"
    assert not failed, (len(failed), failed[:5])
    # Connections that were left are closed when their jobs have ended.
    end = time.monotonic() + 30
    while descriptors() > before[0] + 2 and time.monotonic() < end:
        time.sleep(0.2)
    after = (descriptors(), memory())
    print(f"{each * CLIENTS} handshakes in {seconds:.0f} s, 280 clients left, none failed")
    print(f"descriptors {before[0]} -> {after[0]}, resident KiB {before[1]} -> {after[1]}")
    assert after[0] <= before[0] + 2, "descriptors are lost"
    assert after[1] <= before[1] * 1.5 + 8192, "memory grows"
finally:
    # An orderly end, so that the provider tells about its batches.
    haproxy.send_signal(signal.SIGUSR1)
    ended = haproxy.wait(timeout=60 * SLOWER)
if VALGRIND:
    with open(found) as file:
        print("valgrind:", *(line.split("== ")[1].strip() for line in file if "SUMMARY: " in line or "definitely" in line))
assert ended == 0, f"HAProxy ended with {ended}"
operations, batches = common.statistics()
print(f"{operations} signatures in {batches} batches, {operations / max(batches, 1):.1f} in each")
assert operations >= HANDSHAKES // CLIENTS * CLIENTS and batches < operations, "the handshakes were not signed in batches"
