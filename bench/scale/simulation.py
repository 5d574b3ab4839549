"""Simulates the requests of a round, task by task, on a cluster that nobody has.

One scheduler hands out tasks one after the other, and takes their results one after the other. Each worker has its own
partitions and one thread. Replies share the driver's connection. What a task costs is that of the fitted model.
"""

from dataclasses import dataclass

import numpy as np

from .model import CostModel, Size


@dataclass(frozen=True)
class Cluster:
    """What a size does not say."""

    # Bytes per second of the driver's connection, and seconds that a message travels.
    bandwidth: float = 1.25e9
    latency: float = 2e-4
    # One task in so many takes longer, by this factor.
    slow_every: int = 100
    slow_factor: float = 1.0
    # Workers that die at the end of the first pass after packing, and are restarted.
    deaths: int = 0
    seed: int = 1


def simulate(model: CostModel, size: Size, cluster: Cluster) -> float:
    """Seconds of a round."""
    random = np.random.default_rng(cluster.seed)
    seconds = model.request(size, "driver")
    for request in ("pack", "hessian", "fits"):
        seconds += sum(_seconds(model, size, request, cluster, random) for _ in range(round(model.counts[request])))
    if cluster.deaths:
        # All workers pack the lost partitions again, and repeat their tasks.
        lost = size.partitions * cluster.deaths / size.workers
        per_task = _seconds_of_task(model, size, "pack") + _seconds_of_task(model, size, "hessian")
        seconds += np.ceil(lost / size.workers) * per_task
    return float(seconds)


def _seconds(model: CostModel, size: Size, request: str, cluster: Cluster, random: np.random.Generator) -> float:
    """Of one request."""
    factors = model.factors[request]
    per_task = factors["partitions"]
    duration = _seconds_of_task(model, size, request)
    sent, received = (total / size.partitions for total in size.bytes(request))
    scheduler = connection = 0.0
    free = np.zeros(size.workers)
    finished = []
    for task in range(size.partitions):
        worker = task % size.workers
        scheduler += per_task / 2
        connection = max(connection, scheduler) + sent / cluster.bandwidth
        is_slow = random.random() * cluster.slow_every < 1
        start = max(free[worker], connection + cluster.latency)
        free[worker] = start + duration * (cluster.slow_factor if is_slow else 1.0)
        finished.append(free[worker])
    for end in sorted(finished):
        scheduler = max(scheduler, end + cluster.latency) + per_task / 2
        connection = max(connection, scheduler) + received / cluster.bandwidth
    return factors["once"] + factors["clients"] * size.clients + max(connection, scheduler)


def _seconds_of_task(model: CostModel, size: Size, request: str) -> float:
    """On its worker. More workers than processors share them."""
    terms = {name: value for name, value in size.terms(request).items() if name not in ("partitions", "once", "clients")}
    work = size.at_once * sum(model.factors[request][name] * value for name, value in terms.items())
    return work / size.partitions * max(1.0, min(size.workers, size.partitions) / size.cores)
