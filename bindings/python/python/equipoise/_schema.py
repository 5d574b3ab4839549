"""Schemas: what all parties agree on before anyone encodes a row."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._description import Description, as_description, columns_and_values
from ._errors import SchemaError, SettingError
from ._tables import Table, text_of, to_native


class Schema:
    """Columns, encodings, label and groups of a round.

    Two parties with the same `digest` encode the same row to the same numbers. `notes` says what to review in an
    inferred schema.
    """

    notes: list[str]

    def __init__(self, toml: str, *, name: str = "the schema") -> None:
        self._native = _core.Schema.from_toml(toml, name)
        self.notes = []

    @classmethod
    def _of(cls, native: _core.Schema, notes: list[str] | None = None) -> "Schema":
        schema = cls.__new__(cls)
        schema._native = native
        schema.notes = notes or []
        return schema

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Schema":
        """Read a schema file."""
        return cls._of(_core.Schema.read(path))

    @classmethod
    def infer(
        cls,
        table: Table,
        *,
        label: str,
        sensitive: str | Sequence[str] | Mapping[str, Any],
        positive: Any = 1,
        two_groups: bool = False,
        blind: bool = False,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        intercept: bool = True,
        label_rest_negative: bool = False,
        fill: Sequence[str] = (),
        unknown: str | None = None,
    ) -> "Schema":
        """Propose a schema for a table, to be reviewed and agreed on.

        Read `notes` afterwards: they say what to review.

        Args:
            table: Raw rows, or a list of tables, whose rows count together.
            label: The label column.
            sensitive: One or several columns whose values, or combinations of values, are the groups. A mapping also gives
                the value of the reference group of each column, or None for the most frequent value.
            positive: The value of the label column that counts as positive.
            two_groups: Compare the reference group with everyone else.
            blind: The model may not use the group.
            drop: Columns to ignore.
            categorical: Columns that are categories although they hold numbers.
            numeric: Columns that are numbers although they hold few different integers.
            intercept: Whether models have an intercept.
            label_rest_negative: All values of the label but the positive one are negative. Without this, the label must have
                two values.
            fill: What replaces missing values: "mean" for numbers, "mode" for categories.
            unknown: "other" accepts levels that the table lacks; by default they are errors.
        """
        tables = table if isinstance(table, (list, tuple)) else [table]
        if not tables:
            raise SchemaError("there is no table to infer a schema from")
        native, notes = _core.infer_schema(
            [to_native(part) for part in tables],
            (label, text_of(positive)),
            columns_and_values(sensitive),
            proposal(
                two_groups=two_groups,
                blind=blind,
                drop=drop,
                categorical=categorical,
                numeric=numeric,
                intercept=intercept,
                label_rest_negative=label_rest_negative,
                fill=fill,
                unknown=unknown,
            ),
        )
        return cls._of(native, [_in_python(note) for note in notes])

    @classmethod
    def merge(
        cls,
        descriptions: Sequence[Description | str | os.PathLike[str]],
        *,
        label: str | None = None,
        positive: Any = None,
        sensitive: str | Sequence[str] | Mapping[str, Any] = (),
        two_groups: bool = False,
        blind: bool = False,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        intercept: bool = True,
        label_rest_negative: bool = False,
        fill: Sequence[str] = (),
        unknown: str | None = None,
    ) -> "Schema":
        """Propose a schema for tables that only their clients see, from descriptions of them.

        It is the schema that `infer` would propose for all rows together, except for what the descriptions withhold. A
        column of which one withholds rare levels gets unknown="other", unless you say otherwise. The order does not matter.

        Args:
            descriptions: What `describe` returned for each client, or the paths of the files.
            label: The label column; by default, the one that the clients agree on.
            positive: The value of the label column that counts as positive; needed with `label`.
            sensitive: Sensitive columns and their reference groups, as in `infer`; by default, as the clients agree.
            two_groups: Compare the reference group with everyone else.
            blind: The model may not use the group.
            drop: Columns to ignore.
            categorical: Columns that are categories although they hold numbers.
            numeric: Columns that are numbers although they hold few different integers.
            intercept: Whether models have an intercept.
            label_rest_negative: All values of the label but the positive one are negative.
            fill: What replaces missing values, as in `infer`.
            unknown: "other" accepts levels that no description lists, "error" refuses them.
        """
        if isinstance(descriptions, (str, os.PathLike, Description)):
            raise TypeError("descriptions must be a list with a Description or a path for each client")
        if (label is None) != (positive is None):
            raise SettingError("label and positive belong together: give both, or neither")
        native, notes = _core.merge_descriptions(
            [as_description(description).to_json() for description in descriptions],
            None if label is None else (label, text_of(positive)),
            columns_and_values(sensitive),
            proposal(
                two_groups=two_groups,
                blind=blind,
                drop=drop,
                categorical=categorical,
                numeric=numeric,
                intercept=intercept,
                label_rest_negative=label_rest_negative,
                fill=fill,
                unknown=unknown,
            ),
        )
        return cls._of(native, [_in_python(note) for note in notes])

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the schema file. An existing file is replaced only with `force`."""
        _core.write_text(path, self._native.to_toml(), force)

    def to_toml(self) -> str:
        """The schema file as text."""
        return self._native.to_toml()

    @property
    def digest(self) -> str:
        """SHA-256 of the content, which all parties compare."""
        return self._native.digest()

    @property
    def label(self) -> str:
        """The label column."""
        return self._native.label()[0]

    @property
    def positive(self) -> str:
        """The value of the label column that counts as positive."""
        return self._native.label()[1]

    @property
    def sensitive(self) -> list[str]:
        """The columns that decide a row's group."""
        return self._native.sensitive()

    @property
    def groups(self) -> list[str]:
        """The names of the groups. A proxy has their numbers, from 0."""
        return self._native.groups()[0]

    @property
    def reference(self) -> str:
        """The group that reports compare the others with."""
        names, reference = self._native.groups()
        return names[reference]

    @property
    def blind(self) -> bool:
        """Whether the model may not use the group."""
        return self._native.blind()

    @property
    def features(self) -> dict[str, list[str] | None]:
        """The feature columns, with their levels if they are categorical."""
        return dict(self._native.features())

    @property
    def coefficients(self) -> list[str]:
        """The names of the model's coefficients."""
        return self._native.theta_names()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> Any:
        return (Schema, (self.to_toml(),))

    def __repr__(self) -> str:
        features = len(self.features)
        return f"<Schema {self.digest[:8]}: {features} features, label {self.label}, {len(self.groups)} groups>"


def proposal(
    *,
    two_groups: bool = False,
    blind: bool = False,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    intercept: bool = True,
    codes: bool = True,
    label_rest_negative: bool = False,
    fill: Sequence[str] = (),
    unknown: str | None = None,
) -> dict[str, Any]:
    """How a schema is proposed, as the native module takes it."""
    return {
        "two_groups": two_groups,
        "blind": blind,
        "drop": list(drop),
        "categorical": list(categorical),
        "numeric": list(numeric),
        "intercept": intercept,
        "codes": codes,
        "label_rest_negative": label_rest_negative,
        "fill": list(fill),
        "unknown": unknown,
    }


def _in_python(note: str) -> str:
    """A note of the command line with the parameters of `infer` in place of options."""
    note = note.replace("--unknown error", 'unknown="error"')
    return re.sub(r"--(fill|numeric) (.+)$", r'\1=["\2"]', note)


def as_schema(schema: "Schema | str | os.PathLike[str] | None") -> Schema:
    """The schema, or the one in a file."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, (str, os.PathLike)):
        return Schema.load(schema)
    raise TypeError(f"schema must be a Schema or a path, not {type(schema).__name__}")
