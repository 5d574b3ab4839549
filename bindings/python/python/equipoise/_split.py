"""One table split among clients, to rehearse a round."""

import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._errors import EquipoiseWarning, FileError, SettingError
from ._proxy import Proxy
from ._schema import Schema, as_schema
from ._tables import Table, kind_of, take, to_native, whole


@dataclass(repr=False)
class Rehearsal:
    """A table split among clients, to rehearse a round with it. Every row is in exactly one table.

    Attributes:
        schema: The schema of the table.
        train: The rows of each client to make its proxy of. Tables are of the kind that was split.
        test: The rows of each client to test models on.
        trusted: The rows that the server trusts: those of each client, or the path of one file.
        proxies: What the unreliable clients send: their training rows, encoded.
        test_rows: The test rows of all clients together.
        reliable: The clients that are to make fair proxies.
        summary: Sizes, and the gap of each client's own model.
        notes: Which groups and labels are missing among whose trusted rows.
    """

    schema: Schema
    train: dict[str, Table]
    test: dict[str, Table]
    trusted: Table | dict[str, Table]
    proxies: dict[str, Table]
    test_rows: Table
    summary: dict[str, Any]
    notes: list[str]

    @property
    def reliable(self) -> list[str]:
        """The clients that are to make fair proxies."""
        return [client["client"] for client in self.summary["clients"] if client["reliable"]]

    def __repr__(self) -> str:
        return f"<Rehearsal with {len(self.train)} clients, {len(self.proxies)} of them unreliable>"


def split(
    table: Table,
    schema: Schema | str | os.PathLike[str],
    *,
    clients: int = 5,
    test: float = 0.2,
    trusted: float = 0.01,
    unreliable: int = 0,
    fairness: str = "sp",
    seed: int = 1,
    output: str | os.PathLike[str] | None = None,
) -> Rehearsal:
    """Split one table among clients, to rehearse a round.

    Every client gets rows to train on, rows to test models on, and trusted rows. Rows are assigned at random, stratified by
    group and label. The rows are those of the command `split`. Then make a proxy of each reliable client's rows:

        rehearsal = split(people, schema, clients=4, unreliable=1)
        proxies = rehearsal.proxies | {c: make_proxy(rehearsal.train[c], schema, fairness="sp") for c in rehearsal.reliable}
        server = FairServer(schema, fairness="sp").fit(proxies, rehearsal.trusted)
        server.model_.evaluate(rehearsal.test_rows)

    Args:
        table: Raw rows. If it is a path, the tables become files in `output`, and the result has their paths.
        schema: The table's schema, or the path of its file.
        clients: Number of clients.
        test: Share of each client's rows to test models on.
        trusted: Share of each client's rows that the server trusts.
        unreliable: Number of unreliable clients, which send their rows unchanged: those whose own models are the most unfair.
        fairness: The criterion that ranks the clients.
        seed: Random seed.
        output: New folder for the files of a table that is a path, as the command `split` writes them.
    """
    agreed = as_schema(schema)
    options = {
        "clients": clients,
        "test": test,
        "trusted": trusted,
        "unreliable": unreliable,
        "fairness": fairness,
        "seed": seed,
    }
    if kind_of(table) == "path":
        if output is None:
            raise SettingError("output must name a new folder, because the table is a file. Or read the table first.")
        return _split_file(os.fspath(table), agreed, options, Path(output))
    if output is not None:
        raise SettingError("output is for a table that is a file. Leave out output.")
    rows = whole(table)
    members, summary, messages = _core.split_rows(to_native(rows), agreed._native, options)
    _warn(messages, stacklevel=3)
    positions = {
        client: [np.frombuffer(part, dtype=np.uint64).astype(np.int64) for part in parts]
        for client, *parts in members
    }
    train = {client: take(rows, parts[0]) for client, parts in positions.items()}
    sent = [client["client"] for client in summary["clients"] if not client["reliable"]]
    return Rehearsal(
        schema=agreed,
        train=train,
        test={client: take(rows, parts[1]) for client, parts in positions.items()},
        trusted={client: take(rows, parts[2]) for client, parts in positions.items()},
        proxies={client: _raw_proxy(train[client], agreed) for client in sent},
        test_rows=take(rows, np.sort(np.concatenate([parts[1] for parts in positions.values()]))),
        summary=summary,
        notes=summary.pop("notes"),
    )


def _raw_proxy(rows: Table, schema: Schema) -> Table:
    """What an unreliable client sends, without a warning: the caller asked for it."""
    native = _core.make_proxy(to_native(rows), schema._native, {"generator": "raw"}, None)
    return Proxy(native, kind_of(rows)).table


def _split_file(table: str, schema: Schema, options: dict[str, Any], folder: Path) -> Rehearsal:
    """Runs the command, which copies the cells of the file as they are."""
    if folder.exists():
        raise FileError(f"{folder}: already exists. Choose another name, or move it away.")
    flags = [f"--{name}={value}" for name, value in options.items()]
    with tempfile.TemporaryDirectory(prefix="equipoise-") as scratch:
        file = Path(scratch) / "schema.toml"
        schema.save(file)
        line = ["split", f"--schema={file}", *flags, f"--output={folder}", "--", table]
        summary, _, messages = _core.call(line, False)
    _warn(messages, stacklevel=4)
    extension = next(end for end in (".csv.gz", ".csv", ".parquet") if table.lower().endswith(end))
    names = [client["client"] for client in summary["clients"]]
    sent = [client["client"] for client in summary["clients"] if not client["reliable"]]
    return Rehearsal(
        schema=schema,
        train={client: folder / "train" / f"{client}{extension}" for client in names},
        test={client: folder / "test" / f"{client}{extension}" for client in names},
        trusted=folder / f"trusted{extension}",
        proxies={client: folder / "proxies" / f"{client}.parquet" for client in sent},
        test_rows=folder / f"test{extension}",
        summary=summary,
        notes=summary.pop("notes"),
    )


def _warn(messages: list[str], stacklevel: int) -> None:
    for message in messages:
        warnings.warn(message, EquipoiseWarning, stacklevel=stacklevel)
