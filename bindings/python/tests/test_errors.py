"""Bad input raises one clear exception and leaves nothing behind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import equipoise as eq


def raises(kind: type[Exception], *parts: str):
    pattern = "".join(f"(?=.*{part})" for part in parts)
    return pytest.raises(kind, match=f"(?s){pattern}")


def test_a_wrong_type_a_missing_value_and_a_missing_column_are_located(clients, schema) -> None:
    rows = clients["north"]
    when = rows.assign(age=pd.Timestamp("2026-01-01"))
    with raises(eq.TableError, "column `age`", "datetime64", "only numbers, booleans and text"):
        eq.make_proxy(when, schema, fairness="sp")
    with raises(eq.TableError, "column `age`", "type (Date|Timestamp)"):
        eq.make_proxy(pl.DataFrame(when), schema, fairness="sp")
    ages = ["old", *rows["age"].astype(str)[1:]]
    for text in [rows.assign(age=ages), pl.DataFrame(rows.assign(age=ages))]:
        with raises(eq.TableError, "the data, row 1, column `age`: `old` is not a number"):
            eq.make_proxy(text, schema, fairness="sp")
    with raises(eq.TableError, "row 3, column `score`", "missing", "fill") as caught:
        eq.make_proxy(rows.assign(score=rows["score"].where(rows.index != 2)), schema, fairness="sp")
    assert (caught.value.row, caught.value.column) == (3, "score")
    assert isinstance(caught.value, ValueError)
    nulls = pl.DataFrame(rows).with_columns(tier=pl.when(pl.int_range(800) == 4).then(None).otherwise("tier"))
    with raises(eq.TableError, "row 5, column `tier`", "missing"):
        eq.make_proxy(nulls, schema, fairness="sp")
    with raises(eq.TableError, "column `age`", "no such column", "It has"):
        eq.make_proxy(rows.drop(columns="age"), schema, fairness="sp")
    with raises(eq.TableError, "column `extra`", "not in the schema"):
        eq.make_proxy(rows.assign(extra=1), schema, fairness="sp")
    with raises(eq.TableError, "names of columns must be text, found 7"):
        eq.make_proxy(rows.rename(columns={"age": 7}), schema, fairness="sp")


def test_a_label_of_three_values_must_be_confirmed_by_the_keyword(clients) -> None:
    rows = clients["north"].assign(passed=np.arange(800) % 3)
    with raises(eq.SchemaError, "to confirm: label_rest_negative"):
        eq.Schema.infer(rows, label="passed", positive=1, sensitive="group")
    assert eq.Schema.infer(rows, label="passed", positive=1, sensitive="group", label_rest_negative=True)


def test_unknown_keywords_and_values_are_named(clients, schema, proxies, roots) -> None:
    with raises(TypeError, "fairnes"):
        eq.make_proxy(clients["north"], schema, fairnes="sp")
    with raises(TypeError, "defence"):
        eq.FairServer(schema, defence="tilt")
    with raises(eq.SettingError, "fairness", "most"):
        eq.make_proxy(clients["north"], schema, fairness="most")
    with raises(eq.SettingError, "defense", "wall"):
        eq.FairServer(schema, defense="wall").fit(proxies, roots)
    with raises(eq.SettingError, "lambda_ must be above 0, found -1"):
        eq.FairServer(schema, lambda_=-1).fit(proxies, roots)
    with raises(eq.SettingError, "rho_max applies only to the defense bilevel"):
        eq.FairServer(schema, rho_max=10.0).fit(proxies, roots)
    with raises(eq.EquipoiseError, "max_gap must be between 0 and 1"):
        eq.check(proxies["north"], clients["north"], schema, fairness="sp", max_gap=2)
    with raises(eq.ProxyError, "max_gap or epsilon"):
        eq.check(proxies["north"], clients["north"], schema, fairness="sp")


def test_rounds_that_do_not_fit_together_are_refused(schema, proxies, roots, clients) -> None:
    fitted = eq.FairServer(schema).fit(proxies, {name: root for name, root in roots.items() if name != "west"})
    assert fitted.outcome_["clients"][-1]["root_rows"] == 0
    server = eq.FairServer(schema)
    unknown = roots["west"].assign(client=["west", "wset", *[None] * (len(roots["west"]) - 2)])
    with raises(eq.TableError, "the trusted rows, row 2, column `client`: .*without a proxy: `wset`.*allow_missing"):
        server.fit(proxies, unknown)
    nobodys = roots["west"]
    assert sum(c["root_rows"] for c in eq.FairServer(schema).fit(proxies, nobodys).outcome_["clients"]) == 0
    with raises(eq.TableError, "the proxy of client `east`", "Is this a table of raw rows"):
        server.fit({**proxies, "east": clients["east"]}, roots)
    one_group = {name: root[root["group"] == "A"] for name, root in roots.items()}
    with raises(eq.SolveError, "all .* root rows are in the group"):
        server.fit(proxies, one_group)
    with raises(TypeError, "a table must be"):
        server.fit(proxies, 3)
    assert not hasattr(server, "model_")


def test_files_are_not_overwritten_and_documents_are_checked(tmp_path, schema, proxies, clients) -> None:
    path = tmp_path / "schema.toml"
    schema.save(path)
    with raises(eq.FileError, "already exists") as caught:
        schema.save(path)
    assert isinstance(caught.value, OSError)
    schema.save(path, force=True)
    with raises(eq.FileError, "nowhere.toml", "cannot be read"):
        eq.Schema.load(tmp_path / "nowhere.toml")
    with raises(eq.SchemaError, "not a valid schema"):
        eq.Schema("label = 1")
    with raises(eq.SchemaError, "not a valid model"):
        eq.Model("{}")
    with raises(eq.TableError, "p.xlsx", "unsupported table format"):
        proxies["north"].save(tmp_path / "p.xlsx")
    few = clients["north"][:6]
    with raises(eq.ProxyError, "a proxy needs at least 8 rows"):
        eq.make_proxy(few, schema, fairness="sp")
    with raises(eq.ProxyError, "all labels are the same"):
        eq.make_proxy(clients["north"].assign(passed=1), schema, fairness="sp")
    assert [file.name for file in tmp_path.iterdir()] == ["schema.toml"]


def test_every_exception_derives_from_one() -> None:
    for name in eq.__all__:
        found = getattr(eq, name)
        if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, Warning):
            assert issubclass(found, eq.EquipoiseError)
    assert issubclass(eq.SolveError, ValueError)


def test_gap_frames_need_equal_lengths() -> None:
    with raises(ValueError, "same length, found 3, 2 and 3"):
        eq.metrics.GapFrame([1, 0, 1], [1, 0], sensitive_features=["a", "b", "a"])
    with raises(ValueError, "no rows"):
        eq.metrics.GapFrame(np.array([]), np.array([]), sensitive_features=np.array([]))
