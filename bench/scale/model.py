"""What a round on workers costs: requests, bytes and seconds as functions of its size.

Bytes follow from the messages, and need no fit. Seconds are sums of a few terms, each proportional to something that can be
counted, with factors that are fitted to measurements of each kind of request.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

# As in the package: rows of a segment, of a partition of small proxies, and the share of a worker's memory for packed rows.
SEGMENT_ROWS, MIN_ROWS, MAX_ROWS, MEMORY_SHARE = 1 << 20, 1 << 14, 1 << 19, 0.4
# Rows of a client in the sample that the default defense compares models on, clients in it, its bytes, and digests in a sketch.
SAMPLE_ROWS, SAMPLED_CLIENTS, SAMPLE_BYTES, SKETCH_DIGESTS = 4096, 40, 32 << 20, 4096


@dataclass(frozen=True)
class Size:
    """A round of clients of equal size, two groups, and workers with one thread each."""

    rows: float
    clients: int
    features: int
    workers: int
    # Bytes of each worker.
    memory: float
    # Processors that all workers share.
    cores: int = 2
    # Of each client.
    root_rows: int = 100

    @property
    def coefficients(self) -> int:
        """Features, the group and the intercept."""
        return self.features + 2

    @property
    def parts(self) -> int:
        """Segments of all proxies: a proxy is divided where it has more rows than one segment."""
        return self.clients * max(math.ceil(self.rows / self.clients / SEGMENT_ROWS), 1)

    @property
    def partitions(self) -> int:
        """Tasks of a pass. Small proxies share a partition."""
        part = self.rows / self.parts
        room = min(max(self.rows / (4 * self.workers), MIN_ROWS), MAX_ROWS)
        return math.ceil(self.parts / max(math.floor(room / part), 1))

    @property
    def at_once(self) -> int:
        """How many workers run at the same time."""
        return min(self.workers, self.cores, self.partitions)

    @property
    def spilled(self) -> float:
        """Bytes of rows in scratch files."""
        return max(8.0 * self.rows * self.coefficients - self.workers * MEMORY_SHARE * self.memory, 0.0)

    @property
    def sums(self) -> int:
        """Numbers in a loss, a gradient and a Hessian."""
        n = self.coefficients
        return 1 + n + n * (n + 1) // 2

    def bytes(self, request: str) -> tuple[float, float]:
        """Bytes sent and received, without Dask's own."""
        n, parts, partitions = self.coefficients, self.parts, self.partitions
        if request == "hessian":
            return 8 * (1 + n) * partitions + parts, 8 * (partitions + parts * self.sums)
        if request == "fits":
            # The start, the settings, and a weight for each part; a fit is a model and six figures.
            return 8 * ((1 + n + 6 + 1) * partitions + parts), 8 * parts * (1 + 6 + n)
        sample = self.sampled_rows * 8 * (self.features + 1)
        sketches = 8 * self.clients * min(SKETCH_DIGESTS, self.rows / self.clients)
        return 0, sample + sketches + 8 * parts * (3 * n + 25)

    @property
    def sampled_rows(self) -> float:
        """Rows of the sample that models are compared on, which the driver has."""
        clients = min(self.clients, SAMPLED_CLIENTS)
        affordable = SAMPLE_BYTES // (clients * (8 * (self.coefficients + 1) + 1))
        return clients * min(min(affordable, SAMPLE_ROWS) // 4 * 4, self.rows / self.clients)

    # The terms of each kind of request, with their names and units.

    def terms(self, request: str) -> dict[str, float]:
        n, at_once = self.coefficients, self.at_once
        by_row = {
            "rows × coefficients": self.rows * n / at_once,
            "rows × coefficients²": self.rows * n * n / at_once,
            "bytes in scratch files": self.spilled / at_once,
        }
        if request == "pack":
            del by_row["rows × coefficients²"]
            return {**by_row, "clients": self.clients, "partitions": self.partitions, "once": 1}
        if request == "driver":
            # Every client's model is applied to all root rows and to the sample.
            return {
                "clients": self.clients,
                "clients × root rows": float(self.clients) ** 2 * self.root_rows,
                "clients × sampled rows": self.clients * self.sampled_rows,
                "once": 1,
            }
        return {**by_row, "clients": self.clients, "partitions": self.partitions, "once": 1}


REQUESTS = ("pack", "hessian", "fits", "driver")


def size_of(run: dict[str, Any], **other: Any) -> Size:
    """The size of a measured round."""
    keys = ("rows", "clients", "features", "workers", "memory", "cores", "root_rows")
    size = Size(*(run[key] for key in keys))
    return replace(size, **other)


def seconds_of(run: dict[str, Any], request: str) -> float:
    """Mean seconds of a kind of request in a measured round; `driver` is the time in which workers had nothing to do."""
    if request == "driver":
        return float(run["seconds"] - sum(step["seconds"] for step in run["passes"]))
    own = [step["seconds"] for step in run["passes"] if step["name"] == request]
    return float(np.mean(own))


def count_of(run: dict[str, Any], request: str) -> int:
    return sum(step["name"] == request for step in run["passes"])


class CostModel:
    """Factors of all terms, and how often each kind of request is made."""

    def __init__(self, factors: dict[str, dict[str, float]], counts: dict[str, float]) -> None:
        self.factors = factors
        self.counts = counts

    @staticmethod
    def fit(runs: list[dict[str, Any]]) -> "CostModel":
        """Least squares of relative errors, with factors that are not negative."""
        factors = {}
        for request in REQUESTS:
            measured = np.array([seconds_of(run, request) for run in runs])
            terms = [size_of(run).terms(request) for run in runs]
            matrix = np.array([list(own.values()) for own in terms]) / measured[:, None]
            scale = np.linalg.norm(matrix, axis=0)
            scale[scale == 0] = 1.0
            found, _ = nnls(matrix / scale, np.ones(len(runs)))
            factors[request] = dict(zip(terms[0], (found / scale).tolist(), strict=True))
        counts = {request: float(np.median([count_of(run, request) for run in runs])) for request in REQUESTS[:3]}
        return CostModel(factors, {**counts, "driver": 1.0})

    def request(self, size: Size, request: str) -> float:
        """Seconds of one request."""
        return sum(self.factors[request][name] * value for name, value in size.terms(request).items())

    def parts(self, size: Size) -> dict[str, float]:
        """Seconds of all requests of a kind."""
        return {request: self.counts[request] * self.request(size, request) for request in REQUESTS}

    def seconds(self, size: Size) -> float:
        """Seconds of a round."""
        return sum(self.parts(size).values())
