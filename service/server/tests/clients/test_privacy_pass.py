"""Tokens of the issuer, finalized and verified by Cloudflare's implementation of Privacy Pass."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CLIENTS


@pytest.mark.skipif(not (CLIENTS / "node_modules").exists() or not shutil.which("node"), reason="LEFT OUT: no JavaScript packages")
def test_tokens_one_by_one_and_in_batches(service):
    service.run("issuer", "create")
    token = service.credential("attester", "--allow", "issue")["token"]
    script = CLIENTS / "privacy_pass.mjs"
    shutil.copy(Path(__file__).with_name("privacy_pass.mjs"), script)
    done = subprocess.run(["node", script.name, service.url, token], cwd=CLIENTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "20 tokens issued and verified"
