"""Finds the compiler of the GPU kernels that ``pip install modmill[cuda]`` brings."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from . import _modmill

__all__ = ["locate", "nvrtc"]

VARIABLE = "MODMILL_NVRTC"


def locate() -> None:
    """Name the library of NVRTC in the environment, if a package of NVIDIA has one and the user named none."""
    if VARIABLE in os.environ:
        return
    spec = find_spec("nvidia")
    folders = (spec.submodule_search_locations if spec else None) or []
    found = [file for folder in folders for file in Path(folder).glob("*/lib/libnvrtc.so.1[23]")]
    if found:
        # The newest version, by the end of its name.
        os.environ[VARIABLE] = str(max(found, key=lambda file: file.name))


def nvrtc() -> tuple[str, Path | None]:
    """Return the version of NVRTC, the compiler of the GPU kernels, and the file that it was loaded from, where that is known.

    It needs no GPU. Where there is no NVRTC it raises `modmill.UnavailableError`, which says where it was looked for.
    """
    return _modmill.nvrtc()
