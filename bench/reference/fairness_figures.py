"""Reference figures for rates, gaps, AUC and intervals, by independent programs.

    python3 -m venv .venv && .venv/bin/pip install -r bench/reference/requirements.txt
    .venv/bin/python bench/reference/fairness_figures.py > crates/equipoise-core/tests/fixtures/fairness_figures.json

Rates, gaps and ratios are fairlearn's, AUC and balanced accuracy scikit-learn's, Wilson and Newcombe limits
statsmodels', exact limits and quantiles SciPy's. Predictions are listed row by row, so that other tests can use
them: `score` is the probability of the positive label, `selected` is 1 where it exceeds 0.5.
"""
import json
import sys

import numpy as np
from fairlearn.metrics import (
    MetricFrame, count, demographic_parity_difference, demographic_parity_ratio, equal_opportunity_difference,
    equal_opportunity_ratio, equalized_odds_difference, false_positive_rate, selection_rate, true_negative_rate,
    true_positive_rate,
)
from scipy import optimize, stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint


def table(name, seed, shares, shifts):
    """Rows of groups with different base rates and scores. Scores have two decimals, so some are tied."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(shares)), shares)
    logit = rng.normal(np.array(shifts)[group], 1.3)
    score = np.round(1 / (1 + np.exp(-logit)), 2)
    label = (rng.random(len(group)) < 1 / (1 + np.exp(-1.2 * logit + 0.2))).astype(int)
    return {
        "name": name, "n_groups": len(shares), "group": group.tolist(), "label": label.tolist(),
        "score": score.tolist(), "selected": (score > 0.5).astype(int).tolist(),
    }


def base_rate(y_true, y_pred):
    return float(np.mean(y_true))


def figures(rows):
    y, selected, group = (np.array(rows[key]) for key in ("label", "selected", "group"))
    score = np.array(rows["score"])
    metrics = {
        "rows": count, "base_rate": base_rate, "selection_rate": selection_rate,
        "true_positive_rate": true_positive_rate, "false_positive_rate": false_positive_rate,
        "true_negative_rate": true_negative_rate, "accuracy": accuracy_score,
        "balanced_accuracy": balanced_accuracy_score,
    }
    frame = MetricFrame(metrics=metrics, y_true=y, y_pred=selected, sensitive_features=group)
    soft = MetricFrame(
        metrics={"auc": roc_auc_score, "mean_score": lambda y_true, y_pred: float(np.mean(y_pred))},
        y_true=y, y_pred=score, sensitive_features=group,
    )
    args = {"y_true": y, "y_pred": selected, "sensitive_features": group}
    return {
        "overall": numbers(frame.overall) | numbers(soft.overall),
        "by_group": [
            numbers(frame.by_group.loc[g]) | numbers(soft.by_group.loc[g]) for g in range(rows["n_groups"])
        ],
        "demographic_parity_difference": float(demographic_parity_difference(**args)),
        "demographic_parity_ratio": float(demographic_parity_ratio(**args)),
        "equal_opportunity_difference": float(equal_opportunity_difference(**args)),
        "equal_opportunity_ratio": float(equal_opportunity_ratio(**args)),
        "equalized_odds_difference": float(equalized_odds_difference(**args)),
        "false_positive_rate_difference": float(frame.difference()["false_positive_rate"]),
        "auc_variance": delong_variance(y, score),
    }


def numbers(series):
    return {key: float(value) for key, value in series.items()}


def delong_variance(y, score):
    """DeLong's variance of an AUC, straight from the definition: O(m n)."""
    positives, negatives = score[y == 1][:, None], score[y == 0][None, :]
    values = (positives > negatives) + 0.5 * (positives == negatives)
    m, n = values.shape
    return float(values.mean(axis=1).var(ddof=1) / m + values.mean(axis=0).var(ddof=1) / n)


def intervals():
    counts = [(0, 1), (1, 1), (0, 2), (1, 2), (0, 7), (1, 7), (3, 7), (7, 7), (1, 40), (13, 40), (40, 40), (120, 240), (2, 5000), (4321, 60420)]
    pairs = [((0, 3), (3, 3)), ((1, 4), (0, 9)), ((56, 70), (48, 80)), ((9, 10), (3, 10)), ((10, 10), (0, 20)), ((900, 4000), (1, 5))]
    return {
        "rates": [
            {"successes": x, "n": n, "wilson": limits(proportion_confint(x, n, method="wilson")),
             "mid_p": [1 - mid_p_upper(n - x, n), mid_p_upper(x, n)]}
            for x, n in counts
        ],
        "differences": [
            {"a": list(a), "b": list(b),
             "newcombe": limits(confint_proportions_2indep(*a, *b, method="newcomb", compare="diff"))}
            for a, b in pairs
        ],
    }


def mid_p_upper(x, n):
    """The rate at which P(fewer than x) + P(x) / 2 is 2.5 %."""
    if x == n:
        return 1.0
    def excess(p):
        return stats.binom.cdf(x - 1, n, p) + stats.binom.pmf(x, n, p) / 2 - 0.025
    return float(optimize.brentq(excess, 1e-12, 1 - 1e-12, xtol=1e-15, rtol=1e-15))


def limits(pair):
    return [float(v) for v in pair]


def quantiles():
    freedoms = [1, 2, 3, 10, 29, 1000, 1000000]
    points = [-9.5, -4.0, -2.0, -0.3, 0.0, 0.7, 1.96, 3.9, 6.0]
    return {
        "normal_cdf": [[x, float(stats.norm.cdf(x))] for x in points],
        "student_t": [[f, float(stats.t.ppf(0.975, f))] for f in freedoms],
    }


def main():
    tables = [
        table("two groups", 1, [150, 90], [0.7, -0.4]),
        table("three groups", 2, [120, 70, 40], [0.9, 0.1, -0.6]),
    ]
    for rows in tables:
        rows["figures"] = figures(rows)
    json.dump({"tables": tables, "intervals": intervals(), "quantiles": quantiles()}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
