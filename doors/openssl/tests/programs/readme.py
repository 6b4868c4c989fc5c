"""The commands at the top of docs/use/openssl.md, exactly as they are written there, and clients of the HAProxy that they start. Its handshakes
have to be signed by the provider."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4))
FILES = [os.path.join(ROOT, name) for name in ("openssl.cnf", "site.key", "site.crt", "site.pem")]

if os.geteuid() != 0 or not shutil.which("apt-get"):
    print("LEFT OUT: only root of a Debian machine can run the first command of docs/use/openssl.md")
    sys.exit(77)
for file in FILES:
    assert not os.path.exists(file), f"{file} is there already"
with open(os.path.join(ROOT, "docs", "use", "openssl.md")) as page:
    block = page.read().split("```console\n", 1)[1].split("```", 1)[0]
commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
assert len(commands) == 5, commands

statistics = tempfile.NamedTemporaryFile()
# The commands name the folder `target` of the checkout.
environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
environment["MODMILL_STATISTICS"] = statistics.name
server = None
try:
    for command in commands[:-1]:
        print("$", command, flush=True)
        subprocess.run(["bash", "-euc", command], cwd=ROOT, env=environment, check=True)
    os.truncate(statistics.name, 0)
    print("$", commands[-1], flush=True)
    # In the foreground.
    server = subprocess.Popen(["bash", "-euc", "exec env " + commands[-1] + " -db"], cwd=ROOT, env=environment)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(os.path.join(ROOT, "site.crt"))
    client.check_hostname = False
    end = time.monotonic() + 20
    for _ in range(10):
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
    # An orderly end, so that the provider is unloaded and tells about its batches.
    server.send_signal(signal.SIGUSR1)
    server.wait(timeout=30)
    with open(statistics.name) as file:
        said = file.read()
    operations = sum(int(part.removeprefix("operations=")) for part in said.split() if part.startswith("operations="))
    print(f"ten handshakes, {operations} signatures by the provider")
    assert operations >= 10, said
finally:
    if server and server.poll() is None:
        server.kill()
        server.wait()
    for file in FILES:
        if os.path.exists(file):
            os.remove(file)
