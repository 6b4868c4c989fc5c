"""The documents of the package run as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def first_example(document: Path) -> str:
    """The first block of Python in a document."""
    match = re.search(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    assert match, f"{document} has no example"
    return match[1]


@pytest.mark.parametrize("name", ["docs/paillier.md", "docs/python.md", "python/README.md"])
def test_first_example(name: str, tmp_path: Path) -> None:
    example = first_example(ROOT / name)
    subprocess.run([sys.executable, "-c", example], check=True, cwd=tmp_path, timeout=600)


@pytest.mark.parametrize("path", sorted((ROOT / "python/examples").glob("*.py")), ids=lambda path: path.name)
def test_example(path: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(path)], check=True, cwd=tmp_path, timeout=600)
