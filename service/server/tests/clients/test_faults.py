"""Kills, restarts and a full disk: every key that was acknowledged signs afterwards, and there is no half key.

MODMILL_FAULT_ROUNDS sets how often the service is killed; the default is short."""

import json
import os
import random
import shutil
import subprocess
import threading
import time

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from conftest import PROGRAM, Service, wait_until
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from test_kms_boto3 import code, prepare_import

ROUNDS = int(os.environ.get("MODMILL_FAULT_ROUNDS", "12"))
SIGN = dict(Message=b"m", SigningAlgorithm="RSASSA_PKCS1_V1_5_SHA_256")


class Creator(threading.Thread):
    """Creates keys with aliases and signs, until the service is gone, and remembers what was acknowledged."""

    def __init__(self, kms, acknowledged, signed):
        super().__init__()
        self.kms, self.acknowledged, self.signed = kms, acknowledged, signed

    def run(self):
        try:
            while True:
                key = self.kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
                self.acknowledged[key] = None
                self.kms.create_alias(AliasName=f"alias/of-{key}", TargetKeyId=key)
                self.acknowledged[key] = f"alias/of-{key}"
                for _ in range(5):
                    self.kms.sign(KeyId=key, **SIGN)
                    self.signed.append(key)
        except (BotoCoreError, ClientError):
            pass


def check(kms, acknowledged):
    """Every acknowledged key signs, by its alias too, and every listed key is whole."""
    listed = [each["KeyId"] for page in kms.get_paginator("list_keys").paginate() for each in page["Keys"]]
    assert set(acknowledged) <= set(listed)
    for key in listed:
        assert kms.get_public_key(KeyId=key)["PublicKey"]
    for key, alias in acknowledged.items():
        assert kms.sign(KeyId=alias or key, **SIGN)["Signature"]


def test_kill_while_keys_are_created(tmp_path):
    service = Service(tmp_path).start()
    credential = service.credential()
    acknowledged, signed, seed = {}, [], random.Random(1)
    for round in range(ROUNDS):
        creators = [Creator(service.kms(credential), acknowledged, signed) for _ in range(3)]
        before = len(acknowledged)
        for creator in creators:
            creator.start()
        # At any moment; every second time after a key was acknowledged, however long that takes.
        if round % 2 == 0:
            wait_until(lambda: len(acknowledged) > before)
        time.sleep(seed.uniform(0.05, 0.8))
        service.kill()
        for creator in creators:
            creator.join()
        service.start()
        check(service.kms(credential), dict(list(acknowledged.items())[-20:]))
    check(service.kms(credential), acknowledged)
    assert len(acknowledged) >= ROUNDS // 2
    assert service.stop() == 0
    done = subprocess.run([PROGRAM, "serve", "audit", "verify", "--data", service.data], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # Every signature that a client has got is in the log.
    lines = [line for log in sorted((service.data / "audit").iterdir()) for line in log.read_text().splitlines()]
    logged = sum(1 for line in lines if '"Sign"' in line)
    assert logged >= len(signed)
    # So is every key that was acknowledged.
    created = {json.loads(line)["key"] for line in lines if '"CreateKey"' in line}
    assert created >= set(acknowledged)


def test_kill_while_everything_is_sealed_anew(tmp_path):
    service = Service(tmp_path).start()
    credential = service.credential()
    kms = service.kms(credential)
    keys = {kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]: None for _ in range(5)}
    assert service.stop() == 0
    seed = random.Random(2)
    old = service.data / "master.key"
    if not old.exists():
        old = next(service.data.glob("*master*"))
    for round in range(ROUNDS):
        new = tmp_path / f"new-{round}.key"
        command = [PROGRAM, "serve", "reseal", "--data", service.data, "--master-key-file", old, "--new-master-key-file", new]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seed.uniform(0, 0.15))
        process.kill()
        process.wait()
        opened = []
        for key in (old, new):
            if not key.exists():
                continue
            listed = subprocess.run([PROGRAM, "serve", "credentials", "list", "--data", service.data,
                                     "--master-key-file", key, "--json"], capture_output=True, text=True)
            if listed.returncode == 0:
                opened.append(key)
        assert len(opened) == 1, "exactly one of the two master keys opens the store"
        old = opened[0]
    service.options += ["--master-key-file", str(old)]
    service.start()
    check(service.kms(credential), keys)
    assert service.stop() == 0


def test_sigterm_answers_everything_first(tmp_path):
    service = Service(tmp_path).start()
    credential = service.credential()
    key = service.kms(credential).create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_4096")["KeyMetadata"]["KeyId"]
    answers, failures = [], []

    def client():
        kms = service.kms(credential)
        try:
            while True:
                answers.append(kms.sign(KeyId=key, **SIGN)["Signature"])
        except ClientError as error:
            failures.append(error.response["Error"]["Code"])
        except BotoCoreError as error:
            # A new request finds no listener. One that was on its way must not be cut off.
            failures.append(type(error).__name__)

    clients = [threading.Thread(target=client) for _ in range(8)]
    for each in clients:
        each.start()
    wait_until(lambda: len(answers) > 8)
    assert service.stop() == 0
    for each in clients:
        each.join()
    assert not {"ReadTimeoutError", "IncompleteReadError"} & set(failures), failures


