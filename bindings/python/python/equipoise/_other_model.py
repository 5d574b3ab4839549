"""Models of other kinds: any scikit-learn classifier, trained on the weighted proxies."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import _core
from ._errors import SolveError
from ._tables import Table
from .metrics import GapFrame

# The rows among which each criterion compares rates, by their label; None: all rows.
_CONDITIONS: dict[str, tuple[bool | None, ...]] = {
    "sp": (None,),
    "eo": (True,),
    "fpr": (False,),
    "equalized-odds": (True, False),
}
_RATES = {None: "selection_rate", True: "true_positive_rate", False: "false_positive_rate"}


class OtherModel:
    """A classifier with a threshold on its probability for each group."""

    estimator: Any
    thresholds: NDArray[np.float64]
    figures: dict[str, Any]
    warnings: list[str]

    @classmethod
    def fit(cls, estimator: Any, server: Any, proxies: Any, trusted: Any) -> "OtherModel":
        """Train on the proxies, choose thresholds there, and measure on the root."""
        model = cls()
        native = server.schema_._native
        parts = [(_encoded(native.encode_proxy, table), server.weights_[client]) for client, table in _tables(proxies)]
        parts = [(rows, weight) for rows, weight in parts if weight > 0.0]
        if not parts:
            raise SolveError("no client has any weight, so there are no rows to train the estimator on")
        x = np.concatenate([features(native, *rows[:2]) for rows, _ in parts])
        groups = np.concatenate([rows[1] for rows, _ in parts])
        positive = np.concatenate([rows[2] for rows, _ in parts])
        # The rows of a client share its weight, whatever their number, as in the average of the clients' models.
        n_rows = len(positive)
        weights = np.concatenate([np.full(len(rows[1]), weight * n_rows / len(rows[1])) for rows, weight in parts])
        model.estimator = clone(estimator).fit(x, positive.astype(np.int64), sample_weight=weights)
        model.thresholds = np.full(len(server.schema_.groups), 0.5)
        if not native.blind():
            model._choose_thresholds(x, groups, positive, weights, server.fairness)
        model._measure(server, trusted)
        return model

    def _choose_thresholds(self, x: Any, groups: Any, positive: Any, weights: Any, fairness: str) -> None:
        """Thresholds that give every group the rate of all rows on the proxies."""
        probability = self.estimator.predict_proba(x)[:, 1]
        # A mixture is led by its first criterion, and equalised odds by the true positive rate.
        condition = _conditions(fairness)[0]
        among = np.ones(len(x), dtype=bool) if condition is None else positive == condition
        selected = probability > 0.5
        rate = np.average(selected[among], weights=weights[among]) if among.any() else 0.5
        for group in range(len(self.thresholds)):
            rows = among & (groups == group)
            if rows.any():
                self.thresholds[group] = _weighted_quantile(probability[rows], weights[rows], 1.0 - rate)

    def _measure(self, server: Any, trusted: Any) -> None:
        """Figures of both models on all root rows, and a warning if this one has the larger gap."""
        native = server.schema_._native
        x, groups, positive = _encoded(lambda rows: native.encode_trusted(rows)[1], trusted)
        linear_scores = features(native, x, groups) @ server.coef_[0] + server.intercept_[0]
        names = np.array(server.schema_.groups)[groups]
        self.figures = {}
        for name, selected in [
            ("linear", linear_scores > 0.0),
            ("estimator", self._scores(native, x, groups) > 0.0),
        ]:
            frame = GapFrame(positive, selected, sensitive_features=names, pos_label=True)
            gaps = [frame.difference()[_RATES[condition]] for condition in _conditions(server.fairness)]
            worst = max((gap for gap in gaps if gap is not None), default=None)
            self.figures[name] = {"accuracy": frame.overall["accuracy"], "gap": worst}
        self.warnings = []
        gap, linear = (self.figures[name]["gap"] for name in ("estimator", "linear"))
        if gap is not None and linear is not None and gap.value > linear.value:
            self.warnings.append(
                f"the estimator is less fair on the root than the linear model: its worst gap is {gap.value:.3f} "
                f"[{gap.low:.3f}, {gap.high:.3f}], that of the linear model {linear.value:.3f} "
                f"[{linear.low:.3f}, {linear.high:.3f}]"
            )

    def _scores(self, native: _core.Schema, x: Any, groups: Any) -> NDArray[np.float64]:
        """Probability minus the threshold of the row's group."""
        probability: NDArray[np.float64] = self.estimator.predict_proba(features(native, x, groups))[:, 1]
        scores: NDArray[np.float64] = probability - self.thresholds[groups]
        return scores

    def decision_function(self, server: Any, X: Table) -> NDArray[np.float64]:
        """Above 0 for rows that are selected."""
        x, groups, _ = _encoded(server.schema_._native.encode_features, server.model_._table(X))
        return self._scores(server.schema_._native, x, groups)

    def predict_proba(self, server: Any, X: Table) -> NDArray[np.float64]:
        """The classifier's probabilities."""
        native = server.schema_._native
        x, groups, _ = _encoded(native.encode_features, server.model_._table(X))
        probabilities: NDArray[np.float64] = self.estimator.predict_proba(features(native, x, groups))
        return probabilities


def features(native: _core.Schema, x: Any, groups: Any) -> NDArray[np.float64]:
    """The encoded features, and indicators of the groups but the first unless the model is blind."""
    if native.blind():
        return np.asarray(x)
    n_groups = len(native.groups()[0])
    return np.column_stack([x, *(groups == group for group in range(1, n_groups))]).astype(np.float64)


def _conditions(fairness: str) -> tuple[bool | None, ...]:
    """The conditions of a criterion or of a mixture such as sp:0.5,eo:0.5."""
    names = [part.partition(":")[0].strip() for part in fairness.split(",")]
    return tuple(dict.fromkeys(condition for name in names for condition in _CONDITIONS[name]))


def _tables(clients: Any) -> list[tuple[str, Any]]:
    if not isinstance(clients, str):
        return list(clients)
    files = (name for name in sorted(os.listdir(clients)) if not name.startswith((".", "README")))
    return [(_client(name), os.path.join(clients, name)) for name in files]


def _client(file: str) -> str:
    for extension in (".csv.gz", ".csv", ".parquet"):
        if file.lower().endswith(extension):
            return file[: -len(extension)]
    return file


def _encoded(encode: Any, table: Any) -> tuple[Any, Any, Any]:
    x, groups, positive = (np.frombuffer(part, dtype=kind) for part, kind in zip(encode(table), "dBB", strict=True))
    return x.reshape(len(groups), -1), groups, positive.astype(bool)


def _weighted_quantile(values: Any, weights: Any, share: float) -> float:
    """The smallest value that at least `share` of the weight does not exceed; below all values for a share of 0."""
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order]) / weights.sum()
    at = int(np.searchsorted(cumulative, share - 1e-12))
    if share <= 0.0:
        return float(values[order[0]]) - 1e-9
    return float(values[order[min(at, len(order) - 1)]])
