"""Rates of groups and their gaps, with 95 % intervals."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._rows import _sensitive_table

__all__ = ["Estimate", "GapFrame"]


class Estimate(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


class GapFrame:
    """The rates of a classifier on each group, their differences and their ratios, with 95 % intervals.

    The figures are those of fairlearn's `MetricFrame`. Rates: `selection_rate`, `true_positive_rate`,
    `false_positive_rate`, `accuracy` and `base_rate`, the share of positive labels. A figure is None if no row decides it.
    """

    RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "base_rate")

    def __init__(
        self, y_true: ArrayLike, y_pred: ArrayLike, *, sensitive_features: Any, pos_label: object = 1
    ) -> None:
        truth = np.asarray(y_true).reshape(-1) == pos_label
        selected = np.asarray(y_pred).reshape(-1) == pos_label
        names = _group_names(sensitive_features)
        if not len(truth) == len(selected) == len(names):
            raise ValueError(
                f"y_true, y_pred and sensitive_features need the same length, found {len(truth)}, {len(selected)} "
                f"and {len(names)}"
            )
        if len(truth) == 0:
            raise ValueError("there are no rows")
        self.groups, index = np.unique(names, return_inverse=True)
        conditions = {
            "selection_rate": (np.ones_like(truth), selected),
            "true_positive_rate": (truth, selected),
            "false_positive_rate": (~truth, selected),
            "accuracy": (np.ones_like(truth), truth == selected),
            "base_rate": (np.ones_like(truth), truth),
        }
        n_groups = len(self.groups)
        self._figures = {}
        for name, (among, success) in conditions.items():
            n = np.bincount(index[among], minlength=n_groups)
            successes = np.bincount(index[among & success], minlength=n_groups)
            cells = list(zip(successes.tolist(), n.tolist(), strict=True))
            self._figures[name] = _core.gap_figures(cells)

    @property
    def overall(self) -> dict[str, Estimate | None]:
        """The rates of all rows."""
        return {name: _estimate(figures[1]) for name, figures in self._figures.items()}

    @property
    def by_group(self) -> dict[str, dict[str, Estimate | None]]:
        """The rates of each group."""
        return {
            str(group): {name: _estimate(figures[0][i]) for name, figures in self._figures.items()}
            for i, group in enumerate(self.groups)
        }

    def difference(self) -> dict[str, Estimate | None]:
        """The largest difference of each rate between two groups. The interval allows for the choice of the two."""
        return {name: _estimate(figures[2]) for name, figures in self._figures.items()}

    def ratio(self) -> dict[str, Estimate | None]:
        """The lowest rate of a group as a share of the highest."""
        return {name: _estimate(figures[3]) for name, figures in self._figures.items()}

    def to_frame(self) -> Any:
        """The rates of each group as a pandas DataFrame."""
        import pandas

        def value(estimate: Estimate | None) -> float:
            return float("nan") if estimate is None else estimate.value

        rows = {
            group: {name: value(estimate) for name, estimate in rates.items()}
            for group, rates in self.by_group.items()
        }
        return pandas.DataFrame.from_dict(rows, orient="index", columns=list(self.RATES))

    def __repr__(self) -> str:
        gaps = {name: round(gap.value, 3) for name, gap in self.difference().items() if gap is not None}
        return f"<GapFrame of {len(self.groups)} groups, differences {gaps}>"


def _group_names(sensitive_features: Any) -> np.ndarray[Any, Any]:
    """The group of each row; combinations of several columns are joined."""
    table = _sensitive_table(sensitive_features)
    columns = [np.asarray(table[name]).astype(str) for name in (table if isinstance(table, dict) else table.columns)]
    names = columns[0]
    for column in columns[1:]:
        names = np.char.add(np.char.add(names, ", "), column)
    return names


def _estimate(figure: tuple[float, float, float] | None) -> Estimate | None:
    return None if figure is None else Estimate(*figure)
