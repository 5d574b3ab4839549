"""The package as a whole: the import, the command, the names."""

import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq


@pytest.mark.timed
def test_the_import_is_fast_and_loads_no_other_library() -> None:
    program = """
import sys, time
start = time.perf_counter()
import equipoise
seconds = time.perf_counter() - start
loaded = {name for name in ("numpy", "sklearn", "pandas", "polars", "pyarrow") if name in sys.modules}
print(seconds, loaded)
assert not loaded and seconds < 0.3
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_round_needs_no_scikit_learn(tmp_path, proxies, roots, schema) -> None:
    """It takes a second and 150 MB to import, with all that it brings along."""
    for folder, tables in [("proxies", proxies), ("roots", roots)]:
        (tmp_path / folder).mkdir()
        for name, table in tables.items():
            file = tmp_path / folder / f"{name}.parquet"
            table.save(file) if folder == "proxies" else table.to_parquet(file, index=False)
    schema.save(tmp_path / "schema.toml")
    program = """
import sys, equipoise as eq
server = eq.FairServer("schema.toml").fit("proxies", "roots")
server.predict("roots/north.parquet"), server.report(), server.get_params(), repr(server)
eq.make_proxy("roots/north.parquet", "schema.toml", fairness="sp")
loaded = [name for name in ("sklearn", "scipy", "pandas", "polars", "pyarrow") if name in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, cwd=tmp_path)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in eq.__all__:
        assert getattr(eq, name).__doc__, name
    assert set(eq.__all__) <= set(dir(eq))


def test_the_command_is_installed() -> None:
    script = Path(sys.executable).parent / "equipoise"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"equipoise {eq.__version__}\n"
    bad = subprocess.run([script, "defend"], capture_output=True, text=True)
    assert bad.returncode == 2 and "Usage: equipoise defend" in bad.stderr
