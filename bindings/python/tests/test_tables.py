"""Tables of every kind come in, and results have the same kind."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq


def test_a_proxy_is_a_table_of_the_same_kind(clients, schema) -> None:
    rows = clients["north"]
    expected = eq.make_proxy(rows, schema, fairness="sp").table
    assert isinstance(expected, pd.DataFrame)
    assert list(expected) == ["score", "tier=low", "tier=mid", "tier=top", "age", "group", "passed"]
    assert set(expected["passed"]) == {-1, 1}
    for table, kind in [
        (pl.DataFrame(rows), pl.DataFrame),
        (pl.DataFrame(rows).lazy(), pl.DataFrame),
        (pa.Table.from_pandas(rows), pa.Table),
        ({name: rows[name].to_numpy() for name in rows}, dict),
    ]:
        found = eq.make_proxy(table, schema, fairness="sp").table
        assert isinstance(found, kind)
        columns = found.to_pydict() if kind is pa.Table else {name: list(found[name]) for name in expected}
        assert columns == {name: list(expected[name]) for name in expected}


def test_categories_nullable_numbers_booleans_and_text_are_understood(schema, clients, roots, proxies) -> None:
    rows = clients["north"]
    model = eq.FairServer(schema).fit(proxies, roots).model_
    expected = model.decision_function(rows)
    variants = [
        rows.astype({"tier": "category", "age": "Int64", "group": "string"}),
        rows.astype({"tier": object, "age": object, "score": object}),
        rows.astype({"age": np.int8}),
        rows.assign(age=rows["age"].astype(str)),
        rows.set_index(pd.Index(range(100, 900), name="id")),
        pl.DataFrame(rows).cast({"tier": pl.Categorical, "group": pl.Enum(["A", "B"])}),
        pa.Table.from_pandas(rows.astype({"tier": "category"})),
        pa.Table.from_pandas(rows).to_reader(max_chunksize=7),
        rows[rows.columns[::-1]],
        rows.drop(columns="passed").assign(other=pd.Timestamp("2026-01-01")).drop(columns="other"),
    ]
    for table in variants:
        np.testing.assert_array_equal(model.decision_function(table), expected)
    table = model.predict_table(variants[4])
    assert list(table.index) == list(range(100, 900))
    assert isinstance(model.predict_table(pl.DataFrame(rows)), pl.DataFrame)
    assert isinstance(model.predict_table(pa.Table.from_pandas(rows)), pa.Table)


def test_boolean_labels_and_references_are_numbers(clients) -> None:
    rows = clients["north"]
    rows = rows.assign(passed=rows["passed"] == 1, member=rows["group"] == "A")
    schema = eq.Schema.infer(
        rows, label="passed", positive=True, sensitive={"member": True}, drop=["group"], two_groups=True
    )
    assert (schema.label, schema.positive, schema.sensitive) == ("passed", "1", ["member"])
    assert len(eq.make_proxy(rows, schema, fairness="eo")) == 800


def test_numpy_columns_are_those_of_the_schema(clients) -> None:
    rows = clients["north"][["score", "age", "group", "passed"]].assign(group=lambda t: t["group"] == "A")
    array = rows.to_numpy(dtype=float)
    schema = eq.Schema.infer(rows, label="passed", sensitive="group", blind=True)
    named = eq.Schema.infer(array, label="x3", sensitive="x2", blind=True)
    assert list(named.features) == ["x0", "x1"]
    proxies = {"a": eq.make_proxy(rows, schema, fairness="sp")}
    model = eq.FairServer(schema).fit(proxies, {"a": rows[:100]}).model_
    np.testing.assert_array_equal(model.predict(array[:, :2]), model.predict(rows))
    assert isinstance(model.predict_table(array[:, :2]), np.ndarray)


def test_columns_of_numbers_may_have_any_layout(clients, schema) -> None:
    rows = {name: clients["north"][name].to_numpy() for name in clients["north"]}

    def encode(table: dict[str, Any]) -> Any:
        with pytest.warns(eq.EquipoiseWarning, match="neither fair nor private"):
            return eq.make_proxy(table, schema, generator="raw").table

    expected = encode(rows)
    score = rows["score"]
    unaligned = np.frombuffer(b" " + score.tobytes(), dtype=np.float64, offset=1)
    assert not unaligned.flags.aligned
    frozen = score.copy()
    frozen.flags.writeable = False
    layouts = {
        "strided": np.column_stack([score, score])[:, 1],
        "backwards": score[::-1].copy()[::-1],
        "other bytes": score.astype(score.dtype.newbyteorder()),
        "unaligned": unaligned,
        "read-only": frozen,
        "a part": np.concatenate([[0.0], score, [0.0]])[1:-1],
        "a list": score.tolist(),
    }
    for layout, column in layouts.items():
        found = encode(rows | {"score": column})
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=layout)
    with pytest.raises(eq.TableError, match="no rows"):
        eq.make_proxy({name: column[:0] for name, column in rows.items()}, schema, generator="raw")


def test_a_schema_is_described(schema) -> None:
    assert schema.features == {"score": None, "tier": ["low", "mid", "top"], "age": None}
    assert schema.groups == ["group ≠ A", "group = A"]
    assert schema.reference == "group = A"
    assert not schema.blind
    assert schema.coefficients[-1] == "(intercept)"
    assert "3 features" in repr(schema)


@pytest.mark.parametrize("table", [42, None, object(), ["a.csv"]])
def test_other_objects_are_refused(table, schema) -> None:
    with pytest.raises(TypeError, match="a table must be"):
        eq.make_proxy(table, schema, fairness="sp")


def test_notes_name_parameters_instead_of_options() -> None:
    size = [1.0, None, *range(58)]
    table = pd.DataFrame({"size": size, "room no": [1, 2, 3] * 20, "group": ["A", "B"] * 30, "y": [0, 1, 1] * 20})
    missing, codes = eq.Schema.infer(table, label="y", sensitive="group").notes
    assert missing.endswith('use fill=["mean"]') and codes.endswith('use numeric=["room no"]')
    schema = eq.Schema.infer(table, label="y", sensitive="group", fill=["mean"], numeric=["room no"])
    assert schema.notes == []
