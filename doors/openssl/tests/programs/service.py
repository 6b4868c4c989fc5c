"""Keys that stay in the signing service: OpenSSL's program by URI, HAProxy by a file that stands for the key, and a service that
is killed and started again in the middle."""

import base64
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

import common

if len(sys.argv) < 3 or not sys.argv[2]:
    common.left_out("the program modmill is not given; no service is started")
MODMILL = sys.argv[2]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


PORT, SOCKET, DATA = free_port(), common.path("sign.sock"), common.path("service")
with open(common.path("service.toml"), "w") as file:
    file.write(f'[socket]\npath = "{SOCKET}"\n[batch]\nworkers = 1\n')


def start():
    arguments = ["serve", "--data", DATA, "--listen", f"127.0.0.1:{PORT}", "--no-tls"]
    server = subprocess.Popen(
        [MODMILL, *arguments, "--config", common.path("service.toml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert "listening" in server.stdout.readline(), "the service does not start"
    return server


def openssl(*arguments, succeeds=True):
    done = subprocess.run(["openssl", *arguments], env=ENVIRONMENT, capture_output=True, cwd=common.FOLDER, timeout=60)
    assert (done.returncode == 0) == succeeds, (arguments, done.stderr.decode())
    return done


server = start()
created = subprocess.run(
    [MODMILL, "serve", "credentials", "create", "--data", DATA, "--name", "web", "--allow", "bulk,transit"],
    check=True,
    capture_output=True,
    text=True,
).stdout
TOKEN = next(line.split()[1] for line in created.splitlines() if line.startswith("token:"))
with open(common.path("token"), "w") as file:
    file.write(TOKEN)
request = urllib.request.Request(
    f"http://127.0.0.1:{PORT}/v1/transit/keys/web", b'{"type":"rsa-2048"}', {"X-Vault-Token": TOKEN}
)
urllib.request.urlopen(request).read()
ENVIRONMENT = {**common.environment(), "MODMILL_SOCKET": SOCKET, "MODMILL_TOKEN_FILE": common.path("token")}

URI = "modmill:transit/web"
try:
    with open(common.path("message"), "w") as file:
        file.write("message")
    openssl("pkey", "-in", URI, "-pubout", "-out", "service.pub")
    for options in ([], ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]):
        openssl("dgst", "-sha256", *options, "-sign", URI, "-out", "signature", "message")
        openssl("dgst", "-sha256", *options, "-verify", "service.pub", "-signature", "signature", "message")
    said = openssl("pkey", "-in", URI, succeeds=False).stderr.decode()
    assert "does not leave" in said, said
    said = openssl("dgst", "-sha256", "-sign", "modmill:transit/other", "message", succeeds=False).stderr.decode()
    assert "transit/other" in said, said
    subject = ["-subj", "/CN=localhost", "-days", "2"]
    openssl("req", "-new", "-x509", "-key", URI, *subject, "-out", "service.crt", "-config", "/dev/null")
    print("the service signed for openssl, and kept its key")

    if not shutil.which("haproxy"):
        common.left_out("there is no haproxy; the service is not tested with it")
    with open(common.path("service.pem"), "w") as file, open(common.path("service.crt")) as certificate:
        encoded = base64.b64encode(URI.encode()).decode()
        file.write(certificate.read())
        file.write(f"-----BEGIN MODMILL KEY-----\n{encoded}\n-----END MODMILL KEY-----\n")
    port = free_port()
    with open(common.path("service.cfg"), "w") as file:
        file.write(
            "global\n nbthread 1\n ssl-mode-async\n tune.ssl.cachesize 0\n"
            "defaults\n mode http\n timeout client 30s\n timeout server 30s\n timeout connect 5s\n"
            f"frontend f\n bind 127.0.0.1:{port} ssl crt {common.path('service.pem')} no-tls-tickets\n"
            " http-request return status 200 content-type text/plain string ok\n"
        )
    haproxy = subprocess.Popen(["haproxy", "-db", "-f", common.path("service.cfg")], env=ENVIRONMENT)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(common.path("service.crt"))
    client.check_hostname = False
    failed, made = [], []

    def handshakes(count):
        for _ in range(count):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                    with client.wrap_socket(connection) as secured:
                        secured.sendall(b"GET / HTTP/1.0\r\n\r\n")
                        made.append(b"200 OK" in secured.recv(1000))
            except OSError as error:
                failed.append(repr(error))

    try:
        end = time.monotonic() + 20
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert time.monotonic() < end and haproxy.poll() is None, "HAProxy does not start"
            time.sleep(0.05)
        threads = [threading.Thread(target=handshakes, args=(30,)) for _ in range(32)]
        for thread in threads:
            thread.start()
        while len(made) < 200:
            time.sleep(0.01)
        # Killed and started again under load: clients wait, and none of them fails.
        server.send_signal(signal.SIGKILL)
        server.wait()
        server = start()
        for thread in threads:
            thread.join()
        assert not failed and len(made) == 32 * 30 and all(made), (failed[:3], len(made))
        print(f"{len(made)} handshakes of HAProxy, with the service killed in the middle; none failed")
    finally:
        haproxy.kill()
        haproxy.wait()
finally:
    server.terminate()
    server.wait(timeout=60)
