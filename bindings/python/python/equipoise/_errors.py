"""The exceptions of the package. Each also derives from the built-in exception that callers would expect."""


class EquipoiseError(Exception):
    """Any error of this package."""


class SchemaError(EquipoiseError, ValueError):
    """A schema or a model file is invalid, or a schema cannot be inferred."""


class TableError(EquipoiseError, ValueError):
    """A table, or one of its cells, is invalid.

    `row` is counted from 1; `row` and `column` are None if the problem is not in one.
    """

    row: int | None = None
    column: str | None = None


class SettingError(EquipoiseError, ValueError):
    """A setting is out of range."""


class ProxyError(EquipoiseError, ValueError):
    """A proxy cannot be made or checked."""


class SolveError(EquipoiseError, ValueError):
    """A round cannot be solved."""


class FileError(EquipoiseError, OSError):
    """A file cannot be read or written."""


class RoundError(EquipoiseError, RuntimeError):
    """A round server refused a request or cannot be reached."""


class EquipoiseWarning(UserWarning):
    """What a reader must know about a table or a model."""
