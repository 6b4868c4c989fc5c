"""The parts that the tests share."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import modmill


@pytest.fixture(scope="session")
def engine() -> modmill.Engine:
    """An engine on two threads of the CPU."""
    return modmill.Engine(backend="cpu", threads=2)


@pytest.fixture
def rng() -> Iterator[random.Random]:
    """Numbers that are the same in every run."""
    yield random.Random(20261116)
