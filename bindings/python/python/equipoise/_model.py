"""Models: a schema and its coefficients, enough to score raw rows anywhere."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import EquipoiseWarning
from ._schema import Schema
from ._tables import Table, from_columns, kind_of, to_native

Floats = NDArray[np.float64]


class Model:
    """A linear model: the probability of the positive label is the sigmoid of the score."""

    def __init__(self, json: str, *, name: str = "the model") -> None:
        self._native = _core.Model.from_json(json, name)

    @classmethod
    def _of(cls, native: _core.Model) -> "Model":
        model = cls.__new__(cls)
        model._native = native
        return model

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read a model file."""
        return cls._of(_core.Model.read(path))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model file. An existing file is replaced only with `force`."""
        self._native.write(path, force)

    def to_json(self) -> str:
        """The model file as text."""
        return self._native.to_json()

    def to_onnx(
        self, path: str | os.PathLike[str], *, outcome: str | os.PathLike[str] | None = None, force: bool = False
    ) -> None:
        """Write an ONNX file that starts from raw columns, as the command `export --onnx` does.

        `outcome` is the outcome.json of this model; its figures are stored in the file's metadata.
        """
        text = None if outcome is None else Path(outcome).read_text(encoding="utf-8")
        self._native.write_onnx(path, text, force)

    @property
    def schema(self) -> Schema:
        """The schema, which encodes the rows."""
        return Schema._of(self._native.schema())

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by name, the intercept included."""
        return dict(zip(self.schema.coefficients, self._native.theta(), strict=True))

    @property
    def coef_(self) -> Floats:
        """The coefficients without the intercept, in one row, as in scikit-learn."""
        theta = self._native.theta()
        return np.array([theta[:-1] if self._native.schema().intercept() else theta])

    @property
    def intercept_(self) -> Floats:
        """The intercept; 0 if the schema has none."""
        return np.array([self._native.theta()[-1] if self._native.schema().intercept() else 0.0])

    def decision_function(self, X: Table) -> Floats:
        """The score of each row. A row is selected if its score is above 0."""
        return self._predict(X)[0]

    def predict_proba(self, X: Table) -> Floats:
        """The probabilities of the negative and of the positive label, one row each."""
        positive = self._predict(X)[1]
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Table) -> NDArray[np.int64]:
        """1 for each row that is selected, 0 for the others."""
        return self._predict(X)[2].astype(np.int64)

    def predict_table(self, X: Table) -> Any:
        """Score, probability and decision of each row, as a table of the same kind as `X`."""
        score, probability, selected = self._predict(X)
        columns: dict[str, Any] = {"score": score, "probability": probability, "selected": selected.astype(np.int8)}
        kind = kind_of(X)
        return from_columns(columns, kind, X.index if kind == "pandas" else None)

    def evaluate(
        self, X: Table, *, fairness: str | None = None, threshold: float = 0.5, require: str | None = None
    ) -> dict[str, Any]:
        """Measure the model on raw rows with labels: accuracy, gaps and the figures of each group, with 95 % intervals.

        `gap` is that of `fairness`, by default the criterion that the model was made for.
        """
        figures: dict[str, Any] = self._native.evaluate(self._table(X), fairness, threshold, require)
        return figures

    def _predict(self, X: Table) -> tuple[Floats, Floats, NDArray[np.uint8]]:
        score, probability, selected, notes = self._native.predict(self._table(X))
        for note in notes:
            warnings.warn(note, EquipoiseWarning, stacklevel=3)
        return (np.frombuffer(score), np.frombuffer(probability), np.frombuffer(selected, dtype=np.uint8))

    def _table(self, X: Table) -> Any:
        return to_native(X, self._names(X))

    def _names(self, X: Table) -> Sequence[str] | None:
        """The columns of a NumPy array: the features, then the sensitive columns if the model needs them."""
        if not isinstance(X, np.ndarray):
            return None
        schema = self.schema
        features = list(schema.features)
        with_groups = features + [name for name in schema.sensitive if name not in features]
        return features if schema.blind and X.shape[-1] == len(features) else with_groups

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> Any:
        return (Model, (self.to_json(),))

    def __repr__(self) -> str:
        return f"<Model of {self.schema.label}, {len(self._native.theta())} coefficients>"
