"""Operations over datasets of Ray Data, on all machines of a cluster.

>>> import ray
>>> import modmill.ray
>>> numbers = ray.data.from_items([{"n": bytes([n])} for n in range(100)])
>>> powers = modmill.ray.powmod(numbers, base="n", exp=65537, mod=2**127 - 1, out="power")
>>> [int.from_bytes(row["power"]) for row in powers.take_all() if row["n"] == b"\\x07"] == [pow(7, 65537, 2**127 - 1)]
True

The operations are those of `modmill.tables`: arguments are names of columns, or one number for all rows; answers come in new columns,
and the reasons of rows that have none in the column ``error``. They run in actors of Ray, each of which holds an engine and keys.

All functions take these options:

``num_gpus``
    The GPUs of an actor. An actor with GPUs computes on them, and fails where there are none. Without it actors compute on CPUs.
``num_cpus``
    The CPUs of an actor, and the threads of its engine. By default 1; in a cluster of one CPU 0, with one thread.
``concurrency``
    The number of actors, or a pair of the least and the greatest. By default actors take all GPUs of the cluster, or seven of eight of
    its CPUs: readers and writers need the others, and a job without CPUs for its readers never ends.
``batch_size``
    The rows of a call, by default 4096, or 65536 with GPUs.

``max_bits``
    Of powers and `batch_gcd`: rows with a number of more bits than this have no answer, and the reason in the column ``error``. A batch is
    as wide as its longest number, so that one row of some megabytes among short ones would take all memory of an actor. By default 2**20,
    and 2**14 of `batch_gcd`; ``None`` takes numbers of any length.

Ray runs a task again if its machine is lost. Powers, signatures with PKCS #1 v1.5, decryption and sums give the same answers again.
Encryption and PSS draw new randomness each time. Ray does not keep rows in order unless its own settings ask for it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

try:
    import ray
    import ray.data
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("modmill.ray needs Ray: pip install 'modmill[ray]'", name=error.name) from error

from . import paillier, psi, rsa, tables
from .engine import Engine
from .types import Backend

__all__ = [
    "batch_gcd",
    "paillier_decrypt",
    "paillier_encrypt",
    "paillier_sum",
    "powmod",
    "powmod_files",
    "psi_blind",
    "psi_tags",
    "rsa_sign",
    "rsa_verify",
]

Concurrency = int | tuple[int, int] | None

MAX_BITS = 2**20
"""Bits of the longest number of a row, unless the caller names others."""

MODULUS_BITS = 2**14
"""Bits of the longest modulus of `batch_gcd`, unless the caller names others."""


class Cluster(TypedDict, total=False):
    """The options of all functions: what a job takes of the cluster."""

    num_gpus: float | None
    num_cpus: float | None
    concurrency: Concurrency
    batch_size: int | None


class Worker:
    """The contents of an actor: a step, with the engine of its machine."""

    def __init__(self, step: tables.Step, backend: Backend | None, threads: int) -> None:
        step.engine = Engine(backend=backend, threads=threads)
        self.step = step

    def __call__(self, table: Any) -> Any:
        return self.step(table)


@dataclass
class Actors:
    """The actors of a job: how many, and what each of them takes of a machine."""

    num_gpus: float | None = None
    num_cpus: float | None = None
    concurrency: Concurrency = None
    batch_size: int | None = None

    def fill(self) -> None:
        """Set what the caller left open, by the cluster as it is."""
        if not ray.is_initialized():
            ray.init()
        cluster = ray.cluster_resources()
        cpus = int(cluster.get("CPU", 1))
        if self.num_cpus is None:
            self.num_cpus = 1 if cpus > 1 else 0
        if self.concurrency is not None:
            return
        if self.num_gpus:
            self.concurrency = max(1, int(cluster.get("GPU", 0) / self.num_gpus))
        else:
            free = max(1, cpus // 8)
            self.concurrency = max(1, int((cpus - free) / (self.num_cpus or 1)))

    def map(self, ds: Any, worker: type, arguments: dict[str, Any], columns: Iterable[tuple[str, Any]] = ()) -> Any:
        """Send the batches of a dataset through actors that are made of a class and its arguments.

        ``columns`` are arguments that name columns of the dataset.
        """
        check_columns(ds.columns(fetch_if_missing=False), columns)
        self.fill()
        backend = "cuda" if self.num_gpus else "cpu"
        engine = {"backend": backend, "threads": max(1, int(self.num_cpus or 1))}
        return ds.map_batches(
            worker,
            fn_constructor_kwargs={**arguments, **engine},
            batch_format="pyarrow",
            batch_size=self.batch_size or (65536 if self.num_gpus else 4096),
            num_cpus=self.num_cpus,
            num_gpus=self.num_gpus,
            compute=self._pool(),
        )

    def _pool(self) -> Any:
        # A block computes for long: one is at work, one waits, and the others are left to actors that are free.
        if isinstance(self.concurrency, tuple):
            least, greatest = self.concurrency
            return ray.data.ActorPoolStrategy(min_size=least, max_size=greatest, max_tasks_in_flight_per_actor=2)
        return ray.data.ActorPoolStrategy(size=self.concurrency, max_tasks_in_flight_per_actor=2)


def check_columns(names: Sequence[str] | None, columns: Iterable[tuple[str, Any]]) -> None:
    """Refuse arguments that name columns which are not there. ``names`` are the columns, if they are known before the job runs."""
    for argument, name in columns:
        if names is not None and isinstance(name, str) and name not in names:
            raise ValueError(f"{argument}: there is no column {name!r}; the columns are {', '.join(names)}")


def _over(ds: Any, step: tables.Step, **cluster: Unpack[Cluster]) -> Any:
    """Send the batches of a dataset through a step."""
    return Actors(**cluster).map(ds, Worker, {"step": step}, step.arguments.items())


def _travels(key: Any) -> Any:
    """Return a key that can be sent to actors, or say why it cannot."""
    try:
        pickle.dumps(key)
    except TypeError as error:
        raise TypeError(
            f"{error}. Ray keeps what it sends in the memory of its machines; "
            "a function that returns the key is called by each actor instead"
        ) from error
    except (pickle.PicklingError, AttributeError):
        # Ray pickles more than pickle does, such as functions that have no name.
        if not callable(key):
            raise
    return key


def powmod(
    ds: Any,
    *,
    base: str | int | bytes,
    exp: str | int | bytes,
    mod: str | int | bytes,
    out: str = "power",
    error: str | None = "error",
    secret: bool = True,
    width: int | None = None,
    max_bits: int | None = MAX_BITS,
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with ``base ** exp % mod`` in the column ``out``, by `modmill.tables.Powmod`."""
    step = tables.Powmod(
        base=base, exp=exp, mod=mod, out=out, error=error, secret=secret, width=width, max_bits=max_bits
    )
    return _over(ds, step, **cluster)


