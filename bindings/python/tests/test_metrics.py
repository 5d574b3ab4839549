"""The figures of GapFrame are those of fairlearn."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.metrics import accuracy_score

from equipoise.metrics import Estimate, GapFrame

RATES = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
    "accuracy": accuracy_score,
}


@pytest.mark.parametrize("n_groups", [2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_figures_agree_with_fairlearn(seed: int, n_groups: int) -> None:
    random = np.random.default_rng(seed)
    truth, predicted = random.integers(0, 2, size=(2, 700))
    group = random.integers(0, n_groups, size=700).astype(str)
    ours = GapFrame(truth, predicted, sensitive_features=group)
    theirs = MetricFrame(metrics=RATES, y_true=truth, y_pred=predicted, sensitive_features=group)
    for name in RATES:
        overall, difference, ratio = ours.overall[name], ours.difference()[name], ours.ratio()[name]
        assert overall is not None and difference is not None and ratio is not None
        assert abs(overall.value - theirs.overall[name]) < 1e-12
        assert abs(difference.value - theirs.difference()[name]) < 1e-12
        assert abs(ratio.value - theirs.ratio()[name]) < 1e-12
        for estimate in (overall, difference, ratio):
            assert estimate.low <= estimate.value <= estimate.high
        for level, figures in ours.by_group.items():
            assert abs(figures[name].value - theirs.by_group[name][level]) < 1e-12
    pd.testing.assert_frame_equal(
        ours.to_frame()[list(RATES)], theirs.by_group[list(RATES)].astype(float), check_names=False, atol=1e-12
    )
    gap = ours.difference()
    labels = {"y_true": truth, "y_pred": predicted, "sensitive_features": group}
    assert abs(gap["selection_rate"].value - demographic_parity_difference(**labels)) < 1e-12
    assert abs(ours.ratio()["selection_rate"].value - demographic_parity_ratio(**labels)) < 1e-12
    worst = max(gap["true_positive_rate"].value, gap["false_positive_rate"].value)
    assert abs(worst - equalized_odds_difference(**labels)) < 1e-12


def test_several_columns_are_combined_and_undecided_rates_are_none() -> None:
    features = pd.DataFrame({"race": ["x", "x", "y", "y"], "sex": ["f", "m", "f", "f"]})
    frame = GapFrame(["yes", "no", "yes", "yes"], ["yes", "no", "no", "yes"], sensitive_features=features, pos_label="yes")
    assert list(frame.by_group) == ["x, f", "x, m", "y, f"]
    assert frame.by_group["x, m"]["true_positive_rate"] is None
    assert isinstance(frame.by_group["y, f"]["selection_rate"], Estimate)
    assert frame.by_group["y, f"]["selection_rate"].value == 0.5
    assert frame.overall["accuracy"].value == 0.75
