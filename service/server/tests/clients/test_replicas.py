"""Two replicas behind HAProxy on one PostgreSQL server: one is killed and the database restarted under load."""

import glob
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from conftest import Service, free_port, wait_until
from test_kms_boto3 import code

BIN = max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)
SIGN = dict(Message=b"m", SigningAlgorithm="RSASSA_PKCS1_V1_5_SHA_256")

pytestmark = pytest.mark.skipif(
    not BIN or not shutil.which("haproxy") or os.geteuid() != 0, reason="LEFT OUT: no PostgreSQL or no HAProxy"
)


class Database:
    """A PostgreSQL server of its own, on loopback. The server refuses to run as root, so `postgres` runs it."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        shutil.chown(folder, "postgres")
        for parent in folder.parents:
            if str(parent).startswith("/tmp/"):
                parent.chmod(parent.stat().st_mode | 0o011)
        self.run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "modmill")

    def run(self, program, *arguments):
        command = ["runuser", "-u", "postgres", "--", f"{BIN}/{program}", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def start(self):
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder}"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-o", options, "-l", f"{self.folder}/log", "-w", "start")
        return self

    def stop(self, mode="immediate"):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", mode, "-w", "stop")

    @property
    def url(self):
        return f"postgres://modmill@127.0.0.1:{self.port}/postgres"


@pytest.fixture
def database(tmp_path_factory):
    database = Database(tmp_path_factory.mktemp("database") / "cluster").start()
    yield database
    database.stop()


def replicas(tmp_path, database, count=2):
    master, config = tmp_path / "master.key", tmp_path / "serve.toml"
    # However long the database takes to come back, the replicas stay in HAProxy's list.
    config.write_text("[store]\nstale_s = 3600\n")
    found = []
    for number in range(count):
        folder = tmp_path / f"replica-{number}"
        folder.mkdir()
        options = ("--config", str(config), "--store", database.url, "--master-key-file", str(master))
        found.append(Service(folder, *options).start())
    return found


def haproxy(tmp_path, services, port):
    """HAProxy with the project's own configuration, on other ports."""
    recipe = Path(__file__).parents[4] / "deploy/service/haproxy.cfg"
    text = recipe.read_text()
    servers = "\n".join(
        f"    server replica{number} 127.0.0.1:{service.port} "
        for number, service in enumerate(services)
    )
    text = text.replace("maxconn 20000", "maxconn 2000").replace(" check-ssl verify none", "")
    kept = [line for line in text.splitlines() if not line.strip().startswith("server ")]
    kept = [f"    bind 127.0.0.1:{port}" if line.strip().startswith("bind ") else line for line in kept]
    (tmp_path / "haproxy.cfg").write_text("\n".join(kept) + "\n" + servers + "\n")
    return subprocess.Popen(["haproxy", "-f", str(tmp_path / "haproxy.cfg"), "-db"],
                            stdout=open(tmp_path / "haproxy.log", "wb"), stderr=subprocess.STDOUT)


def test_changes_are_seen_by_all(tmp_path, database):
    first, second = replicas(tmp_path, database)
    credential = first.credential()
    wait_until(lambda: _works(second.kms(credential)))
    key = first.kms(credential).create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
    wait_until(lambda: _signs(second.kms(credential), key))
    grantee = first.credential("grantee", "--allow", "watch")
    grant = first.kms(credential).create_grant(
        KeyId=key, GranteePrincipal="arn:aws:iam::000000000000:user/grantee", Operations=["Sign"])
    wait_until(lambda: _signs(second.kms(grantee), key))
    first.kms(credential).revoke_grant(KeyId=key, GrantId=grant["GrantId"])
    wait_until(lambda: not _signs(second.kms(grantee), key))
    assert code(lambda: second.kms(grantee).sign(KeyId=key, **SIGN)) == "AccessDeniedException"
    assert first.stop() == 0 and second.stop() == 0


def test_a_replica_and_the_database_fail_under_load(tmp_path, database):
    services = replicas(tmp_path, database)
    credential = services[0].credential()
    wait_until(lambda: _works(services[1].kms(credential)))
    port = free_port()
    proxy = haproxy(tmp_path, services, port)
    try:
        front = Service(tmp_path / "unused", port=port)
        front.url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _works(front.kms(credential)))
        key = front.kms(credential).create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
        acknowledged, signed, failed, done = [key], [], [], threading.Event()

        def signer():
            kms = front.kms(credential, retries=6)
            while not done.is_set():
                try:
                    signed.append(kms.sign(KeyId=key, **SIGN)["Signature"])
                except (BotoCoreError, ClientError) as error:
                    failed.append(repr(error))

        def creator():
            kms = front.kms(credential, retries=1)
            while not done.is_set():
                try:
                    made = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
                    acknowledged.append(made)
                except (BotoCoreError, ClientError):
                    time.sleep(0.05)

        threads = [threading.Thread(target=work) for work in (signer, signer, signer, creator, creator)]
        for thread in threads:
            thread.start()
        time.sleep(2)
        services[1].kill()
        time.sleep(2)
        services[1].start()
        time.sleep(1)
        database.stop()
        before = len(signed)
        # Keys that are in memory sign without the database.
        wait_until(lambda: len(signed) > before + 10)
        database.start()
        made = len(acknowledged)
        wait_until(lambda: len(acknowledged) > made + 2)
        done.set()
        for thread in threads:
            thread.join()
        assert not failed, failed[:3]
        assert len(set(signed)) == 1
        for service in services:
            wait_until(lambda: _signs(service.kms(credential), acknowledged[-1]))
            kms = service.kms(credential)
            for each in acknowledged:
                assert kms.sign(KeyId=each, **SIGN)["Signature"]
        assert all(service.stop() == 0 for service in services)
    finally:
        proxy.kill()


def _works(kms):
    try:
        return bool(kms.list_keys(Limit=1))
    except (BotoCoreError, ClientError):
        return False


def _signs(kms, key):
    try:
        return bool(kms.sign(KeyId=key, **SIGN))
    except (BotoCoreError, ClientError):
        return False