def rsa_sign(
    ds: Any,
    *,
    key: rsa.PrivateKey | Callable[[], rsa.PrivateKey],
    message: str,
    out: str = "signature",
    error: str | None = "error",
    padding: Literal["pss", "pkcs1v15"] = "pss",
    hash: str = "sha256",
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the signatures of the column ``message``, by `modmill.tables.RsaSign`.

    ``key`` is a key that was made by ``picklable()``, or a function that returns a key and is called by each actor.
    """
    step = tables.RsaSign(_travels(key), message=message, out=out, error=error, padding=padding, hash=hash)
    return _over(ds, step, **cluster)


def rsa_verify(
    ds: Any,
    *,
    key: rsa.PublicKey,
    message: str,
    signature: str,
    out: str = "valid",
    padding: Literal["pss", "pkcs1v15"] = "pss",
    hash: str = "sha256",
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with a column that tells whether signatures are right, by `modmill.tables.RsaVerify`."""
    step = tables.RsaVerify(key, message=message, signature=signature, out=out, padding=padding, hash=hash)
    return _over(ds, step, **cluster)


def paillier_encrypt(
    ds: Any,
    *,
    key: paillier.PublicKey | paillier.PrivateKey | Callable[[], paillier.PublicKey | paillier.PrivateKey],
    column: str,
    out: str = "encrypted",
    error: str | None = "error",
    exponent: int = 0,
    magnitude_bits: int = 64,
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the ciphertexts of a column, by `modmill.tables.PaillierEncrypt`.

    A task that Ray runs again draws new randomness. Write the dataset before two other datasets are made of it, if both must have the
    same ciphertexts.
    """
    step = tables.PaillierEncrypt(
        _travels(key), column=column, out=out, error=error, exponent=exponent, magnitude_bits=magnitude_bits
    )
    return _over(ds, step, **cluster)


def paillier_decrypt(
    ds: Any,
    *,
    key: paillier.PrivateKey | Callable[[], paillier.PrivateKey],
    column: str,
    out: str = "decrypted",
    error: str | None = "error",
    exponent: int | None = None,
    magnitude_bits: int | None = None,
    type: Any = None,
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the numbers of a column of ciphertexts, by `modmill.tables.PaillierDecrypt`.

    ``key`` is a key that was made by ``picklable()``, or a function that returns a key and is called by each actor.
    """
    step = tables.PaillierDecrypt(
        _travels(key),
        column=column,
        out=out,
        error=error,
        exponent=exponent,
        magnitude_bits=magnitude_bits,
        type=type,
    )
    return _over(ds, step, **cluster)


def paillier_sum(
    ds: Any,
    *,
    key: paillier.PublicKey,
    column: str,
    exponent: int | None = None,
    magnitude_bits: int | None = None,
    **cluster: Unpack[Cluster],
) -> paillier.EncryptedColumn:
    """Compute the encrypted sum of a column of ciphertexts. Actors add up batches, and the caller adds up their sums.

    The sum is a column of one number, 0 for a dataset without rows. A null in the column is an error.
    """
    step = tables.PaillierSum(key, column=column, exponent=exponent, magnitude_bits=magnitude_bits)
    sums = _over(ds, step, **cluster)
    return step.join([piece for piece in sums.iter_batches(batch_format="pyarrow") if piece.num_rows])


def psi_blind(
    ds: Any,
    *,
    party: psi.Party | Callable[[], psi.Party],
    column: str,
    out: str = "element",
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the party's own items blinded, by `modmill.tables.PsiBlind`.

    ``party`` was made by ``picklable()``, or is a function that returns the same party in each actor.
    """
    step = tables.PsiBlind(_travels(party), column=column, out=out)
    return _over(ds, step, **cluster)


def psi_tags(
    ds: Any,
    *,
    party: psi.Party | Callable[[], psi.Party],
    column: str,
    out: str = "tag",
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the tags of elements that the other party has blinded, by `modmill.tables.PsiTags`."""
    step = tables.PsiTags(_travels(party), column=column, out=out)
    return _over(ds, step, **cluster)


def batch_gcd(
    ds: Any,
    *,
    modulus: str,
    work: Any,
    out: str = "gcd",
    error: str | None = "error",
    subsets: int | None = None,
    max_bits: int | None = MODULUS_BITS,
    **cluster: Unpack[Cluster],
) -> Any:
    """Return the dataset with the factors that each number of the column ``modulus`` shares with any other one, as `modmill.batch_gcd`.

    The rows are computed in subsets of ``batch_size`` rows, by default 65536, or in about as many ``subsets`` as named. Every two subsets
    meet, so that few large ones take less time than many small ones. A row whose modulus is null, zero or longer than ``max_bits`` has no
    answer, and the others are compared without it. ``max_bits`` is 2**14 by default, because a subset is as wide as its longest modulus.

    ``work`` is a folder that every machine of the cluster sees. It keeps the rows of each subset, their product and their answers in files
    that are named by the digests of what they were computed from: a task that is run again, or a job over the same rows, goes on with
    them. Whoever has the answers removes the folder. It holds factors of other people's keys, as the answers do.

    The products are computed at once, and the answers when the rows are asked for.
    """
    from ._ray_trees import compare

    return compare(ds, modulus, out, error, work, subsets, max_bits, Actors(**cluster))


def powmod_files(
    input: Any,
    output: Any,
    *,
    base: str | int | bytes,
    exp: str | int | bytes,
    mod: str | int | bytes,
    out: str = "power",
    error: str | None = "error",
    secret: bool = True,
    width: int | None = None,
    max_bits: int | None = MAX_BITS,
    keep: Sequence[str] | None = None,
    mode: Literal["refuse", "replace"] = "refuse",
    **cluster: Unpack[Cluster],
) -> list[dict[str, Any]]:
    """Compute powers of the rows of Parquet files, and write Parquet files to a folder, one for each input file.

    Ray hands out the names of the files alone. Actors read, compute and write, ``batch_size`` rows at a time. This costs less than
    `powmod` over a dataset, and suits GPUs. ``input`` is a file, a folder or a list of files, and ``output`` a folder, all on a file
    system that every machine of the cluster sees.

    The files have all columns of the input, or those that ``keep`` names, and the answers.

    The folder appears when all files are complete, and an error leaves it as it was. ``mode="refuse"`` raises ``FileExistsError`` if
    it exists and is not empty. ``mode="replace"`` replaces it, if it holds nothing but Parquet files.

    The answer lists ``input``, ``output``, ``rows`` and ``failed`` rows of each file.
    """
    from ._ray_files import convert

    step = tables.Powmod(
        base=base, exp=exp, mod=mod, out=out, error=error, secret=secret, width=width, max_bits=max_bits
    )
    return convert(step, input, output, keep, mode, Actors(**cluster))
