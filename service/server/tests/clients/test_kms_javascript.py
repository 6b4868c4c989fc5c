"""The KMS door with the JavaScript SDK."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CLIENTS


@pytest.mark.skipif(not (CLIENTS / "node_modules").exists() or not shutil.which("node"), reason="LEFT OUT: no JavaScript packages")
def test_the_javascript_sdk(service, credential):
    script = CLIENTS / "kms.mjs"
    shutil.copy(Path(__file__).with_name("kms.mjs"), script)
    env = {**os.environ, "ENDPOINT": service.url, "AWS_ACCESS_KEY_ID": credential["access_key_id"],
           "AWS_SECRET_ACCESS_KEY": credential["secret_access_key"]}
    done = subprocess.run(["node", script.name], cwd=CLIENTS, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "all well"
