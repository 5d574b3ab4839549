"""The tables of a round of any size."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import equipoise as eq


def schema(n_features: int) -> eq.Schema:
    features = ",".join(f'{{ column = "x{k}", kind = "numeric", center = 0, scale = 1 }}' for k in range(n_features))
    return eq.Schema(
        f"""version = 1
intercept = true
label = {{ column = "y", positive = "1" }}
sensitive = {{ column = "s", privileged = "1" }}
feature = [{features}]"""
    )


def provide(folder: Path, n_rows: int, n_clients: int, n_features: int, n_root_rows: int = 100) -> None:
    """Files of proxies, and of roots with so many rows each, unless the folder has them. Two clients in five are unfair."""
    size = {"rows": n_rows, "clients": n_clients, "features": n_features, "root rows": n_root_rows}
    # Written last: a folder that has it is complete.
    complete = folder / "size.json"
    if complete.exists():
        if (found := json.loads(complete.read_text())) != size:
            raise SystemExit(f"{folder} has a round of another size, {found}: choose another folder")
        return
    for name in ("proxies", "roots"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for client in range(n_clients):
        random = np.random.default_rng([7, client])
        bias = 2.0 if client % 5 < 2 else 0.0
        n = n_rows * (client + 1) // n_clients - n_rows * client // n_clients
        pq.write_table(
            pa.table(_rows(random, n, n_features, bias)),
            folder / f"proxies/c{client:05}.parquet",
            compression="none",
            use_dictionary=False,
            row_group_size=1 << 17,
        )
        root = _rows(random, n_root_rows, n_features, 0.5)
        root["y"] = (root["y"] > 0).astype(np.int8)
        pq.write_table(pa.table(root), folder / f"roots/c{client:05}.parquet")
    schema(n_features).save(folder / "schema.toml", force=True)
    complete.write_text(json.dumps(size))


def _rows(random: np.random.Generator, n: int, n_features: int, bias: float) -> dict[str, np.ndarray]:
    """Standard normal features, two groups, and labels that favour one group by `bias`."""
    x = random.standard_normal((n_features, n))
    group = (random.random(n) < 0.5).astype(np.int8)
    score = np.tensordot(np.linspace(1, -1, n_features), x, 1) / np.sqrt(n_features) + bias * (group - 0.5)
    label = np.where(random.random(n) < 1 / (1 + np.exp(-score)), 1, -1).astype(np.int8)
    return {**{f"x{k}": x[k] for k in range(n_features)}, "s": group, "y": label}
