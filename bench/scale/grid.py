"""The sizes that are measured: those that the cost model is fitted to, and those that it must predict."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

MEASUREMENTS = Path(__file__).with_name("measurements.jsonl")


class Case(NamedTuple):
    rows: int
    clients: int
    features: int
    # MiB of each worker.
    memory: int = 2048
    # Of each client.
    root_rows: int = 100
    fitted: bool = True
    workers: tuple[int, ...] = (1, 2, 4)

    @property
    def name(self) -> str:
        name = f"{self.rows:.0e}-{self.clients}-{self.features}".replace("+0", "")
        return name if self.root_rows == 100 else f"{name}-{self.root_rows}"


CASES = [
    Case(1_000_000, 10, 16),
    Case(1_000_000, 100, 16),
    Case(1_000_000, 1000, 16),
    Case(1_000_000, 1000, 16, root_rows=10),
    Case(2_000_000, 100, 8),
    Case(2_000_000, 100, 16),
    Case(2_000_000, 100, 32),
    Case(5_000_000, 100, 16),
    Case(5_000_000, 100, 16, memory=600),
    Case(5_000_000, 1000, 16),
    Case(10_000_000, 100, 16),
    Case(10_000_000, 100, 16, memory=600),
    Case(1_000_000, 10_000, 16, root_rows=10, fitted=False, workers=(2,)),
    Case(3_000_000, 300, 24, fitted=False),
    Case(20_000_000, 100, 16, fitted=False),
    Case(50_000_000, 100, 16, fitted=False),
]


def measured() -> list[dict[str, Any]]:
    """All measurements, the last one of each round."""
    runs = {}
    for line in MEASUREMENTS.read_text().splitlines():
        run = json.loads(line)
        keys = ("rows", "clients", "features", "memory", "root_rows", "workers")
        runs[tuple(run[key] for key in keys)] = run
    return list(runs.values())


def measure(case: Case, folder: Path, *, only_generate: bool) -> None:
    """Measures one case with each number of workers, and appends the figures to the measurements."""
    from . import rounds, tables

    own = folder / case.name
    tables.provide(own, case.rows, case.clients, case.features, case.root_rows)
    if only_generate:
        return
    runs = []
    # Puts the files into the page cache, so that reading them from disk does not count.
    _ = [path.read_bytes()[:0] for path in sorted((own / "proxies").iterdir())]
    for workers in case.workers:
        run = rounds.on_workers(own, "trust", workers, f"{case.memory}MiB")
        print(f"{case.name}, {case.memory} MiB, {workers} workers: {run['seconds']:.2f} s", flush=True)
        runs.append((workers, run))
    if any(run["theta"] != runs[0][1]["theta"] for _, run in runs):
        raise SystemExit("the number of workers changes the model")
    for workers, run in runs:
        _append(case, workers, run)


def add(file: Path) -> None:
    """Appends the rounds on workers that `bench/dask -o` has measured."""
    for line in file.read_text().splitlines():
        run = json.loads(line)
        workers, _, rest = run["run"].partition(" workers")
        if workers.isdigit() and not rest:
            size = (run["rows"], run["clients"], run["features"])
            case = next(case for case in CASES if case[:3] == size and f"{case.memory >> 10}GiB" == run["memory limit"])
            _append(case, int(workers), run)


def _append(case: Case, workers: int, run: dict[str, Any]) -> None:
    kept = {key: _short(run[key]) for key in ("seconds", "solve", "cpu", "driver cpu", "GiB", "loopback bytes", "passes")}
    size = {**case._asdict(), "memory": case.memory << 20, "workers": workers, "cores": os.cpu_count()}
    with MEASUREMENTS.open("a") as out:
        print(json.dumps({**size, **kept}), file=out)


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
