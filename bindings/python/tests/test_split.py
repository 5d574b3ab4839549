"""One table split among clients: the same rows as the command, in tables of the same kind."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq

SIZES = {"clients": 3, "test": 0.25, "trusted": 0.1, "unreliable": 1, "seed": 7}
FLAGS = [f"--{name}={value}" for name, value in SIZES.items()]


@pytest.fixture
def files(tmp_path, command, everyone, schema):
    everyone.to_csv(tmp_path / "everyone.csv", index=False)
    schema.save(tmp_path / "schema.toml")
    document = command("split", "everyone.csv", "--schema", "schema.toml", *FLAGS, "-o", "expected")
    return tmp_path, document


def test_rows_are_those_of_the_command(files, everyone, schema) -> None:
    folder, document = files
    reader = pa.Table.from_pandas(everyone).to_reader()
    kinds = [
        everyone,
        everyone.set_index(np.arange(len(everyone)) + 5),
        pl.DataFrame(everyone),
        pl.LazyFrame(everyone),
        pa.Table.from_pandas(everyone),
        reader,
        {name: everyone[name].tolist() for name in everyone},
    ]
    for table in kinds:
        found = eq.split(table, schema, **SIZES)
        expected = {key: value for key, value in document.items() if key not in ("path", "commands")}
        assert found.notes == expected.pop("notes") == []
        assert found.summary == expected
        assert set(found.train) == {"c1", "c2", "c3"} and len(found.reliable) == 2
        parts = {"train": found.train, "test": found.test, ".": {"test": found.test_rows}}
        for part, tables in parts.items():
            for name, rows in tables.items():
                frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows) if isinstance(rows, dict) else rows.to_pandas()
                assert frame.to_csv(index=False) == (folder / "expected" / part / f"{name}.csv").read_text()
        stored = pd.read_csv(folder / "expected/trusted.csv")
        for name, rows in found.trusted.items():
            n_rows = len(rows["score"]) if isinstance(rows, dict) else len(rows)
            assert n_rows == (stored["client"] == name).sum()
        [(name, sent)] = found.proxies.items()
        assert name not in found.reliable
        sent = pd.DataFrame(sent) if isinstance(sent, dict) else sent if isinstance(sent, pd.DataFrame) else sent.to_pandas()
        stored = pd.read_parquet(folder / f"expected/proxies/{name}.parquet")
        pd.testing.assert_frame_equal(sent.reset_index(drop=True), stored)
    assert isinstance(eq.split(kinds[2], schema).train["c1"], pl.DataFrame)
    assert isinstance(eq.split(kinds[4], schema).trusted["c5"], pa.Table)


def test_files_become_files(files, schema) -> None:
    folder, _ = files
    found = eq.split(folder / "everyone.csv", folder / "schema.toml", **SIZES, output=folder / "found")
    written = sorted(path.relative_to(folder / "found") for path in (folder / "found").rglob("*.*"))
    assert written == sorted(path.relative_to(folder / "expected") for path in (folder / "expected").rglob("*.*"))
    for path in written:
        # The file of an unreliable client says nothing that depends on the folder.
        assert (folder / "found" / path).read_bytes() == (folder / "expected" / path).read_bytes()
    for tables in (found.train, found.test, found.proxies, {"": found.test_rows, "trusted": found.trusted}):
        assert all(path.is_file() for path in tables.values())
    packed = folder / "everyone.CSV.GZ"
    packed.write_bytes(gzip.compress((folder / "everyone.csv").read_bytes()))
    assert eq.split(packed, schema, output=folder / "packed").test_rows.is_file()


def test_a_rehearsal_leads_to_a_model(everyone, schema) -> None:
    rehearsal = eq.split(everyone, schema, clients=4, trusted=0.05, unreliable=1)
    made = {c: eq.make_proxy(rehearsal.train[c], schema, fairness="sp") for c in rehearsal.reliable}
    server = eq.FairServer(schema).fit(rehearsal.proxies | made, rehearsal.trusted)
    assert set(server.weights_) == {"c1", "c2", "c3", "c4"}
    assert server.model_.evaluate(rehearsal.test_rows)["rows"] == len(rehearsal.test_rows)


def test_bad_splits_are_refused(tmp_path, everyone, schema) -> None:
    for settings, reason in [
        ({"clients": 1}, "clients must be at least 2"),
        ({"trusted": 0.9}, "together with test"),
        ({"unreliable": 5}, "below clients"),
        ({"fairness": "nice"}, "nice"),
        ({"output": tmp_path}, "output is for a table that is a file"),
        ({"clients": 2000}, "too few for 2000 clients"),
    ]:
        with pytest.raises(eq.SettingError, match=reason):
            eq.split(everyone, schema, **settings)
    everyone.to_csv(tmp_path / "everyone.csv", index=False)
    with pytest.raises(eq.SettingError, match="output must name"):
        eq.split(tmp_path / "everyone.csv", schema)
    with pytest.raises(eq.TableError, match="score"):
        eq.split(everyone.drop(columns="score"), schema)
    with pytest.raises(eq.TableError, match="score"):
        everyone.drop(columns="score").to_csv(tmp_path / "short.csv", index=False)
        eq.split(tmp_path / "short.csv", schema, output=tmp_path / "out")
    with pytest.raises(eq.TableError, match="old") as caught:
        everyone.assign(age=["old", *everyone["age"].astype(str)[1:]]).to_csv(tmp_path / "old.csv", index=False)
        eq.split(tmp_path / "old.csv", schema, output=tmp_path / "out")
    assert (caught.value.row, caught.value.column) == (1, "age")
    with pytest.raises(eq.SettingError, match="clients must be at least 2"):
        eq.split(tmp_path / "everyone.csv", schema, clients=1, output=tmp_path / "out")
    with pytest.raises(eq.FileError, match="absent.csv"):
        eq.split(tmp_path / "absent.csv", schema, output=tmp_path / "out")
    with pytest.raises(eq.FileError, match="already exists"):
        eq.split(tmp_path / "everyone.csv", schema, output=tmp_path)
    assert not list(tmp_path.glob("*/"))


def test_notes_say_what_trusted_rows_lack(tmp_path, everyone, schema) -> None:
    everyone.to_csv(tmp_path / "everyone.csv", index=False)
    found = eq.split(everyone, schema, clients=40, trusted=0.01)
    [*_, note] = found.notes
    assert "from c01, c02" in note and "a larger share of trusted rows or fewer clients would help" in note
    assert eq.split(tmp_path / "everyone.csv", schema, clients=40, trusted=0.01, output=tmp_path / "out").notes == found.notes
