"""The parts that the steps of `modmill.tables` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

try:
    import pyarrow as pa
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("modmill.tables needs pyarrow: pip install pyarrow", name=error.name) from error

from .engine import Engine

__all__ = ["Keyed", "Step", "pa"]

Key = TypeVar("Key")


class Step:
    """The parts that all steps share: arguments, which name columns, an engine, and the names of new columns."""

    def __init__(self, out: str, error: str | None, engine: Engine | None, **arguments: Any) -> None:
        if out == error:
            raise ValueError(f"out and error are both {out!r}; the new columns need different names")
        self.arguments = arguments
        self.out = out
        self.error = error
        self.engine = engine

    def __call__(self, table: Any) -> Any:
        """Return the table with the answers."""
        for name in (self.out, self.error):
            if name in table.column_names:
                raise ValueError(f"the table has a column {name!r} already; name the new one otherwise")
        answers, reasons = self._compute(table)
        table = table.append_column(self._field(answers.type), answers)
        return table if self.error is None else table.append_column(self.error, reasons)

    def _field(self, type: Any) -> Any:
        """Return the field of the answers, which have a type."""
        return pa.field(self.out, type)

    def schema(self, schema: Any) -> Any:
        """Return the schema of the answers to tables with a schema."""
        return self(schema.empty_table()).schema

    def _compute(self, table: Any) -> tuple[Any, Any]:
        """Return the answers, and why rows have none."""
        raise NotImplementedError

    def _column(self, table: Any, argument: str = "column") -> Any:
        """Return the column that an argument names."""
        name = self.arguments[argument]
        if name not in table.column_names:
            names = ", ".join(table.column_names)
            raise ValueError(f"{argument}: the table has no column {name!r}; its columns are {names}")
        return table.column(name)


class Keyed(Step, Generic[Key]):
    """A step with a key, or with a function that returns it."""

    def __init__(
        self, key: Key | Callable[[], Key], out: str, error: str | None, engine: Engine | None, **arguments: str
    ) -> None:
        super().__init__(out, error, engine, **arguments)
        self._source: Key | Callable[[], Key] = key
        self._key: Key | None = None

    @property
    def key(self) -> Key:
        """The key. A function is called once for it."""
        if self._key is None:
            self._key = self._source() if callable(self._source) else self._source
        return self._key

    def __getstate__(self) -> dict[str, Any]:
        # A key that a function returned stays in the process.
        return {**self.__dict__, "_key": None}
