"""The documents of the package run as they are written."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Workers of Ray would wait behind everything else on a busy machine, and be killed for the memory of other programs.
ENVIRONMENT = {"RAY_worker_niceness": "0", "RAY_memory_monitor_refresh_ms": "0", **os.environ}


def first_example(document: Path) -> str:
    """The first block of Python in a document."""
    match = re.search(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    assert match, f"{document} has no example"
    return match[1]


@pytest.mark.parametrize("name", ["docs/use/python.md", "docs/use/paillier.md", "docs/use/psi.md", "python/README.md"])
def test_first_example(name: str, tmp_path: Path) -> None:
    example = first_example(ROOT / name)
    subprocess.run([sys.executable, "-c", example], check=True, cwd=tmp_path, timeout=600)


@pytest.mark.parametrize("subject", ["modmill.ipcl", "parquet", "Packing"])
def test_the_other_examples_of_paillier(subject: str, tmp_path: Path) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs/use/paillier.md").read_text(), re.DOTALL)
    (example,) = [example for example in examples if subject in example]
    subprocess.run([sys.executable, "-c", example], check=True, cwd=tmp_path, timeout=600)


def test_the_example_with_progress() -> None:
    text = (ROOT / "docs/use/paillier.md").read_text()
    match = re.search(r"```python\n(from modmill import paillier\n.*?)```", text, re.DOTALL)
    assert match
    run = subprocess.run([sys.executable, "-c", match[1]], check=True, timeout=600, capture_output=True, text=True)
    assert run.stdout.endswith("[0, 2, 4, 6, 8]\n") and "2,000 of 2,000" in run.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "python/examples").glob("*.py")), ids=lambda path: path.name)
def test_example(path: Path, tmp_path: Path) -> None:
    for subject, package in [("ray", "ray"), ("spark", "pyspark")]:
        if path.name.startswith(subject) and importlib.util.find_spec(package) is None:
            pytest.skip(f"LEFT OUT: {package} is not installed")
    subprocess.run([sys.executable, str(path)], check=True, cwd=tmp_path, timeout=600, env=ENVIRONMENT)