@pytest.mark.skipif(os.geteuid() != 0, reason="LEFT OUT: only root can mount a small disk")
def test_a_full_disk_refuses_and_loses_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", disk]).returncode != 0:
        pytest.skip("LEFT OUT: no small disk can be mounted here")
    try:
        service = Service(disk)
        service.folder = tmp_path
        service.start()
        credential = service.credential()
        kms = service.kms(credential)
        keys = {kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]: None}
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        refused = set()
        for _ in range(50):
            try:
                keys[kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]] = None
                kms.sign(KeyId=next(iter(keys)), **SIGN)
            except ClientError as error:
                refused.add(error.response["Error"]["Code"])
        assert refused <= {"KMSInternalException", "DependencyTimeoutException", "KeyUnavailableException"} and refused
        filler.unlink()
        wait_until(lambda: _signs(kms, next(iter(keys))))
        check(kms, keys)
        assert service.stop() == 0
        service.start()
        check(service.kms(credential), keys)
        assert service.stop() == 0
    finally:
        subprocess.run(["umount", "-l", disk])


def _signs(kms, key):
    try:
        return bool(kms.sign(KeyId=key, **SIGN))
    except ClientError:
        return False


def test_backup_and_restore(tmp_path):
    service = Service(tmp_path).start()
    credential = service.credential()
    kms = service.kms(credential)
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
    service.run("backup", "--to", str(tmp_path / "backup"))
    signature = kms.sign(KeyId=key, **SIGN)["Signature"]
    assert service.stop() == 0
    other = Service(tmp_path / "other")
    other.folder.mkdir()
    other.data.mkdir(mode=0o700)
    for name in service.data.glob("*master*"):
        shutil.copy(name, other.data)
    other.run("restore", "--from", str(tmp_path / "backup"))
    assert other.run("restore", "--from", str(tmp_path / "backup"), check=False).returncode != 0
    other.start()
    assert other.kms(credential).sign(KeyId=key, **SIGN)["Signature"] == signature
    assert other.stop() == 0


def test_credentials_are_revoked_while_it_runs(service):
    made = service.credential("short-lived")
    kms = service.kms(made)
    kms.list_keys()
    service.run("credentials", "revoke", made["access_key_id"])
    assert code(kms.list_keys) in ("UnrecognizedClientException", "InvalidClientTokenId")
    names = [each["name"] for each in json.loads(service.run("credentials", "list", "--json").stdout)]
    assert "short-lived" not in names


def test_kill_while_keys_are_imported(tmp_path):
    """An import that was acknowledged signs afterwards; one that was not leaves the key without material, or with all of it."""
    service = Service(tmp_path).start()
    credential = service.credential()
    seed = random.Random(3)
    for _ in range(max(ROUNDS // 2, 1)):
        imported = {}

        def importer():
            kms = service.kms(credential)
            try:
                while True:
                    material, key, give = prepare_import(kms)
                    imported[key] = (material, False)
                    kms.import_key_material(**give)
                    imported[key] = (material, True)
            except (BotoCoreError, ClientError):
                pass

        clients = [threading.Thread(target=importer) for _ in range(2)]
        for client in clients:
            client.start()
        time.sleep(seed.uniform(0.5, 2))
        service.kill()
        for client in clients:
            client.join()
        service.start()
        kms = service.kms(credential)
        for key, (material, acknowledged) in imported.items():
            state = kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"]
            assert state == "Enabled" if acknowledged else state in ("Enabled", "PendingImport")
            if state == "Enabled":
                expected = material.sign(b"m", padding.PKCS1v15(), hashes.SHA256())
                assert kms.sign(KeyId=key, **SIGN)["Signature"] == expected
    assert service.stop() == 0


def test_overload_is_refused_at_once_and_passes(tmp_path):
    service = Service(tmp_path).start()
    credential = service.credential()
    (tmp_path / "credential.json").write_text(json.dumps(credential))
    # Far more than this build computes, with more requests under way than the queue has room for.
    command = [PROGRAM, "load", "--endpoint", service.url, "--credentials", tmp_path / "credential.json",
               "--bits", "4096", "--rate", "20000", "--http2", "--connections", "32", "--streams", "200",
               "--duration", "4", "--warm-up", "0.1", "--verify-every", "50", "--json", tmp_path / "load.json"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=service.env)
    measured = json.loads((tmp_path / "load.json").read_text())
    text = json.dumps(measured)
    assert "ThrottlingException" in text and "Internal" not in text, text[:2000]
    kms = service.kms(credential)
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
    wait_until(lambda: _signs(kms, key))
    assert service.process.poll() is None
    assert service.stop() == 0
