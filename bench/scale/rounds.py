"""One round, in one process or on Dask workers, with what it took."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import dask
import distributed
import psutil

import equipoise as eq
from equipoise.dask import Engine

warnings.simplefilter("ignore", eq.EquipoiseWarning)
# Imported when first used, which must not count as part of the first round.
_ = eq.FairServer


def one_process(folder: Path, defense: str) -> dict[str, Any]:
    """The command, with all rows in memory and a thread per processor."""
    out = folder / "outcome"
    shutil.rmtree(out, ignore_errors=True)
    line = [sys.executable, "-m", "equipoise", "defend", "--proxies", folder / "proxies", "--root", folder / "roots"]
    line += ["--schema", folder / "schema.toml", "--fairness", "sp", "--defense", defense, "-o", out, "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run([str(word) for word in line], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    if not (out / "model.json").exists():
        raise SystemExit(f"the single process failed: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = json.loads((out / "outcome.json").read_text())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": seconds,
        "solve": outcome["seconds"],
        "cpu": cpu,
        "GiB": after.ru_maxrss / (1 << 20),
        "theta": json.loads((out / "model.json").read_text())["theta"],
        "weights": [client["weight"] for client in outcome["clients"]],
    }


def on_workers(folder: Path, defense: str, n_workers: int, memory_limit: str, kill_after: str | None = None) -> dict[str, Any]:
    """A round on a cluster of this machine, whose start is not counted. `kill_after` names a request: one worker is killed
    while the next one is under way."""
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False, "temporary-directory": str(folder)}),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=memory_limit,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = min(client.run(os.getpid).values())
        engine = Engine(client)
        watch = _Watch()
        watch.start()
        killed_at: float | None = None

        def kill() -> None:
            nonlocal killed_at
            while not watch.done.wait(0.02):
                if any(step.name == kill_after for step in engine.passes):
                    time.sleep(0.3)
                    killed_at = time.perf_counter() - started
                    os.kill(victim, signal.SIGKILL)
                    return

        cpu_before = client.run(time.process_time)
        driver_before = time.process_time()
        started = time.perf_counter()
        if kill_after:
            threading.Thread(target=kill, daemon=True).start()
        schema = eq.Schema.load(folder / "schema.toml")
        server = eq.defend(folder / "proxies", folder / "roots", schema, defense=defense, engine=engine)
        seconds = time.perf_counter() - started
        driver_cpu = time.process_time() - driver_before
        # Without what a worker did before it was killed.
        cpu = sum(after - cpu_before.get(worker, 0.0) for worker, after in client.run(time.process_time).items())
        watch.stop()
    if kill_after and killed_at is None:
        raise SystemExit(f"no worker was killed: there was no request after `{kill_after}`")
    model = json.loads(server.model_.to_json())
    return {
        "seconds": seconds,
        "solve": server.seconds_,
        "cpu": cpu,
        "driver cpu": driver_cpu,
        "GiB": watch.largest / (1 << 30),
        "loopback bytes": watch.bytes,
        "killed at": killed_at,
        "passes": [{**step._asdict(), "seconds": round(step.seconds, 4)} for step in engine.passes],
        "theta": model["theta"],
        "weights": list(server.weights_.values()),
    }


class _Watch(threading.Thread):
    """The largest memory of a worker, and bytes on the loopback interface."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest = 0
        self.done = threading.Event()
        self.bytes = _loopback_bytes()

    def run(self) -> None:
        while not self.done.wait(0.2):
            for child in psutil.Process().children(recursive=True):
                try:
                    self.largest = max(self.largest, child.memory_info().rss)
                except psutil.Error:
                    pass

    def stop(self) -> None:
        self.done.set()
        self.join()
        self.bytes = _loopback_bytes() - self.bytes


def _loopback_bytes() -> int:
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)
