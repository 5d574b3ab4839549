"""Proxies that outgrow one machine: their rows stay on Dask workers, and only sums travel.

    import equipoise as eq

    eq.defend(proxies, trusted, schema, engine="dask")            # a cluster on this machine
    eq.defend(proxies, trusted, schema, engine=Engine(client))    # your cluster

Proxies are Parquet files that every worker can read, Dask dataframes, or any other table. Workers pack their rows once and
keep them in memory. The driver runs the same defense as in a single process and gets the same model, bit for bit, from any
number of workers. If a worker dies, others pack its rows again.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from . import _core, _partitions
from ._errors import SettingError, SolveError
from ._partitions import Part, Slice
from ._progress import Progress, reporting
from ._schema import Schema
from ._tables import to_native

try:
    import dask
    import distributed
    from dask.delayed import delayed
except ImportError:
    raise ImportError('engine="dask" needs Dask: pip install "equipoise[dask]"') from None

__all__ = ["Engine", "Pass"]

# Small proxies share a partition until it has so many rows: enough to make a task worth its overhead, and in small rounds few
# enough to occupy all workers. Results do not depend on it.
_MIN_ROWS, _MAX_ROWS = 1 << 14, 1 << 19

_ORDERS = ("loss", "gradient", "hessian")


class Pass(NamedTuple):
    """A request to the workers, as measured by the driver."""

    name: str
    tasks: int
    seconds: float
    # Bytes of requests and replies, without Dask's own.
    bytes_sent: int
    bytes_received: int


class Engine:
    """Where the rows of a round are summed.

    Without a client, `Engine` starts a cluster on this machine for each round, with one process per processor; `n_workers`
    and `memory_limit` (per worker, as Dask spells it) change that. `passes` lists the requests of the latest round.
    """

    passes: list[Pass]

    def __init__(
        self,
        client: "distributed.Client | None" = None,
        *,
        n_workers: int | None = None,
        memory_limit: str | int | None = None,
    ) -> None:
        if client is not None and (n_workers, memory_limit) != (None, None):
            raise SettingError("n_workers and memory_limit are for a cluster on this machine, not for that of a client")
        self.client = client
        self.n_workers = n_workers
        self.memory_limit = memory_limit
        self.passes = []

    def _defend(
        self,
        proxies: Mapping[str, Any] | str | os.PathLike[str],
        trusted: Any,
        schema: Schema,
        options: dict[str, Any],
        *,
        sweep: bool,
        progress: Progress,
    ) -> tuple[str, _core.Model]:
        tables = _tables(proxies)
        with self._connected() as client:
            self.passes = []
            partitions = _Partitions(client, schema.to_toml(), self.passes)
            try:
                with reporting(progress, "pack") as report:
                    parts = partitions.divide(tables)
                    summaries = partitions.pack(parts, report)
                with reporting(progress, "solve") as report:
                    return _core.defend_partitions(
                        partitions,
                        [(name, *_name_of(name, table)) for name, table in tables],
                        [[part.client for part in group] for group in parts],
                        summaries,
                        trusted,
                        schema._native,
                        options,
                        sweep=sweep,
                        progress=report,
                    )
            finally:
                partitions.release()

    @contextmanager
    def _connected(self) -> Iterator["distributed.Client"]:
        if self.client is not None:
            yield self.client
            return
        # A stolen task would take its rows along. Every worker has its share of them, so there is nothing to gain.
        with dask.config.set({"distributed.scheduler.work-stealing": False}):
            with (
                distributed.LocalCluster(
                    n_workers=self.n_workers or os.cpu_count() or 1,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    **({} if self.memory_limit is None else {"memory_limit": self.memory_limit}),
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                yield client


def as_engine(engine: str | Engine) -> Engine:
    """The engine that a caller means."""
    if isinstance(engine, Engine):
        return engine
    if engine == "dask":
        return Engine()
    raise SettingError(f'engine must be "dask" or an equipoise.dask.Engine, found {engine!r}')


class _Partitions:
    """The rows of a round on the workers of a client."""

    def __init__(self, client: "distributed.Client", schema: str, passes: list[Pass]) -> None:
        self._client = client
        self._schema = schema
        self._passes = passes
        self._round = uuid.uuid4().hex[:8]
        self._n_requests = 0
        self._frames: list[Any] = []
        self._futures: list[Any] = []
        # All that must be released in the end.
        self._held: list[Any] = []

    def divide(self, tables: Sequence[tuple[str, Any]]) -> list[list[Part]]:
        """The parts of each partition, in the order of clients and rows."""
        parts: list[Part] = []
        for client, (name, table) in enumerate(tables):
            parts += self._parts_of(client, name, table)
        n_threads = max(sum(self._client.nthreads().values()), 1)
        share = sum(part.n_rows for part in parts) // (4 * n_threads)
        groups: list[list[Part]] = []
        room = 0
        for part in parts:
            if part.n_rows > room or not groups:
                groups.append([])
                room = min(max(share, _MIN_ROWS), _MAX_ROWS)
            groups[-1].append(part)
            room -= part.n_rows
        return groups

    def pack(self, groups: Sequence[Sequence[Part]], report: Callable[[int, int], object] | None) -> list[bytes]:
        """Packs partitions on the workers and returns what the driver must know about them."""
        frames = self._frames
        tasks = []
        for group in groups:
            used = sorted({piece.frame for part in group for piece in _slices(part)})
            at = {frame: i for i, frame in enumerate(used)}
            own = [part._replace(table=_renumbered(part.table, at)) for part in group]
            tasks.append((own, self._schema, [frames[frame] for frame in used]))
        started = time.perf_counter()
        self._futures = self._submit("pack", _partitions.pack, tasks)
        summaries = self._submit("summary", _partitions.summary, [(future,) for future in self._futures])
        self._held += [*self._futures, *summaries]
        # The tasks still have them.
        _release(self._frames)
        if report is not None:
            for done, _ in enumerate(distributed.as_completed(summaries), 1):
                report(done, len(summaries))
        # The error of the first bad proxy in the order of clients, even if another one was found earlier.
        replies: list[bytes] = [future.result() for future in summaries]
        self._record("pack", started, [()] * len(replies), replies)
        return replies

    def release(self) -> None:
        """Lets the workers forget the rows, even while an exception refers to them."""
        _release([*self._held, *self._frames])

    # What the solver asks for: some partitions, by index, and something for each of them.

    def sums(self, asked: list[int], theta: bytes, orders: list[bytes], highest: int) -> list[bytes]:
        return self._ask(_ORDERS[highest], _partitions.sums, asked, [(theta, own) for own in orders])

    def fits(self, asked: list[int], request: bytes, weights: list[bytes]) -> list[bytes]:
        return self._ask("fits", _partitions.fits, asked, [(request, own) for own in weights])

    def spaced_rows(self, asked: list[int], n_features: int, spacing: list[list[tuple[int, int]]]) -> list[bytes]:
        return self._ask("samples", _partitions.spaced_rows, asked, [(n_features, own) for own in spacing])

    def _ask(self, name: str, task: Callable[..., Any], asked: list[int], requests: list[tuple[Any, ...]]) -> list[Any]:
        if not asked:
            return []
        started = time.perf_counter()
        futures = self._submit(name, task, [(self._futures[at], *own) for at, own in zip(asked, requests, strict=True)])
        try:
            replies: list[Any] = self._client.gather(futures)
        finally:
            _release(futures)
        self._record(name, started, requests, replies)
        return replies

    def _submit(self, name: str, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """One task for each tuple of arguments. The dashboard shows their name."""
        if not arguments:
            return []
        self._n_requests += 1
        prefix = f"equipoise-{name}-{self._round}{self._n_requests:08x}"
        keys = [f"{prefix}-{i}" for i in range(len(arguments))]
        futures: list[Any] = self._client.map(task, *zip(*arguments, strict=True), key=keys, pure=False)
        return futures

    def _record(self, name: str, started: float, requests: Sequence[Any], replies: Sequence[Any]) -> None:
        seconds = time.perf_counter() - started
        self._passes.append(Pass(name, len(replies), seconds, _n_bytes(requests), _n_bytes(replies)))

    def _parts_of(self, client: int, name: str, table: Any) -> list[Part]:
        if isinstance(table, str):
            n_rows = _core.claimed_rows(name, table)
            if n_rows is None:
                # CSV is read as a whole. Its size says roughly how many rows it has.
                return [Part(client, name, table, 0, None, os.path.getsize(table) // 64)]
            return [
                Part(client, name, table, first, end, n) for first, end, n in _ranges(n_rows)
            ]
        if not _is_dask(table):
            return [Part(client, name, _opaque(to_native(table)), 0, None, _MAX_ROWS)]
        frames = table.to_delayed()
        lengths = self._client.gather(self._client.compute([delayed(len)(frame) for frame in frames]))
        base = len(self._frames)
        self._frames += self._client.compute(frames)
        return [
            Part(client, name, _slices_of(lengths, base, first, n), first, end, n)
            for first, end, n in _ranges(sum(lengths))
        ]


def _tables(proxies: Mapping[str, Any] | str | os.PathLike[str]) -> list[tuple[str, Any]]:
    """Each client and its table, sorted by client. Paths are texts."""
    if isinstance(proxies, (str, os.PathLike)):
        return [(client, str(path)) for client, path in _core.folder_clients(proxies)]
    if not isinstance(proxies, Mapping):
        raise TypeError(f"proxies must map each client to its table, or be a folder, not {type(proxies).__name__}")
    if not proxies:
        raise SolveError("there are no clients")
    paths = (str, os.PathLike)
    tables = [(str(client), os.fspath(table) if isinstance(table, paths) else table) for client, table in proxies.items()]
    return sorted(tables, key=lambda pair: pair[0])


def _name_of(client: str, table: Any) -> tuple[str, bool]:
    """What messages call a table, and whether it is a file."""
    return (table, True) if isinstance(table, str) else (f"the proxy of client `{client}`", False)


def _is_dask(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(table, "to_delayed")


def _opaque(table: Any) -> bytes:
    """A table in memory as bytes. Dask would search a list of columns for keys, and may place arrays at odd addresses."""
    import pyarrow as pa

    found = pa.table(dict(table)) if isinstance(table, list) else pa.RecordBatchReader.from_stream(table).read_all()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _ranges(n_rows: int) -> list[tuple[int, int | None, int]]:
    """First row, end and number of rows of each part. The last one is open."""
    size = _core.SEGMENT_ROWS
    starts = range(0, max(n_rows, 1), size)
    return [
        (first, first + size if first + size < n_rows else None, min(size, n_rows - first)) for first in starts
    ]


def _slices_of(lengths: Sequence[int], base: int, first: int, n_rows: int) -> list[Slice]:
    """The slices of frames that make up some rows of a dataframe. An empty one has its first frame, for its columns."""
    slices, start = [], 0
    for frame, length in enumerate(lengths):
        low, high = max(first - start, 0), min(first + n_rows - start, length)
        if low < high:
            slices.append(Slice(base + frame, low, high))
        start += length
    return slices or [Slice(base, 0, 0)]


def _slices(part: Part) -> list[Slice]:
    is_sliced = isinstance(part.table, list) and part.table and isinstance(part.table[0], Slice)
    return part.table if is_sliced else []


def _renumbered(table: Any, at: Mapping[int, int]) -> Any:
    is_sliced = isinstance(table, list) and table and isinstance(table[0], Slice)
    return [piece._replace(frame=at[piece.frame]) for piece in table] if is_sliced else table


def _release(futures: Sequence[Any]) -> None:
    for future in futures:
        future.release()


def _n_bytes(messages: Any) -> int:
    if isinstance(messages, bytes):
        return len(messages)
    if isinstance(messages, int):
        return 8
    return sum(_n_bytes(message) for message in messages)
