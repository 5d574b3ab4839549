"""Tables of any supported kind: what goes into the native module, and how results take the same kind."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _core
from ._errors import TableError

# A pandas or polars DataFrame, a pyarrow Table or reader, any object with `__arrow_c_stream__`, a mapping of names to
# columns, a two-dimensional NumPy array, or a path. The libraries are optional, so their types cannot be named here.
Table: TypeAlias = Any

# One of: path, pandas, polars, pyarrow, numpy, mapping, arrow.
Kind: TypeAlias = str

# What the native module accepts: a path, an object with an Arrow stream, or columns.
Native: TypeAlias = Any

Columns: TypeAlias = list[tuple[str, Any]]


def kind_of(table: Table) -> Kind:
    """The kind of a table, without importing the library that it comes from."""
    if isinstance(table, (str, os.PathLike)):
        return "path"
    library = type(table).__module__.partition(".")[0]
    if library == "pandas":
        return "pandas"
    if library == "polars":
        return "polars"
    if library == "pyarrow":
        return "pyarrow"
    if isinstance(table, np.ndarray):
        return "numpy"
    if isinstance(table, Mapping):
        return "mapping"
    if hasattr(table, "__arrow_c_stream__"):
        return "arrow"
    raise TypeError(
        f"a table must be a pandas, polars or pyarrow table, a NumPy array, a mapping of columns or a path, "
        f"not {type(table).__name__}"
    )


def to_native(table: Table, names: Sequence[str] | None = None) -> Native:
    """The table as the native module reads it. `names` are the columns of a NumPy array."""
    kind = kind_of(table)
    if kind == "path":
        return os.fspath(table)
    if kind == "polars" and not hasattr(table, "__arrow_c_stream__"):
        return table.collect()
    if kind in ("polars", "pyarrow", "arrow"):
        return table
    return to_columns(table, names)


def to_columns(table: Table, names: Sequence[str] | None = None) -> Columns:
    """The columns of a table in memory, as numbers or texts."""
    return [(name, _values(name, column)) for name, column in _named(table, names)]


def _named(table: Table, names: Sequence[str] | None) -> Iterable[tuple[str, Any]]:
    kind = kind_of(table)
    if kind == "pandas":
        if not hasattr(table, "columns"):
            return [(_name(table.name), table)]
        _require_text(table.columns)
        return [(_name(name), table.iloc[:, i]) for i, name in enumerate(table.columns)]
    if kind == "numpy":
        if table.ndim != 2:
            raise TableError(f"a NumPy table needs two dimensions, found {table.ndim}")
        if names is None:
            names = numbered(table.shape[1])
        if len(names) != table.shape[1]:
            raise TableError(f"the array has {table.shape[1]} columns, but {len(names)} are expected: {', '.join(names)}")
        return [(name, table[:, i]) for i, name in enumerate(names)]
    if kind == "mapping":
        _require_text(table)
        return list(table.items())
    if kind == "polars":
        frame = table if hasattr(table, "get_columns") else table.collect()
        return [(series.name, series.to_numpy()) for series in frame.get_columns()]
    if kind == "pyarrow":
        whole = table.read_all() if hasattr(table, "read_all") else table
        return [(name, whole.column(i).to_numpy(zero_copy_only=False)) for i, name in enumerate(whole.schema.names)]
    raise TypeError(f"the columns of {type(table).__name__} are not known")


def numbered(n: int) -> list[str]:
    """The names of columns without a name."""
    return [f"x{i}" for i in range(n)]


def _require_text(names: Iterable[Any]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TableError(f"the names of columns must be text, found {name!r}. Rename the column.")


def _name(name: Any) -> str:
    return str(name)


def _values(name: str, column: Any) -> Any:
    """A column as an array of 64-bit floats, copied only if it is not one, or as a list of texts in which None is missing."""
    dtype = getattr(column, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):
        column = _extension_values(column)
    array = np.asarray(column)
    if array.ndim != 1:
        raise TableError(f"column `{name}`: needs one dimension, found {array.ndim}")
    if array.dtype.kind in "fiub":
        return np.require(array, dtype=np.float64, requirements=["C", "A"])
    if array.dtype.kind in "UT":
        return [None if text is None else str(text) for text in array.tolist()]
    if array.dtype.kind == "O":
        return _objects(name, array)
    raise _unsupported(name, str(array.dtype))


def _extension_values(column: Any) -> Any:
    """The values of a pandas extension array: categories, nullable numbers, strings."""
    if str(column.dtype) == "category":
        return column.astype(object).to_numpy()
    if getattr(column.dtype, "kind", "O") in "fiub":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if hasattr(column, "to_numpy"):
        return column.to_numpy()
    return column


def _objects(name: str, values: np.ndarray[Any, Any]) -> Any:
    texts: list[str | None] = []
    only_numbers = True
    for row, value in enumerate(values.tolist(), start=1):
        if value is None or value != value or type(value).__name__ == "NAType":
            texts.append(None)
        elif isinstance(value, str):
            only_numbers = False
            texts.append(value)
        elif isinstance(value, (bool, np.bool_)):
            texts.append("1" if value else "0")
        elif isinstance(value, (int, float, np.integer, np.floating)):
            texts.append(repr(float(value)))
        else:
            raise _unsupported(name, type(value).__name__, row)
    if only_numbers and texts:
        return np.array([np.nan if text is None else float(text) for text in texts])
    return texts


def _unsupported(name: str, type_name: str, row: int | None = None) -> TableError:
    where = f"column `{name}`" if row is None else f"row {row}, column `{name}`"
    error = TableError(
        f"{where}: type {type_name} is not supported, only numbers, booleans and text. Convert or drop the column."
    )
    error.row, error.column = row, name
    return error


def column(output: _core.OutputTable, name: str) -> Any:
    """A column of a result as a NumPy array."""
    dtype, values = output.column(name)
    return np.array(values, dtype=object) if dtype == "O" else np.frombuffer(values, dtype=dtype)


def to_kind(output: _core.OutputTable, kind: Kind) -> Table:
    """A result as a table of this kind. Files become a mapping of columns."""
    if kind == "polars":
        import polars

        return polars.DataFrame(output)
    if kind in ("pyarrow", "arrow"):
        import pyarrow

        return pyarrow.table(output)
    return from_columns({name: column(output, name) for name in output.names()}, kind)


def from_columns(columns: dict[str, Any], kind: Kind, index: Any = None) -> Table:
    """Columns as a table of this kind. `index` is that of a pandas table."""
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns, index=index)
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    if kind in ("pyarrow", "arrow"):
        import pyarrow

        return pyarrow.table(columns)
    if kind == "numpy":
        return np.column_stack([np.asarray(values, dtype=np.float64) for values in columns.values()])
    return columns


def whole(table: Table) -> Table:
    """A table in memory whose rows can be read more than once."""
    kind = kind_of(table)
    if kind == "polars" and not hasattr(table, "get_columns"):
        return table.collect()
    if kind == "pyarrow" and hasattr(table, "read_all"):
        return table.read_all()
    if kind == "arrow":
        import pyarrow

        return pyarrow.table(table)
    return table


def take(table: Table, rows: np.ndarray[Any, Any]) -> Table:
    """Some rows of a table from `whole`."""
    kind = kind_of(table)
    if kind == "pandas":
        return table.iloc[rows]
    if kind == "pyarrow":
        return table.take(rows)
    if kind == "mapping":
        return {name: np.asarray(values)[rows] for name, values in table.items()}
    return table[rows]


def text_of(value: object) -> str:
    """A value as a schema spells it: booleans are 1 and 0, as in tables."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    return str(value)
