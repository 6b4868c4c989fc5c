"""A token over the signing service that `modmill serve` runs: the access token in a file and as the PIN, threads, a service that is
killed and started again, and one that is gone. cryptography is the judge.

Usage: service.py MODULE MODMILL FOLDER
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pkcs11
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from pkcs11 import Attribute, MGF, Mechanism, ObjectClass
from pkcs11.exceptions import DeviceRemoved, PinIncorrect, PKCS11Error
from pkcs11.util.rsa import encode_rsa_public_key

MODULE, MODMILL, FOLDER = sys.argv[1:]
SHA256 = hashes.SHA256()


def path(name):
    return os.path.join(FOLDER, name)


with socket.create_server(("127.0.0.1", 0)) as listener:
    PORT = listener.getsockname()[1]
with open(path("service.toml"), "w") as file:
    file.write(f'[socket]\npath = "{path("sign.sock")}"\n[batch]\nworkers = 1\n')


def start():
    server = subprocess.Popen(
        [MODMILL, "serve", "--data", path("service"), "--listen", f"127.0.0.1:{PORT}", "--no-tls"]
        + ["--config", path("service.toml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert "listening" in server.stdout.readline(), "the service does not start"
    return server


def credential(name, rights):
    """A new credential's access token."""
    command = [MODMILL, "serve", "credentials", "create", "--data", path("service"), "--name", name, "--allow", rights]
    created = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return next(line.split()[1] for line in created.splitlines() if line.startswith("token:"))


def refused(errors, call, *arguments, **options):
    """Checks that a call raises one of `errors`."""
    try:
        call(*arguments, **options)
    except errors:
        return
    raise AssertionError(f"{errors} was expected")


def check(session, rounds, made):
    """Signs in every way that the service has, and appends to `made` after each signature that the judge verified."""
    find = {"label": "transit/web"}
    private = session.get_key(object_class=ObjectClass.PRIVATE_KEY, **find)
    public = session.get_key(object_class=ObjectClass.PUBLIC_KEY, **find)
    judge = serialization.load_der_public_key(encode_rsa_public_key(public))
    pss = {"mechanism": Mechanism.SHA256_RSA_PKCS_PSS, "mechanism_param": (Mechanism.SHA256, MGF.SHA256, 32)}
    for turn in range(rounds):
        message = f"message {turn}".encode()
        signature = private.sign(message, mechanism=Mechanism.SHA256_RSA_PKCS)
        judge.verify(signature, message, padding.PKCS1v15(), SHA256)
        signature = private.sign(message, **pss)
        judge.verify(signature, message, padding.PSS(padding.MGF1(SHA256), 32), SHA256)
        made.append(turn)
    return private


def batches():
    """Signatures of the service since it began, and the batches in which they were computed."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics").read().decode()
    figure = lambda name: sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name) and "private" in line)
    return figure("modmill_batch_items_sum"), figure("modmill_batch_items_count")


server = start()
try:
    access, stranger = credential("web", "bulk,transit"), credential("stranger", "transit")
    with open(path("access"), "w") as file:
        file.write(access + "\n")
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v1/transit/keys/web", b'{"type":"rsa-2048"}', {"X-Vault-Token": access}
    )
    urllib.request.urlopen(request).read()
    with open(path("service-token.toml"), "w") as file:
        for label, line in (("file", 'token_file = "access"\n'), ("pin", "")):
            file.write(f'[[token]]\nsocket = "sign.sock"\nlabel = "{label}"\nkeys = ["transit/web", "transit/none"]\n{line}')
    os.environ["MODMILL_PKCS11_CONFIG"] = path("service-token.toml")
    module = pkcs11.lib(MODULE)

    with module.get_token(token_label="file").open() as session:
        # The second name of the configuration is not known to the service.
        assert len(list(session.get_objects())) == 2
        private = check(session, 2, [])
        refused(PKCS11Error, lambda: private[Attribute.PRIVATE_EXPONENT])
        assert not private[Attribute.DECRYPT] and not private[Attribute.EXTRACTABLE] and private[Attribute.SENSITIVE]
        refused(PKCS11Error, private.sign, b"no digest", mechanism=Mechanism.RSA_PKCS)

    token = module.get_token(token_label="pin")
    refused(PinIncorrect, token.open, user_pin="wrong")
    # A credential that may not use the socket.
    refused(PinIncorrect, token.open, user_pin=stranger)
    made, failed = [], []

    def sign(rounds):
        try:
            with token.open() as session:
                check(session, rounds, made)
        except Exception as error:
            failed.append(error)

    def together(rounds, beside=lambda: None):
        threads = [threading.Thread(target=sign, args=(rounds,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        beside()
        for thread in threads:
            thread.join()
        assert not failed and len(made) == 8 * rounds, (failed[:3], len(made))
        made.clear()

    def kill():
        """Kills the service under load, and starts it again: sessions wait, and none of them fails."""
        global server
        while len(made) < 40 and not failed:
            time.sleep(0.01)
        server.send_signal(signal.SIGKILL)
        server.wait()
        server = start()

    with token.open(user_pin=access) as login:
        signatures, count = batches()
        together(20)
        signatures, count = (after - before for after, before in zip(batches(), (signatures, count)))
        print(f"{signatures:.0f} signatures of 8 threads in {count:.0f} batches of the service")
        assert signatures >= 320 and count < signatures, "threads share no batches"
        together(30, kill)
        print("480 signatures, with the service killed in the middle; none failed")
        private = check(login, 1, [])
        server.terminate()
        server.wait(timeout=60)
        refused(DeviceRemoved, private.sign, b"message", mechanism=Mechanism.SHA256_RSA_PKCS)
finally:
    server.kill()
    server.wait()
