"""The same files give the same bytes from Python and from the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equipoise as eq


@pytest.fixture
def files(tmp_path: Path, clients, roots, everyone) -> Path:
    for folder, tables in [("data", clients), ("roots", roots)]:
        (tmp_path / folder).mkdir()
        for name, table in tables.items():
            table.to_csv(tmp_path / folder / f"{name}.csv", index=False)
    everyone.to_csv(tmp_path / "everyone.csv", index=False)
    return tmp_path


def test_schemas_are_the_same(files, command, everyone) -> None:
    command("schema", "infer", "everyone.csv", "--label", "passed=1", "--sensitive", "group", "-o", "schema.toml")
    for table in [files / "everyone.csv", everyone, pl.DataFrame(everyone), pa.Table.from_pandas(everyone)]:
        schema = eq.Schema.infer(table, label="passed", sensitive="group")
        assert schema.to_toml() == (files / "schema.toml").read_text()
        assert schema == eq.Schema.load(files / "schema.toml")


@pytest.mark.parametrize("fairness", ["sp", "eo"])
@pytest.mark.parametrize("options", [{}, {"defense": "bilevel"}, {"profile": "paper", "iterations": 50}])
def test_a_whole_round_is_the_same_from_files_and_from_memory(
    files, command, clients, roots, fairness, options
) -> None:
    command("schema", "infer", "everyone.csv", "--label", "passed=1", "--sensitive", "group", "-o", "schema.toml")
    schema = eq.Schema.load(files / "schema.toml")
    (files / "proxies").mkdir()
    (files / "again").mkdir()
    in_memory = {}
    for name in clients:
        file = files / "proxies" / f"{name}.parquet"
        summary = command("proxy", f"data/{name}.csv", "--schema", "schema.toml", "--fairness", fairness, "-o", file)
        in_memory[name] = eq.make_proxy(clients[name], schema, fairness=fairness)
        # A proxy file says whose it is: by default, its name without the extension.
        again = files / "again" / f"{name}.parquet"
        in_memory[name].save(again)
        assert file.read_bytes() == again.read_bytes()
        del summary["path"]
        # The command names the file that a warning is about.
        assert {**in_memory[name].summary, "warnings": 0} == {**summary, "warnings": 0}

    flags = [f"--{key}={value}" for key, value in options.items()]
    folders = ["--proxies", "proxies", "--trusted", "roots", "--schema", "schema.toml", "--fairness", fairness]
    command("defend", *folders, *flags, "-o", "outcome")
    outcome = json.loads((files / "outcome/outcome.json").read_text())
    model = (files / "outcome/model.json").read_text()
    kinds = {
        "folders": (str(files / "proxies"), files / "roots"),
        "memory": (in_memory, roots),
        "one table": (in_memory, pd.concat([r.assign(client=n) for n, r in sorted(roots.items())])),
        "polars": ({n: pl.DataFrame(p) for n, p in in_memory.items()}, {n: pl.DataFrame(r) for n, r in roots.items()}),
        "pyarrow": (
            {n: pq.read_table(files / f"proxies/{n}.parquet") for n in in_memory},
            {n: pa.Table.from_pandas(r) for n, r in roots.items()},
        ),
        "mixed": (
            {n: files / f"proxies/{n}.parquet" for n in in_memory},
            {n: {c: r[c].tolist() for c in r} for n, r in roots.items()},
        ),
    }
    for kind, (proxies, root) in kinds.items():
        server = eq.FairServer(schema, fairness=fairness, **options).fit(proxies, root)
        assert server.model_.to_json() == model, kind
        assert server.weights_ == {client["id"]: client["weight"] for client in outcome["clients"]}, kind
        found, expected = dict(server.outcome_), dict(outcome)
        del found["about"], expected["about"]
        assert found == expected, kind
    theta = json.loads(model)["theta"]
    assert [*server.coef_[0], *server.intercept_] == theta


def test_predictions_and_figures_are_the_same(files, command, schema, proxies, roots, everyone) -> None:
    server = eq.FairServer(schema, fairness="sp").fit(proxies, roots)
    server.save(files / "outcome")
    assert sorted(path.name for path in (files / "outcome").iterdir()) == [
        "model.json",
        "outcome.json",
        "report.html",
        "weights.csv",
    ]
    model = eq.Model.load(files / "outcome/model.json")
    assert model == server.model_
    command("predict", "outcome/model.json", "everyone.csv", "-o", "scores.parquet")
    scores = pd.read_parquet(files / "scores.parquet")
    found = model.predict_table(everyone)
    for name in ["score", "probability", "selected"]:
        np.testing.assert_array_equal(found[name], scores[name])
    np.testing.assert_array_equal(server.predict(everyone), scores["selected"])
    figures = command("evaluate", "outcome/model.json", "everyone.csv", "--fairness", "eo")
    assert {**model.evaluate(everyone, fairness="eo"), "warnings": 0} == {**figures, "warnings": 0}


def test_checks_are_the_same(files, command, schema, proxies, clients) -> None:
    schema.save(files / "schema.toml")
    proxies["north"].save(files / "north.parquet")
    line = ["check", "north.parquet", "--data", "data/north.csv", "--schema", "schema.toml", "--fairness", "sp"]
    for max_gap, fair in [(0.2, True), (0.0001, False)]:
        expected = command(*line, "--max-gap", max_gap, code=0 if fair else 1)
        found = eq.check(proxies["north"], clients["north"], schema, fairness="sp", max_gap=max_gap)
        assert found == expected
        assert bool(found) is fair


def test_raw_proxies_are_the_same(files, command, schema, clients) -> None:
    schema.save(files / "schema.toml")
    document = command("proxy", "data/north.csv", "--schema", "schema.toml", "--generator", "raw")
    assert document.pop("path") == "data/north.raw.parquet"
    expected = pd.read_parquet(files / "data/north.raw.parquet")

    def raw(table: Any) -> eq.Proxy:
        with pytest.warns(eq.EquipoiseWarning, match="neither fair nor private"):
            return eq.make_proxy(table, schema, generator="raw")

    for table in [clients["north"], pl.DataFrame(clients["north"]), pa.Table.from_pandas(clients["north"])]:
        found = raw(table).table
        assert type(found) is type(table)
        found = found if isinstance(found, pd.DataFrame) else found.to_pandas()
        pd.testing.assert_frame_equal(found, expected)
    from_file = raw(files / "data/north.csv")
    assert from_file.summary == document
    pd.testing.assert_frame_equal(pd.DataFrame(from_file.table), expected)
    from_file.save(files / "north.parquet")
    assert (files / "north.parquet").read_bytes() == (files / "data/north.raw.parquet").read_bytes()
    with pytest.raises(eq.SettingError, match="rows has no effect with generator raw"):
        eq.make_proxy(clients["north"], schema, generator="raw", rows=200)
    with pytest.raises(eq.SettingError, match="fairness"):
        eq.make_proxy(clients["north"], schema)


def test_private_proxies_are_the_same_and_say_so_in_memory_too(files, command, clients, roots) -> None:
    command("schema", "infer", "everyone.csv", "--label", "passed=1", "--sensitive", "group", "-o", "schema.toml")
    schema = eq.Schema.load(files / "schema.toml")
    (files / "proxies").mkdir()
    in_memory = {}
    for name in clients:
        file = files / "proxies" / f"{name}.parquet"
        private = ["--dp-epsilon", "10", "--dp-test-seed", "3"]
        command("proxy", f"data/{name}.csv", "--schema", "schema.toml", "--fairness", "sp", *private, "-o", file)
        in_memory[name] = eq.make_proxy(clients[name], schema, fairness="sp", dp_epsilon=10, dp_test_seed=3)
        again = files / f"{name}.parquet"
        in_memory[name].save(again)
        assert file.read_bytes() == again.read_bytes()
    from_memory = eq.defend(in_memory, roots, schema, fairness="sp")
    from_files = eq.defend(files / "proxies", roots, schema, fairness="sp")
    assert from_memory.weights_ == from_files.weights_
    for client in from_memory.outcome_["clients"]:
        declared = client["audit"]["privacy"]
        assert declared["epsilon"] <= 10 and not declared["private"]
    assert [c["audit"] for c in from_memory.outcome_["clients"]] == [c["audit"] for c in from_files.outcome_["clients"]]


def test_a_model_is_adapted_as_by_the_command(files, command, clients, roots, schema, proxies) -> None:
    model = eq.defend(proxies, roots, schema, fairness="sp").model_
    model.save(files / "model.json")
    proxies["west"].save(files / "west.parquet")
    for options, keywords in [
        ([], {}),
        (["--choose", "adapted"], {"choose": "adapted"}),
        (["--choose", "own", "--proxy", "west.parquet"], {"choose": "own", "proxy": proxies["west"]}),
    ]:
        document = command("adapt", "model.json", "data/west.csv", *options, "-o", "mine.json", "--force")
        for rows in [clients["west"], pl.DataFrame(clients["west"]), files / "data/west.csv"]:
            adapted = eq.adapt(model, rows, **keywords)
            assert adapted.table == document["models"]
            assert (adapted.recommended, adapted.reason) == (document["recommended"], document["reason"])
            assert adapted.model.to_json() == (files / "mine.json").read_text()
    assert list(pd.DataFrame(adapted.table)["model"]) == ["global", "adapted", "own"]
    assert adapted.recommended in repr(adapted)
    with pytest.raises(eq.SettingError, match="choose must be one of global, adapted, own, found best"):
        eq.adapt(model, clients["west"], choose="best")
    with pytest.raises(eq.TableError, match="all labels are the same"):
        eq.adapt(model, clients["west"][clients["west"]["passed"] == 1])
