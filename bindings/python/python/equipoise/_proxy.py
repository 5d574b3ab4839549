"""The client's side: make a fair proxy of your rows, and check it."""

import os
import warnings
from typing import Any

from . import _core
from ._errors import EquipoiseWarning, ProxyError
from ._progress import Progress, reporting
from ._schema import Schema, as_schema
from ._tables import Kind, Table, kind_of, to_kind, to_native


class Proxy:
    """A finished proxy: the table to send, and its quality.

    `table` is of the same kind as the data. `summary` has the figures of the proxy's model on the data, how close its rows
    come to real rows, and the warnings.
    """

    def __init__(self, native: _core.Proxy, kind: Kind) -> None:
        self._native = native
        self._kind = kind
        self._output = native.table()
        self.summary: dict[str, Any] = native.summary()

    @property
    def table(self) -> Table:
        """The table to send: encoded features, group and label."""
        return to_kind(self._output, self._kind)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the table to a .parquet, .csv or .csv.gz file, as the command `proxy` does.

        A Parquet file says whose it is: name it after the client.
        """
        self._native.write(path, force)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._output.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.summary["rows"])

    def __repr__(self) -> str:
        return f"<Proxy of {len(self)} rows; .table is what to send, .summary its quality>"


class ProxyCheck(dict[str, Any]):
    """The figures of a checked proxy. It is true if the proxy is fair."""

    def __bool__(self) -> bool:
        return bool(self["fair"])


def make_proxy(
    data: Table,
    schema: Schema | str | os.PathLike[str],
    *,
    fairness: str | None = None,
    generator: str | None = None,
    rows: int | None = None,
    rate: float | str | None = None,
    epsilon: float | None = None,
    seed: int | None = None,
    init: str | None = None,
    lambda_: float | None = None,
    dp_epsilon: float | None = None,
    dp_delta: float | None = None,
    dp_test_seed: int | None = None,
    progress: Progress = False,
) -> Proxy:
    """Make a proxy of your rows to send instead of them.

    A linear model that anyone trains on the proxy is accurate on your data and fair by the criterion. The options are
    those of the command `proxy`, and so is the result, bit for bit.

    Args:
        data: Your raw rows.
        schema: The schema that all parties agreed on, or the path of its file.
        fairness: The criterion: "sp", "eo", "equalized-odds", "fpr", or a mixture such as "sp:0.5,eo:0.5". Every
            generator but "raw" needs it.
        generator: "thresholds" (the default) chooses a fair model first; "transformation" changes bins
            and labels at random (Calmon et al., 2017), for "sp" alone; "paper" is the paper's Algorithm 1; "raw" only
            writes the rows of any table as numbers, neither fair nor private, as an unreliable client would.
        rows: Number of proxy rows; by default as many as the data has. With "thresholds" the model is the same for any
            number, so 200 rows will do, and the default is at most 20,000.
        rate: How many rows the proxy's model selects: "kept" (as many as a model of the data, the default), "labels" (as
            many as have a positive label), or a number between 0 (kept) and 1 (labels).
        epsilon: Maximum covariance of group and score, for the generator "paper".
        seed: Random seed.
        init: "smoothed" (the default), or "data" to start from the data itself, for experiments only.
        lambda_: Regularisation strength of the proxy's model.
        dp_epsilon: Makes the proxy differentially private with this ε.
        dp_delta: δ of the guarantee; 1e-6 by default.
        dp_test_seed: Makes the noise reproducible, for tests; the proxy is then not private.
        progress: True shows a progress bar, which needs tqdm; a function gets steps done and steps in all.

    Returns:
        The proxy, with its table and its quality.
    """
    options = {
        "fairness": fairness,
        "generator": generator,
        "rows": rows,
        "rate": rate,
        "epsilon": epsilon,
        "seed": seed,
        "init": init,
        "lambda_": lambda_,
        "dp_epsilon": dp_epsilon,
        "dp_delta": dp_delta,
        "dp_test_seed": dp_test_seed,
    }
    with reporting(progress, "proxy") as report:
        native = _core.make_proxy(to_native(data), as_schema(schema)._native, options, report)
    kind = kind_of(data)
    proxy = Proxy(native, kind)
    for warning in proxy.summary["warnings"]:
        warnings.warn(warning["message"], EquipoiseWarning, stacklevel=2)
    return proxy


def check(
    proxy: Table,
    data: Table,
    schema: Schema | str | os.PathLike[str],
    *,
    fairness: str,
    max_gap: float | None = None,
    epsilon: float | None = None,
) -> ProxyCheck:
    """Check whether a proxy is fair on the data it was made of.

    With `max_gap`, no two groups' rates may differ by more than that; with `epsilon`, the covariance of group and score
    must be within it (Definition 1 of the paper). At least one of the two is needed.
    """
    if max_gap is None and epsilon is None:
        raise ProxyError("check needs max_gap or epsilon: how unfair may the proxy be?")
    native = as_schema(schema)._native
    return ProxyCheck(_core.check_proxy(to_native(proxy), to_native(data), native, fairness, max_gap, epsilon))
