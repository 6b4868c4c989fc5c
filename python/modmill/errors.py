"""Exceptions of the package."""

from __future__ import annotations

from typing import Any

__all__ = ["DeviceError", "ItemError", "UnavailableError"]


class ItemError(ValueError):
    """Some items of a call have no answer. The other answers are here.

    >>> import modmill
    >>> try:
    ...     modmill.invert([2, 3, 7], 15)
    ... except modmill.ItemError as error:
    ...     print(error.failed)
    ...     print(error.answers)
    [(1, 'the number has no inverse: it shares a factor with the modulus')]
    [8, None, 13]
    """

    failed: list[tuple[int, str]]
    """The failed items by rising index, each with the reason."""

    answers: Any
    """The answers of the call, with nothing at the failed items: ``None`` in a list, null in a column of
    Arrow, zero in an array of limbs."""

    def __init__(self, message: str, failed: list[tuple[int, str]], answers: Any) -> None:
        super().__init__(message)
        self.failed = failed
        self.answers = answers

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.failed, self.answers)


class DeviceError(RuntimeError):
    """A GPU failed, and the CPU could not finish the batch."""


class UnavailableError(RuntimeError):
    """A setting asks for something that this machine does not have, such as a GPU."""
