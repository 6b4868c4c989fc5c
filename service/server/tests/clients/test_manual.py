"""The lines of docs/use/serve.md that start with boto3, as they are written there."""

import re
import subprocess
import sys
from pathlib import Path

from conftest import PROGRAM


def test_the_manuals_lines_sign_and_verify(service, tmp_path):
    manual = (Path(__file__).parents[4] / "docs/use/serve.md").read_text()
    lines = re.search(r"```python\n(import boto3.*?)```", manual, re.S).group(1)
    assert len(lines.strip().splitlines()) <= 12
    for written, here in (
        ("modmill serve", f"{PROGRAM} serve"),
        ("--data keys", f"--data {service.data}"),
        ("http://127.0.0.1:8080", service.url),
    ):
        assert written in lines
        lines = lines.replace(written, here)
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr
