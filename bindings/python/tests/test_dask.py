"""Rounds on Dask workers: the same models as in one process, whatever happens to the workers."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise import _core
from equipoise.dask import Engine

SEGMENT = _core.SEGMENT_ROWS


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", memory_limit="1GiB"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def client(cluster: distributed.LocalCluster) -> Iterator[distributed.Client]:
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def engine(client: distributed.Client) -> Engine:
    return Engine(client)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, proxies: dict[str, eq.Proxy]) -> Path:
    folder = tmp_path_factory.mktemp("proxies")
    for name, proxy in proxies.items():
        proxy.save(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, schema: eq.Schema, proxies: dict[str, eq.Proxy]) -> Path:
    """Two clients with more rows than a segment, one of them with few distinct rows, and two small ones."""
    folder = tmp_path_factory.mktemp("large")
    random = np.random.default_rng(5)
    for name, proxy in proxies.items():
        rows = proxy.table
        if name in ("east", "west"):
            rows = rows.iloc[random.integers(0, len(rows), SEGMENT + 70_000)].reset_index(drop=True)
        if name == "east":
            features = rows.columns[0]
            rows[features] += random.normal(scale=0.1, size=len(rows))
        # Row groups that do not end where segments do.
        rows.to_parquet(folder / f"{name}.parquet", row_group_size=300_000, index=False)
    return folder


@pytest.fixture(scope="module")
def expected(schema: eq.Schema, large: Path, roots: dict[str, pd.DataFrame]) -> eq.FairServer:
    return eq.FairServer(schema).fit(large, roots)


def outcome_of(server: eq.FairServer) -> dict[str, Any]:
    return {key: value for key, value in server.outcome_.items() if key != "about"}


def read_rows(part: tuple[Path, int, int]) -> pd.DataFrame:
    path, first, n = part
    return pd.read_parquet(path).iloc[first : first + n]


def without_files(outcome: dict[str, Any]) -> dict[str, Any]:
    warnings = [{**warning, "file": None} for warning in outcome["warnings"]]
    return {**outcome, "warnings": warnings}


@pytest.mark.parametrize("defense", ["tilt", "bilevel", "pooled", "fedasl", "root-only"])
def test_the_outcome_is_that_of_one_process_bit_for_bit(defense, schema, files, roots, engine) -> None:
    expected = eq.FairServer(schema, defense=defense).fit(files, roots)
    found = eq.FairServer(schema, defense=defense).fit(files, roots, engine=engine)
    assert found.model_.to_json() == expected.model_.to_json()
    assert outcome_of(found) == outcome_of(expected)
    assert found.report().html.replace("\n", "")[:1000] == expected.report().html.replace("\n", "")[:1000]


@pytest.mark.parametrize("options", [{"sweep": True}, {"fairness": "eo", "defense": "fednolowe", "lambda_": 0.5}])
def test_settings_apply(options, schema, files, roots, engine) -> None:
    expected = eq.FairServer(schema, **options).fit(files, roots)
    found = eq.FairServer(schema, **options).fit(files, roots, engine=engine)
    assert outcome_of(found) == outcome_of(expected)


def test_private_proxies_say_so_in_every_form(schema, clients, roots, engine, tmp_path) -> None:
    private = {
        name: eq.make_proxy(rows, schema, fairness="sp", dp_epsilon=10, dp_test_seed=3) for name, rows in clients.items()
    }
    for name, proxy in private.items():
        proxy.save(tmp_path / f"{name}.parquet")
    forms: list[Any] = [
        tmp_path,
        private,
        {name: pa.table(proxy) for name, proxy in private.items()},
        # pandas has no place for the statement.
        {**private, "east": private["east"].table},
    ]
    for form, n_private in zip(forms, [4, 4, 4, 3], strict=True):
        expected = eq.FairServer(schema).fit(form, roots)
        found = eq.FairServer(schema).fit(form, roots, engine=engine)
        assert outcome_of(found) == outcome_of(expected)
        assert sum("privacy" in audit for audit in found.audit_.values()) == n_private
    statement = b'{"epsilon": -1}'
    false = pa.table(private["east"]).replace_schema_metadata({"equipoise.privacy": statement})
    for engine_or_none in (None, engine):
        with pytest.raises(eq.TableError, match="client `east`.*statement about its privacy cannot be trusted"):
            eq.FairServer(schema).fit({**private, "east": false}, roots, engine=engine_or_none)


def test_large_clients_are_divided_and_give_the_same_bits(schema, large, roots, engine, expected) -> None:
    found = eq.FairServer(schema).fit(large, roots, engine=engine)
    assert outcome_of(found) == outcome_of(expected)
    # Both large clients have two parts. The small clients share a partition with the end of the first one.
    assert {step.name: step.tasks for step in engine.passes}["pack"] == 4


def test_dask_dataframes_give_the_same_bits_however_they_are_divided(
    schema, large, roots, engine, proxies, expected
) -> None:
    lengths = {"east": 400_001, "west": SEGMENT + 7}
    frames: dict[str, Any] = {name: proxy.table for name, proxy in proxies.items()}
    for name, n in lengths.items():
        parts = [(large / f"{name}.parquet", first, n) for first in range(0, SEGMENT + 70_000, n)]
        frames[name] = dd.from_map(read_rows, parts)
    found = eq.FairServer(schema).fit(frames, roots, engine=engine)
    assert found.model_.to_json() == expected.model_.to_json()
    assert without_files(outcome_of(found)) == without_files(outcome_of(expected))


@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_number_of_workers_does_not_matter(n_workers, schema, large, roots, expected) -> None:
    engine = Engine(n_workers=n_workers, memory_limit="600MiB")
    found = eq.defend(large, roots, schema, engine=engine)
    assert outcome_of(found) == outcome_of(expected)
    assert all(step.bytes_received < 1 << 20 for step in engine.passes if step.name != "pack")


def test_a_copy_holds_the_same_rows(schema, large) -> None:
    parts = [("east", str(large / "east.parquet"), 0, None)]
    packed = _core.Partition.pack(parts, schema._native)
    assert sys.getsizeof(packed) > 2 << 20
    n = len(schema._native.theta_names())
    theta = n.to_bytes(8, sys.byteorder) + np.linspace(-1, 1, n).tobytes()
    copy = pickle.loads(pickle.dumps(packed))
    sums = {partition.sums(theta, bytes([3])) for partition in (packed, copy)}
    assert len(sums) == 1 and packed.summary() == copy.summary()
    # Loss, gradient and Hessian of two segments.
    assert len(sums.pop()) == 8 + 2 * 8 * (1 + n + n * (n + 1) // 2)


def test_a_worker_that_is_killed_during_the_solve_does_not_change_the_answer(schema, large, roots) -> None:
    expected = eq.FairServer(schema, defense="bilevel").fit(large, roots)
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        engine = Engine(client)
        victim = min(client.run(os.getpid).values())
        killed = threading.Event()

        def kill(done: int, of: int) -> None:
            if any(step.name == "hessian" for step in engine.passes) and not killed.is_set():
                killed.set()
                os.kill(victim, signal.SIGKILL)

        found = eq.FairServer(schema, defense="bilevel").fit(large, roots, engine=engine, progress=kill)
        assert killed.is_set() and victim not in client.run(os.getpid).values()
    assert outcome_of(found) == outcome_of(expected)


def test_bad_proxies_are_errors_that_name_client_and_file(schema, files, roots, engine, proxies, tmp_path) -> None:
    def fit(name: str, table: Any) -> None:
        paths: dict[str, Any] = {client: files / f"{client}.parquet" for client in proxies}
        eq.FairServer(schema).fit({**paths, name: table}, roots, engine=engine)

    rows = proxies["north"].table
    feature = rows.columns[0]
    with pytest.raises(eq.FileError, match="client `north`.*missing.parquet"):
        fit("north", tmp_path / "missing.parquet")
    bad = tmp_path / "bad.parquet"
    rows.drop(columns=feature).to_parquet(bad)
    with pytest.raises(eq.TableError, match=f"client `north`.*bad.parquet.*{feature}"):
        fit("north", bad)
    rows.assign(**{feature: rows[feature].where(rows.index != 7)}).to_parquet(bad)
    with pytest.raises(eq.TableError, match="client `north`.*bad.parquet, row 8") as caught:
        fit("north", bad)
    assert (caught.value.row, caught.value.column) == (8, feature)
    rows.assign(extra=1.0).to_parquet(bad)
    with pytest.raises(eq.TableError, match="client `north`.*bad.parquet.*extra"):
        fit("north", bad)
    bad.write_bytes(b"PAR1 but nothing else")
    with pytest.raises(eq.TableError, match="client `north`.*bad.parquet.*not a valid Parquet file"):
        fit("north", bad)
    with pytest.raises(eq.TableError, match="client `north`.*no rows"):
        fit("north", dd.from_pandas(rows.iloc[:0], npartitions=1))
    # A missing value in the second frame of a dataframe: rows are counted in the whole.
    frame = rows.assign(**{feature: rows[feature].where(rows.index != 500)})
    with pytest.raises(eq.TableError, match="client `north`, row 501"):
        fit("north", dd.from_pandas(frame, npartitions=3))
    other = eq.Schema(re.sub(r"center = [-0-9.e]+", "center = 0.25", schema.to_toml(), count=1))
    with pytest.raises(eq.TableError, match="east.parquet.*another schema"):
        eq.FairServer(other).fit(files, roots, engine=engine)


def test_a_client_without_trusted_rows_takes_part(schema, files, roots, engine) -> None:
    others = {name: root for name, root in roots.items() if name != "east"}
    assert "east" in eq.FairServer(schema).fit(files, others, engine=engine).weights_


def test_settings_of_one_process_are_refused(schema, files, roots, engine, client) -> None:
    with pytest.raises(eq.SettingError, match="estimator"):
        eq.FairServer(schema, estimator=object()).fit(files, roots, engine=engine)
    with pytest.raises(eq.SettingError, match="engine must be"):
        eq.defend(files, roots, schema, engine="spark")
    with pytest.raises(eq.SettingError, match="n_workers"):
        Engine(client, n_workers=2)


def test_the_package_works_without_dask() -> None:
    program = """
import sys
sys.modules["distributed"] = None
import equipoise
try:
    equipoise.FairServer(equipoise.Schema.infer({"x": [1, 2], "s": ["a", "b"], "y": [0, 1]}, label="y", sensitive="s")).fit(
        {"a": {}}, {"a": {}}, engine="dask")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 'pip install "equipoise[dask]"' in done.stdout, done.stderr


def test_nothing_listens_beyond_this_machine_and_rows_are_released(schema, files, roots, engine, client) -> None:
    eq.FairServer(schema).fit(files, roots, engine=engine)
    addresses = [client.scheduler.address, *client.scheduler_info()["workers"]]
    assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)
    assert "//127.0.0.1:" in client.dashboard_link
    deadline = time.monotonic() + 10
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks]) == []
