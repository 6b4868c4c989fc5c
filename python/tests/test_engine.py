"""Engines: settings, pickling, threads, forks, Ctrl-C and progress."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
import tqdm

import modmill


def test_settings() -> None:
    engine = modmill.Engine(backend="cpu", threads=3)
    assert engine.threads == 3
    assert engine.devices == [] and engine.memory() == []
    assert repr(engine) == 'modmill.Engine(backend="cpu", threads=3)'
    text = engine.explain("powmod", 2048, 100)
    assert "2048" in text and "3 threads" in text
    with pytest.raises(ValueError, match="unknown backend"):
        modmill.Engine(backend="abacus")
    with pytest.raises(ValueError, match="unknown operation"):
        engine.explain("sqrt", 2048, 100)
    with pytest.raises(modmill.UnavailableError):
        modmill.Engine(devices=[99])


def test_pickling(engine: modmill.Engine) -> None:
    again = pickle.loads(pickle.dumps(engine))
    assert repr(again) == repr(engine)
    assert modmill.powmod([2, 3], 5, 1009, engine=again) == [32, 243]
    with pytest.raises(modmill.ItemError) as caught:
        modmill.invert([2, 3], 9)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.failed, error.answers) == (
        str(caught.value),
        caught.value.failed,
        caught.value.answers,
    )


def test_threads_share_an_engine(engine: modmill.Engine) -> None:
    modulus = 2**521 - 1
    wrong = []

    def work(start: int) -> None:
        for item in range(start, start + 20):
            if modmill.powmod([item, item + 1], item, modulus, engine=engine) != [
                pow(item, item, modulus),
                pow(item + 1, item, modulus),
            ]:
                wrong.append(item)

    threads = [threading.Thread(target=work, args=(100 * start + 2,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_during_a_call(engine: modmill.Engine) -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    count = 64
    # A fast machine is given a longer batch.
    while ticks < 50:
        ticks = 0
        modmill.powmod([3] * count, 2**2000 - 1, 2**2203 - 1, engine=engine)
        count *= 2
    done.set()
    thread.join()


def in_a_fork(base: int) -> int:
    return modmill.powmod([base] * 500, 65537, 2**521 - 1)[0]


def test_forked_processes_make_their_own_threads() -> None:
    assert in_a_fork(2) == pow(2, 65537, 2**521 - 1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        answers = pool.map_async(in_a_fork, [3, 5, 7]).get(timeout=60)
    assert answers == [pow(base, 65537, 2**521 - 1) for base in [3, 5, 7]]


def test_progress(engine: modmill.Engine) -> None:
    told: list[tuple[int, int]] = []
    answers = modmill.powmod(
        [3] * 3000, 2**1000 - 1, 2**1279 - 1, engine=engine, progress=lambda done, total: told.append((done, total))
    )
    assert answers[0] == pow(3, 2**1000 - 1, 2**1279 - 1)
    assert told[0] == (0, 3000) and told[-1] == (3000, 3000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    with tqdm.tqdm(total=300, disable=None, file=open(os.devnull, "w")) as bar:
        modmill.powmod([3] * 300, 2**1000 - 1, 2**1279 - 1, engine=engine, progress=bar)
        assert bar.n == 300 or bar.disable


def test_an_exception_of_the_listener_stops_the_call(engine: modmill.Engine) -> None:
    class Enough(Exception):
        pass

    def listen(done: int, total: int) -> None:
        if done > 0:
            raise Enough

    # A fast machine may finish before the listener is told, which is an exception all the same.
    with pytest.raises(Enough):
        modmill.powmod([3] * 20_000, 2**2000 - 1, 2**2203 - 1, engine=engine, progress=listen)
    assert modmill.powmod(2, 10, 1009, engine=engine) == 15, "the engine is as good as before"


LONG_CALL = """
import sys, modmill
print("started", flush=True)
try:
    modmill.powmod([3] * 200_000, 2**4000 - 1, 2**4253 - 1, width=4253)
except KeyboardInterrupt:
    print("interrupted", modmill.powmod(2, 10, 1009), flush=True)
"""


def test_ctrl_c_stops_a_long_call() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG_CALL], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    # The call would take hours.
    out, _ = process.communicate(timeout=120)
    assert out == "interrupted 15\n"
    assert process.returncode == 0


def test_the_package_tells_its_version_and_finds_its_modules() -> None:
    code = """
import sys, modmill
assert modmill.__version__.split(".")[0].isdigit(), modmill.__version__
assert "modmill.paillier" not in sys.modules and "paillier" in dir(modmill)
modmill.paillier.PublicKey, modmill.rsa.load, modmill.psi.Party, modmill.tables.Powmod
try:
    modmill.absent
except AttributeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout == "module 'modmill' has no attribute 'absent'\n"


def test_the_engine_has_help() -> None:
    for name in ["explain", "faults", "memory", "upload", "threads", "devices"]:
        assert getattr(modmill.Engine, name).__doc__, name
    assert all(setting in (modmill.Engine.__doc__ or "") for setting in ["backend:", "threads:", "devices:"])
