"""Schemas from descriptions of tables whose rows stay with their clients."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq

ROLES = ["--label", "passed=1", "--sensitive", "group=A"]


@pytest.fixture
def descriptions(clients) -> list[eq.Description]:
    return [
        eq.describe(rows, client=name, label="passed", positive=1, sensitive={"group": "A"})
        for name, rows in clients.items()
    ]


def test_descriptions_are_those_of_the_command(tmp_path, command, clients) -> None:
    rows = clients["north"].assign(code=np.arange(800) % 3, rare=["often"] * 797 + ["seldom"] * 3)
    rows.to_csv(tmp_path / "north.csv", index=False)
    options = ["--drop", "age", "--categorical", "code", "--min-rows", "4"]
    command("schema", "describe", "north.csv", *ROLES, *options, "-o", "north.json")
    expected = (tmp_path / "north.json").read_text()
    roles = {"label": "passed", "positive": 1, "sensitive": {"group": "A"}}
    settings = {"drop": ["age"], "categorical": ["code"], "min_rows": 4}
    tables = [tmp_path / "north.csv", rows, pl.DataFrame(rows), pa.Table.from_pandas(rows)]
    for table, client in zip(tables, [None, "north", " north ", "north"], strict=True):
        found = eq.describe(table, client=client, **roles, **settings)
        assert found.to_json() == expected
        assert found.content == json.loads(expected) and found.client == "north"
        assert "seldom" in found.notes[0] and "seldom" not in found.to_json()
    found.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == expected
    with pytest.raises(eq.FileError, match="already exists"):
        found.save(tmp_path / "again.json")
    found.save(tmp_path / "again.json", force=True)
    assert eq.Description.load(tmp_path / "again.json") == found == pickle.loads(pickle.dumps(found))


def test_the_label_and_the_reference_may_be_left_to_the_merge(clients) -> None:
    found = [
        eq.describe(rows, client=name, label="passed", sensitive="group") for name, rows in clients.items()
    ]
    assert "value" not in found[0].content["label"]
    schema = eq.Schema.merge(found, label="passed", positive=1, sensitive={"group": "A"})
    assert (schema.label, schema.positive, schema.reference) == ("passed", "1", "group = A")
    with pytest.raises(eq.SettingError, match="belong together"):
        eq.Schema.merge(found, label="passed")


def test_merged_schemas_are_those_of_the_command_and_of_all_rows(tmp_path, command, clients, descriptions) -> None:
    names = []
    for name, rows in clients.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        names.append(f"{name}.json")
        command("schema", "describe", f"{name}.csv", *ROLES, "-o", names[-1])
    command("schema", "merge", *names, "--fill", "mean,mode", "-o", "merged.toml")
    expected = (tmp_path / "merged.toml").read_text()
    mixed = [descriptions[0], *(tmp_path / name for name in names[1:])]
    for given in [descriptions, descriptions[::-1], mixed]:
        assert eq.Schema.merge(given, fill=["mean", "mode"]).to_toml() == expected
    merged = eq.Schema.merge(descriptions, blind=True, two_groups=True)
    assert merged.blind and len(merged.groups) == 2

    # Several tables at once: what the merged schema would be without anything withheld.
    command("schema", "infer", *(f"{name}.csv" for name in clients), *ROLES, "-o", "union.toml")
    union = eq.Schema.infer(list(clients.values()), label="passed", sensitive={"group": "A"})
    assert union.to_toml() == (tmp_path / "union.toml").read_text()
    merged = eq.Schema.merge(descriptions)
    assert union.features == merged.features and union.groups == merged.groups


def test_bad_descriptions_are_refused(tmp_path, clients, descriptions) -> None:
    rows = clients["north"]
    with pytest.raises(eq.SettingError, match="client"):
        eq.describe(rows, label="passed", sensitive="group")
    with pytest.raises(eq.SchemaError, match="min_rows"):
        eq.describe(rows, client="north", label="passed", sensitive="group", min_rows=0)
    with pytest.raises(eq.TableError, match="group2"):
        eq.describe(rows, client="north", label="passed", sensitive="group2")
    with pytest.raises(eq.SchemaError, match="not a description"):
        eq.Description("{}")
    with pytest.raises(eq.FileError, match="nowhere.json"):
        eq.Description.load(tmp_path / "nowhere.json")
    with pytest.raises(eq.SchemaError, match="north"):
        eq.Schema.merge([descriptions[1], descriptions[1]])
    for alone in (descriptions[0], "north.json"):
        with pytest.raises(TypeError, match="list"):
            eq.Schema.merge(alone)
    with pytest.raises(eq.SchemaError, match='Name it with label="passed", positive=VALUE'):
        eq.Schema.merge([eq.describe(rows, client="north", label="passed", sensitive="group")])
    with pytest.raises(TypeError, match="paths"):
        eq.Schema.merge([pd.DataFrame()])
    with pytest.raises(eq.EquipoiseError):
        eq.Schema.merge([])
    with pytest.raises(eq.SchemaError, match="no table"):
        eq.Schema.infer([], label="passed", sensitive="group")
    with pytest.raises(eq.TableError, match="table 2"):
        eq.Schema.infer([rows, rows.drop(columns="age")], label="passed", sensitive="group")
