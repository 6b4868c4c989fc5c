"""The commands at the top of docs/openssl.md, exactly as they are written there, and a client of the HAProxy that they start."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4)

if not shutil.which("haproxy"):
    print("LEFT OUT: there is no haproxy; the commands of docs/openssl.md are not run")
    sys.exit(77)
with open(os.path.join(ROOT, "docs", "openssl.md")) as page:
    block = page.read().split("```console\n", 1)[1].split("```", 1)[0]
commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
assert len(commands) == 5, commands

for command in commands[:-1]:
    print("$", command, flush=True)
    subprocess.run(["bash", "-euc", command], cwd=ROOT, check=True)
print("$", commands[-1], flush=True)
server = subprocess.Popen(["bash", "-euc", "exec env " + commands[-1] + " -db"], cwd=ROOT)
try:
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(os.path.join(ROOT, "site.crt"))
    client.check_hostname = False
    end = time.monotonic() + 20
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", 8443), timeout=20)
            break
        except OSError:
            assert time.monotonic() < end and server.poll() is None, "HAProxy does not start"
            time.sleep(0.1)
    with client.wrap_socket(connection) as secured:
        secured.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = secured.recv(1000)
    assert b"200 OK" in answer, answer
    print("answered over", "TLS")
finally:
    server.terminate()
    server.wait(timeout=30)
    for name in ("openssl.cnf", "site.key", "site.crt", "site.pem"):
        if os.path.exists(os.path.join(ROOT, name)):
            os.remove(os.path.join(ROOT, name))
