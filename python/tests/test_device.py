"""Batches that stay on a device: one of an engine without GPUs, an emulated GPU, and a GPU if there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import modmill

MODULUS = 2**521 - 1


def check(engine: modmill.Engine) -> modmill.DeviceBatch:
    """Chains operations on a device and returns one of the batches."""
    values = [2**500 + 3, 5, 0, 2**520]
    numbers = engine.upload(values, width=521)
    assert (len(numbers), numbers.width) == (4, 521) and numbers.nbytes >= 4 * 9 * 8
    powers = modmill.powmod(numbers, 65537, MODULUS, engine=engine)
    assert isinstance(powers, modmill.DeviceBatch)
    products = modmill.mulmod(powers, [1, 2, 3, 4], MODULUS, engine=engine)
    assert isinstance(products, modmill.DeviceBatch)
    expected = [pow(value, 65537, MODULUS) * factor % MODULUS for value, factor in zip(values, [1, 2, 3, 4])]
    assert products.download("ints") == expected
    assert products.download().shape == (4, 9)
    assert [int.from_bytes(row, "big") for row in pa.array(products.download("arrow")).to_pylist()] == expected
    into = np.empty((4, 9), dtype="uint64")
    assert products.download(into) is into and into.tobytes() == products.download().tobytes()
    assert modmill.mul(numbers, numbers, engine=engine).download("ints") == [value * value for value in values]
    assert modmill.mulmod(powers, 1, MODULUS, out="ints", engine=engine) == [pow(v, 65537, MODULUS) for v in values]
    assert modmill.powmod([3] * 4, numbers, MODULUS, secret=False, out="device", engine=engine).download("ints") == [
        pow(3, value, MODULUS) for value in values
    ]
    moduli = engine.upload([7, 9, 11, 13])
    assert modmill.powmod(numbers, 3, moduli, engine=engine).download("ints") == [
        pow(value, 3, modulus) for value, modulus in zip(values, [7, 9, 11, 13])
    ]
    assert modmill.is_prime(moduli, engine=engine) == [True, False, True, True]
    assert modmill.gcd(moduli, 9, out="ints", engine=engine) == [1, 9, 1, 1]
    with pytest.raises(modmill.ItemError) as caught:
        modmill.invert(numbers, MODULUS, engine=engine)
    assert [index for index, _ in caught.value.failed] == [2]
    with pytest.raises(ValueError, match="exp: item 0 is negative or null"):
        modmill.powmod(numbers, -1, MODULUS, engine=engine)
    with pytest.raises(ValueError, match="numbers: item 1 is negative or null"):
        engine.upload([1, None])
    assert len(engine.upload([])) == 0
    return products


def test_without_a_gpu() -> None:
    batch = check(modmill.Engine(backend="cpu", threads=2))
    for use in [lambda: batch.__cuda_array_interface__, batch.__dlpack__, batch.__dlpack_device__]:
        with pytest.raises(modmill.UnavailableError, match="not in the memory of a GPU"):
            use()


def test_emulated_gpu() -> None:
    if not shutil.which(os.environ.get("CXX", "c++")):
        pytest.skip("no C++ compiler")
    code = "import modmill, test_device; test_device.check(modmill.Engine(backend='cuda'))"
    environment = {**os.environ, "MODMILL_CUDA_DEVICES": "emulator", "MODMILL_BACKEND": "cuda"}
    subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, cwd=os.path.dirname(__file__), timeout=600
    )


def test_gpu() -> None:
    try:
        engine = modmill.Engine(backend="cuda")
    except modmill.UnavailableError as error:
        if os.environ.get("MODMILL_REQUIRE_GPU") == "1":
            raise
        pytest.skip(str(error))
    batch = check(engine)
    interface = batch.__cuda_array_interface__
    assert interface["shape"] == (4, 9) and interface["typestr"] == "<u8"
    assert batch.__dlpack_device__()[0] == 2
    torch = pytest.importorskip("torch")
    expected = batch.download().view("int64")
    assert (torch.from_dlpack(batch).view(torch.int64).cpu().numpy() == expected).all()
    del batch


def test_the_compiler_of_a_package_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnvrtc.so.13").touch()
    code = "import os, modmill; print(os.environ.get('MODMILL_NVRTC'))"

    def named(**variables: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "MODMILL_NVRTC"}
        environment |= variables
        path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        run = [sys.executable, "-c", code]
        return subprocess.check_output(run, env={**environment, "PYTHONPATH": path}, text=True).strip()

    assert named() == str(folder / "libnvrtc.so.13")
    # The file of this test is no library, and the error says so.
    code = """
import modmill
try:
    print(modmill.nvrtc())
except modmill.UnavailableError as error:
    print("unavailable:", error)
"""
    assert named().startswith(f"unavailable: MODMILL_NVRTC is {folder / 'libnvrtc.so.13'}")
    code = "import os, modmill; print(os.environ.get('MODMILL_NVRTC'))"
    assert named(MODMILL_NVRTC="/mine") == "/mine"
