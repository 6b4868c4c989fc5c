"""The service under test: a process of the modmill program with its own folder and port."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

PROGRAM = os.environ.get("MODMILL_PROGRAM", "modmill")
CLIENTS = Path(os.environ.get("MODMILL_CLIENTS", "."))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """A running `modmill serve`."""

    def __init__(self, folder, *options, port=None, env=None, tls=False):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.port = port or free_port()
        self.options = list(options) + ([] if tls else ["--no-tls"])
        self.env = {**os.environ, "MODMILL_BACKEND": "cpu", **(env or {})}
        self.process = None

    @property
    def command(self):
        return [PROGRAM, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", *self.options]

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=self.log, env=self.env, text=True
        )
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), f"{line!r}: {self.messages()[-2000:]}"
        self.url = line.removeprefix("listening on ").strip()
        return self

    def messages(self):
        return (self.folder / "log").read_text(errors="replace")

    def stop(self):
        """Asks for a graceful end, and returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=300)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def run(self, *arguments, check=True):
        """A command of `modmill serve` that is given the folder."""
        command = [PROGRAM, "serve", *arguments, "--data", str(self.data)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.env)
        assert not check or done.returncode == 0, done.stderr
        return done

    def credential(self, name="tester", *options):
        done = self.run("credentials", "create", "--name", name, "--json", *options)
        return json.loads(done.stdout)

    def kms(self, credential, retries=0, verify=None, **config):
        return boto3.client(
            "kms",
            endpoint_url=self.url,
            region_name="us-east-1",
            verify=verify,
            aws_access_key_id=credential["access_key_id"],
            aws_secret_access_key=credential["secret_access_key"],
            config=Config(**{"retries": {"total_max_attempts": retries + 1}, "read_timeout": 300, **config}),
        )


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("service")).start()
    yield service
    assert service.stop() == 0


@pytest.fixture(scope="module")
def credential(service):
    return service.credential()


@pytest.fixture(scope="module")
def kms(service, credential):
    return service.kms(credential)


def wait_until(holds, seconds=240):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come true in time")
