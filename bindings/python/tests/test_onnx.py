"""Exported models predict the same in ONNX Runtime."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

import equipoise as eq


def run(path: Path, table: pd.DataFrame) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    columns = {}
    for column in session.get_inputs():
        values = table[column.name]
        kind = object if column.type == "tensor(string)" else np.float64
        columns[column.name] = values.to_numpy(dtype=kind).reshape(-1, 1)
    results = session.run(None, columns)
    return {name: values[:, 0] for name, values in zip(["score", "probability", "selected"], results, strict=True)}


def mixed(n: int, seed: int) -> pd.DataFrame:
    """Numbers, text categories, numeric codes, 0/1 columns and two sensitive columns."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": random.lognormal(10, 1, n),
            "age": random.integers(18, 90, n),
            "region": random.choice(["north", "south", "östlich", "a b", 'q"x'], n),
            "code": random.choice([1, 2, 3, 7], n),
            "member": random.integers(0, 2, n),
            "race": random.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2]),
            "sex": random.choice(["f", "m"], n),
        }
    )
    score = np.log(table["income"]) - 10 + 0.5 * (table["race"] == "x") - 0.2 * (table["code"] == 3)
    table["ok"] = np.where(score + random.normal(size=n) > 0, "yes", "no")
    return table


@pytest.mark.parametrize(
    "options",
    [
        {"sensitive": "sex"},
        {"sensitive": {"race": "x"}, "two_groups": True},
        {"sensitive": ["race", "sex"]},
        {"sensitive": ["race", "sex"], "blind": True, "intercept": False},
    ],
)
def test_predictions_agree_to_1e_12_on_10_000_rows(tmp_path: Path, options: dict[str, Any]) -> None:
    table = mixed(3000, 1)
    unused = [c for c in ("race", "sex") if c not in options["sensitive"]]
    schema = eq.Schema.infer(table, label="ok", positive="yes", drop=unused, **options)
    assert schema.features["code"] == ["1", "2", "3", "7"]
    parts = {name: table[i::3] for i, name in enumerate("abc")}
    proxies = {name: eq.make_proxy(part, schema, fairness="sp") for name, part in parts.items()}
    server = eq.FairServer(schema).fit(proxies, {name: part[:150] for name, part in parts.items()})
    path = tmp_path / "model.onnx"
    server.to_onnx(path)
    rows = mixed(10_000, 2)
    found = run(path, rows)
    expected = server.model_.predict_table(rows)
    scale = np.maximum(1.0, np.abs(expected["score"]))
    assert np.max(np.abs(found["score"] - expected["score"]) / scale) < 1e-12
    assert np.max(np.abs(found["probability"] - expected["probability"])) < 1e-12
    np.testing.assert_array_equal(found["selected"], expected["selected"])

    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert eq.Schema(metadata["equipoise.schema"]) == server.model_.schema
    figures = json.loads(metadata["equipoise.figures"])
    assert figures["root_metrics"] == server.outcome_["root_metrics"]
    assert {node.op_type for node in model.graph.node} <= set(
        "Add And Cast Concat Div Equal Greater IsNaN MatMul Not Or Sigmoid Sub Where".split()
    )


def test_rows_that_predict_refuses_have_no_score(tmp_path: Path, schema, proxies, roots, clients, command) -> None:
    server = eq.FairServer(schema).fit(proxies, roots)
    server.save(tmp_path / "outcome")
    command("export", "--onnx", "outcome/model.json", "-o", "model.onnx")
    rows = clients["north"][:6].reset_index(drop=True)
    rows["score"] = rows["score"].where(rows.index != 1)
    rows["tier"] = rows["tier"].where(rows.index != 2, "unknown")
    rows["group"] = rows["group"].where(rows.index != 3, "C")
    found = run(tmp_path / "model.onnx", rows)
    names = [output.name for output in onnx.load(tmp_path / "model.onnx").graph.output]
    assert names == ["score_", "probability", "selected"], "a column is called score"
    assert list(np.isnan(found["score"])) == [False, True, True, True, False, False]
    assert not found["selected"][1:4].any()
    scored = server.model_.decision_function(rows.drop([1, 2, 3]))
    np.testing.assert_allclose(found["score"][[0, 4, 5]], scored, rtol=0, atol=1e-12)


def test_missing_values_are_filled_as_the_schema_says(tmp_path: Path, schema, proxies, roots, clients) -> None:
    toml = schema.to_toml().replace('levels = ["low", "mid", "top"]', 'levels = ["low", "mid", "top"]\nfill = "mid"')
    filling = eq.Schema(toml.replace('column = "age"\nkind = "numeric"', 'column = "age"\nkind = "numeric"\nfill = 40.0'))
    assert filling != schema
    model = eq.FairServer(filling).fit(proxies, roots).model_
    model.to_onnx(tmp_path / "model.onnx")
    rows = clients["north"][:50].assign(age=lambda t: t["age"].where(t["age"] > 40))
    rows["tier"] = rows["tier"].where(rows["tier"] != "top", "")
    found = run(tmp_path / "model.onnx", rows)
    np.testing.assert_allclose(found["score"], model.decision_function(rows), rtol=0, atol=1e-12)
