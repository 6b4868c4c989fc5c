"""Engines: the threads and GPUs that compute.

``Engine(backend=None, threads=None, devices=None)`` fixes some things, and the engine chooses the others by measured
times. ``backend`` is ``"cpu"``, ``"cuda"`` or ``None`` for the one that finishes a batch first. ``devices`` is a list of
numbers of GPUs. Calls without an engine share one with nothing fixed.

>>> import modmill
>>> engine = modmill.Engine(backend="cpu", threads=2)
>>> engine.threads
2
>>> modmill.powmod([2, 3], 10, 1009, engine=engine)
[15, 527]

``explain`` tells how a batch is computed, and why:

>>> print(engine.explain("powmod", 2048, 1000))  # doctest: +ELLIPSIS
pow ...

``upload`` copies a column to a GPU, where it stays as a `DeviceBatch`. Operations on it leave their answers there too, and
``download`` brings them back. On an engine without GPUs the numbers stay in its own memory, so that a program runs
everywhere:

>>> numbers = engine.upload([2, 3, 5])
>>> squares = modmill.mulmod(numbers, numbers, 23, engine=engine)
>>> squares
<modmill.DeviceBatch of 3 x 5 bits>
>>> squares.download("ints")
[4, 9, 2]

``memory`` lists the memory of each GPU in bytes, and ``faults`` what went wrong with GPUs without costing an answer.

An engine is pickled as its settings, and made again where it is unpickled, so that it can be handed to workers. A process
that is forked makes its own threads at the first call.

>>> import pickle
>>> pickle.loads(pickle.dumps(engine))
modmill.Engine(backend="cpu", threads=2)
"""

from __future__ import annotations

from ._modmill import DeviceBatch, Engine

__all__ = ["DeviceBatch", "Engine"]
