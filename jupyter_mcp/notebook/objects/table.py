"""`Table`: rows of text with a heading, what most verbs show. A value; drawn in `render`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Table(Sequence[T], Generic[T]):
    """A sequence of records that shows itself as a table.

    Attributes:
        kind: one word for machines ("log", "activity", "trace", "policy").
        title: the heading.
        columns: column headings.
        empty: what to say when there are no rows.
        hint: one line below the table, or "".
    """

    kind = "table"
    title = ""
    columns: Sequence[str] = ()
    empty = "nothing"
    hint = ""

    def __init__(self, records: Sequence[T]) -> None:
        self._records = list(records)

    def row(self, record: T) -> Sequence[str]:
        """The cells of one record, as text; nothing that differs between two runs (no times, ids, paths)."""
        raise NotImplementedError

    def rows(self) -> list[Sequence[str]]:
        return [self.row(record) for record in self._all()]

    def record(self, record: T) -> Mapping[str, Any]:
        """One record with everything, for `df()`."""
        return dict(zip(self.columns, self.row(record), strict=False))

    def __call__(self, text: str) -> Table[Any]:
        """The rows with every word of `text` in a cell."""
        words = text.lower().split()
        rows: list[Any] = [row for row in self.rows() if all(word in " ".join(row).lower() for word in words)]
        return Listing(self.kind, self.title, self.columns, rows, empty=f"nothing with {text!r}", hint=self.hint)

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import TableView

        return TableView(self.title, list(self.columns), self.rows(), kind=self.kind, empty=self.empty, hint=self.hint)

    def df(self) -> Any:
        """The records as a data frame. Raises `UsageError` when no data frame library is installed."""
        from jupyter_mcp.host.tables import frame

        records = [self.record(record) for record in self._all()]
        names = list(records[0]) if records else list(self.columns)
        return frame({name: [record.get(name) for record in records] for name in names})

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def _all(self) -> list[T]:
        return self._records

    def __repr__(self) -> str:
        return f"<{self.title}: {len(self)}>" if len(self) else f"<{self.title}: {self.empty}>"


class Listing(Table[Sequence[str]]):
    """A table made on the spot from rows of text."""

    def __init__(
        self,
        kind: str,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        empty: str = "nothing",
        hint: str = "",
    ) -> None:
        super().__init__(rows)
        self.kind, self.title, self.columns, self.empty, self.hint = kind, title, columns, empty, hint

    def row(self, record: Sequence[str]) -> Sequence[str]:
        return record
