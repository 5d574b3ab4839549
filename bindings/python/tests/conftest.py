"""A small population with two groups and four clients, two of which are unfair."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equipoise as eq

CLIENTS = ["east", "north", "south", "west"]


def pytest_configure() -> None:
    """SIGTERM ends a run as Ctrl-C does, so that fixtures stop the processes that they started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def population(n: int, seed: int, bias: float) -> pd.DataFrame:
    """Applicants whose group shifts their score, and whose label depends on both."""
    random = np.random.default_rng(seed)
    group = random.choice(["A", "B"], size=n, p=[0.6, 0.4])
    score = random.normal(size=n) + bias * (group == "A")
    tier = random.choice(["low", "mid", "top"], size=n, p=[0.5, 0.3, 0.2])
    age = random.integers(18, 80, size=n)
    chance = 1 / (1 + np.exp(-(score + 0.8 * (tier == "top") - 0.01 * (age - 40))))
    passed = (random.random(n) < chance).astype(int)
    return pd.DataFrame({"score": score, "tier": tier, "age": age, "group": group, "passed": passed})


@pytest.fixture(scope="session")
def clients() -> dict[str, pd.DataFrame]:
    return {name: population(800, seed, 0.4 + 0.3 * seed) for seed, name in enumerate(CLIENTS)}


@pytest.fixture(scope="session")
def roots() -> dict[str, pd.DataFrame]:
    return {name: population(60, 100 + seed, 0.4 + 0.3 * seed) for seed, name in enumerate(CLIENTS)}


@pytest.fixture(scope="session")
def everyone(clients: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(clients.values(), ignore_index=True)


@pytest.fixture(scope="session")
def schema(everyone: pd.DataFrame) -> eq.Schema:
    return eq.Schema.infer(everyone, label="passed", sensitive="group")


@pytest.fixture(scope="session")
def proxies(clients: dict[str, pd.DataFrame], schema: eq.Schema) -> dict[str, eq.Proxy]:
    return {name: eq.make_proxy(rows, schema, fairness="sp") for name, rows in clients.items()}


class CommandLine:
    """The command: of the wheel, or the binary in EQUIPOISE_BINARY."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        binary = os.environ.get("EQUIPOISE_BINARY")
        self.program = [binary] if binary else [sys.executable, "-m", "equipoise"]

    def __call__(self, *arguments: object, code: int = 0) -> Any:
        line = [*self.program, *map(str, arguments), "--json", "--quiet"]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)
