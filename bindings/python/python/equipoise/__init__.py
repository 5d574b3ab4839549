"""One-shot fair collaborative machine learning that withstands unreliable clients.

A round from tables in memory:

    schema = Schema.infer(table, label="passed", positive=1, sensitive="group")
    proxies = {name: make_proxy(rows, schema, fairness="sp") for name, rows in clients.items()}
    server = FairServer(schema, fairness="sp", require="gap=0.1").fit(proxies, trusted)
    server.verdict_, server.weights_, server.report()

`OneShotClassifier` does all of this behind the interface of a scikit-learn classifier. Tables may be pandas, polars,
pyarrow, NumPy or paths. The command `equipoise` is the same program as the Rust binary, and gives the same results bit
for bit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import VERSION as __version__
from ._errors import (
    EquipoiseError,
    EquipoiseWarning,
    FileError,
    ProxyError,
    RoundError,
    SchemaError,
    SettingError,
    SolveError,
    TableError,
)

if TYPE_CHECKING:
    from . import metrics as metrics
    from ._adapt import Adapted as Adapted
    from ._adapt import adapt as adapt
    from ._classifier import OneShotClassifier as OneShotClassifier
    from ._description import Description as Description
    from ._description import describe as describe
    from ._fair_proxy import FairProxy as FairProxy
    from ._model import Model as Model
    from ._proxy import Proxy as Proxy
    from ._proxy import ProxyCheck as ProxyCheck
    from ._proxy import check as check
    from ._proxy import make_proxy as make_proxy
    from ._report import Report as Report
    from ._round import Round as Round
    from ._round import submit as submit
    from ._schema import Schema as Schema
    from ._server import FairServer as FairServer
    from ._server import defend as defend
    from ._split import Rehearsal as Rehearsal
    from ._split import split as split

# Imported when first used: scikit-learn alone takes longer to import than most calls take to run.
_LAZY = {
    "Adapted": "_adapt",
    "Description": "_description",
    "FairProxy": "_fair_proxy",
    "FairServer": "_server",
    "Model": "_model",
    "OneShotClassifier": "_classifier",
    "Proxy": "_proxy",
    "ProxyCheck": "_proxy",
    "Rehearsal": "_split",
    "Report": "_report",
    "Round": "_round",
    "Schema": "_schema",
    "adapt": "_adapt",
    "check": "_proxy",
    "defend": "_server",
    "describe": "_description",
    "make_proxy": "_proxy",
    "metrics": "metrics",
    "split": "_split",
    "submit": "_round",
}

__all__ = [
    "Adapted",
    "Description",
    "EquipoiseError",
    "EquipoiseWarning",
    "FairProxy",
    "FairServer",
    "FileError",
    "Model",
    "OneShotClassifier",
    "Proxy",
    "ProxyCheck",
    "ProxyError",
    "Rehearsal",
    "Report",
    "Round",
    "RoundError",
    "Schema",
    "SchemaError",
    "SettingError",
    "SolveError",
    "TableError",
    "__version__",
    "adapt",
    "check",
    "defend",
    "describe",
    "make_proxy",
    "metrics",
    "split",
    "submit",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    module = import_module(f".{_LAZY[name]}", __name__)
    value = module if name == "metrics" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
