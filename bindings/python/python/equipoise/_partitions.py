"""What workers do: pack parts of proxies, keep them, and answer with sums over their rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _core
from ._errors import TableError


class Slice(NamedTuple):
    """Some rows of one frame of a Dask dataframe."""

    frame: int
    start: int
    stop: int


class Part(NamedTuple):
    """Consecutive rows of a client's proxy, starting at a multiple of the segment size."""

    client: int
    name: str
    # A path, a table in memory as an Arrow stream, or slices of frames.
    table: Any
    first: int
    end: int | None
    # Number of rows, if known, to divide the work.
    n_rows: int


def pack(parts: Sequence[Part], schema: str, frames: Sequence[Any]) -> _core.Partition:
    """Read and pack parts of proxies."""
    tables = [(part.name, _table(part, frames), part.first, part.end) for part in parts]
    return _core.Partition.pack(tables, _schema(schema))


def unpack(rows: bytes, summary: bytes) -> _core.Partition:
    """A copy of a partition from another process."""
    return _core.Partition.from_bytes(rows, summary)


def summary(partition: _core.Partition) -> bytes:
    """What the driver must know about a partition."""
    return partition.summary()


def sums(partition: _core.Partition, theta: bytes, orders: bytes) -> bytes:
    """Sums over the rows at a model."""
    return partition.sums(theta, orders)


def fits(partition: _core.Partition, request: bytes, weights: bytes) -> bytes:
    """Models of whole clients."""
    return partition.fits(request, weights)


def spaced_rows(partition: _core.Partition, n_features: int, spacing: list[tuple[int, int]]) -> bytes:
    """Some rows of each part."""
    return partition.spaced_rows(n_features, spacing)


def _table(part: Part, frames: Sequence[Any]) -> Any:
    """The table as the native module reads it."""
    if isinstance(part.table, str):
        return part.table
    import pyarrow as pa

    if isinstance(part.table, bytes):
        return pa.ipc.open_stream(part.table).read_all()
    slices = (frames[piece.frame].iloc[piece.start : piece.stop] for piece in part.table)
    try:
        tables = [pa.Table.from_pandas(frame, preserve_index=False) for frame in slices]
        return pa.concat_tables([table.replace_schema_metadata() for table in tables], promote_options="permissive")
    except pa.ArrowException as error:
        raise TableError(f"the proxy of client `{part.name}`: its frames do not make one table: {error}") from None


def _schema(toml: str) -> _core.Schema:
    return _core.Schema.from_toml(toml, "the schema")
