"""Descriptions: what clients who may not share rows say about their tables, to agree on a schema."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._files import read_text
from ._tables import Table, text_of, to_native


class Description:
    """What a client says about its table: kinds of columns, levels with counts, moments, sizes of groups, and no rows.

    Read `content` before you send it. `notes` are for your eyes only: they name what the description withholds.
    """

    notes: list[str]

    def __init__(self, text: str, *, name: str = "the description") -> None:
        self._json = _core.parse_description(text, name)
        self.notes = []

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Description":
        """Read a description that `save` or the command `schema describe` wrote."""
        return cls(read_text(path), name=os.fspath(path))

    @property
    def content(self) -> dict[str, Any]:
        """All that the description says."""
        content: dict[str, Any] = json.loads(self._json)
        return content

    @property
    def client(self) -> str:
        """The client's name."""
        return str(self.content["client"])

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file to send. An existing file is replaced only with `force`."""
        _core.write_text(path, self._json, force)

    def to_json(self) -> str:
        """The file as text."""
        return self._json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Description) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> Any:
        return (Description, (self._json,))

    def __repr__(self) -> str:
        content = self.content
        return f"<Description of {content['rows']} rows of {self.client}; .content is what it reveals>"


def describe(
    table: Table,
    *,
    label: str,
    sensitive: str | Sequence[str] | Mapping[str, Any],
    client: str | None = None,
    positive: Any = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    min_rows: int = 5,
) -> Description:
    """Describe your table for `Schema.merge`, without its rows.

    For clients who must agree on a schema but may not share rows. Levels, labels and groups in fewer than `min_rows` rows
    are withheld: they are not named, and no figure includes them except the count of withheld rows. The result is that of the
    command `schema describe`.

    Args:
        table: Your raw rows.
        label: The label column.
        sensitive: Sensitive columns, as in `Schema.infer`. All clients must name the same columns in the same order.
        client: Your name; by default, the file's name without its extension.
        positive: The value of the label column that counts as positive; it may be left to `Schema.merge`.
        drop: Columns to leave out. Only their names are in the description.
        categorical: Columns that are categories although they hold numbers.
        numeric: Columns that are numbers although they hold few different integers. Their values are not listed.
        min_rows: Values in fewer rows than this are withheld; 1 withholds nothing.
    """
    text, notes = _core.describe_table(
        to_native(table),
        client=client,
        label=(label, None if positive is None else text_of(positive)),
        sensitive=columns_and_values(sensitive),
        drop=list(drop),
        categorical=list(categorical),
        numeric=list(numeric),
        min_rows=min_rows,
    )
    description = Description(text)
    description.notes = notes
    return description


def as_description(description: Description | str | os.PathLike[str]) -> Description:
    """The description, or the one in a file."""
    if isinstance(description, Description):
        return description
    if isinstance(description, (str, os.PathLike)):
        return Description.load(description)
    raise TypeError(f"descriptions must be Description objects or paths, not {type(description).__name__}")


def columns_and_values(sensitive: str | Sequence[str] | Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Sensitive columns, each with the value of its reference group or None."""
    names = [sensitive] if isinstance(sensitive, str) else sensitive
    pairs = list(names.items()) if isinstance(names, Mapping) else [(name, None) for name in names]
    return [(name, None if value is None else text_of(value)) for name, value in pairs]
