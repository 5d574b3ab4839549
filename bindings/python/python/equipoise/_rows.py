"""Rows given as `X`, `y` and `sensitive_features`, as in scikit-learn and fairlearn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._errors import TableError
from ._schema import Schema, proposal
from ._tables import Columns, Table, kind_of, to_columns

LABEL = "(label)"


@dataclass
class LabelledRows:
    """Features, sensitive columns and labels in one table."""

    features: Columns
    sensitive: Columns
    classes: np.ndarray[Any, Any]
    positive: np.ndarray[Any, Any]

    @classmethod
    def of(cls, X: Table, y: Any, sensitive_features: Any) -> "LabelledRows":
        """Checks lengths and joins the parts. The larger of the two classes is positive."""
        features = to_columns(X)
        sensitive = to_columns(_sensitive_table(sensitive_features))
        taken = {name for name, _ in features}
        sensitive = [(f"({name})" if name in taken else name, values) for name, values in sensitive]
        classes, indices = np.unique(np.asarray(y), return_inverse=True)
        for name, values in [*features, *sensitive]:
            if len(values) != len(indices):
                raise TableError(f"column `{name}` has {len(values)} rows, but y has {len(indices)}")
        return cls(features, sensitive, classes, indices.reshape(-1) == 1)

    def __len__(self) -> int:
        return len(self.positive)

    def mapping(self, rows: np.ndarray[Any, Any] | None = None) -> dict[str, Any]:
        """The table, or some of its rows."""
        columns = [*self.features, *self.sensitive, (LABEL, self.positive.astype(np.float64))]
        return {name: select(values, rows) for name, values in columns}

    def infer(self, *, blind: bool) -> Schema:
        """A schema in which columns of numbers are numeric and columns of text are categorical."""
        numeric = [name for name, values in self.features if isinstance(values, np.ndarray)]
        table = [*self.features, *self.sensitive, (LABEL, self.positive.astype(np.float64))]
        native, notes = _core.infer_schema(
            [table],
            (LABEL, "1"),
            [(name, None) for name, _ in self.sensitive],
            proposal(blind=blind, numeric=numeric, codes=False, unknown="other"),
        )
        return Schema._of(native, notes)


def select(values: Any, rows: np.ndarray[Any, Any] | None) -> Any:
    """Some values of a column; None keeps all of them."""
    if rows is None:
        return values
    if isinstance(values, np.ndarray):
        return values[rows]
    return np.array(values, dtype=object)[rows]


def _sensitive_table(sensitive_features: Any) -> Any:
    """One or several sensitive columns as a table."""
    if isinstance(sensitive_features, (list, tuple)):
        sensitive_features = np.asarray(sensitive_features, dtype=object)
    if isinstance(sensitive_features, np.ndarray):
        if sensitive_features.ndim == 1:
            return {"group": sensitive_features}
        return {f"group{i}": sensitive_features[:, i] for i in range(sensitive_features.shape[1])}
    kind = kind_of(sensitive_features)
    if kind == "pandas" and not hasattr(sensitive_features, "columns"):
        return {str(sensitive_features.name or "group"): sensitive_features}
    if kind in ("polars", "pyarrow") and not hasattr(sensitive_features, "columns"):
        name = getattr(sensitive_features, "name", None) or "group"
        return {str(name): sensitive_features.to_numpy()}
    return sensitive_features
