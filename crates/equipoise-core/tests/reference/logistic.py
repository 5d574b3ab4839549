"""Reference models from scikit-learn for the inner fit: python3 logistic.py > logistic.json

Our inner problem, (1/N) sum_c w_c L_c + (lambda / 2 n^2) |theta|^2, times n^2 / lambda is scikit-learn's,
C sum_i weight_i loss_i + |theta|^2 / 2, with C = n^2 / (lambda N) and weight_i = w_c.
Made with scikit-learn 1.9.1.
"""
import json

import numpy as np
from sklearn.linear_model import LogisticRegression


def case(name, seed, rows_per_client, n_x, intercept, weights, lam):
    rng = np.random.default_rng(seed)
    clients = []
    for rows in rows_per_client:
        s = (rng.random(rows) < 0.6).astype(float)
        x = rng.normal(size=(rows, n_x)) + 0.4 * s[:, None]
        score = x @ rng.normal(size=n_x) + 0.5 * s
        y = (score + rng.logistic(size=rows) > 0).astype(float)
        clients.append((x, s, y))
    blocks = [np.column_stack([x, s] + ([np.ones(len(s))] if intercept else [])) for x, s, _ in clients]
    a = np.vstack(blocks)
    y = np.concatenate([c[2] for c in clients])
    w = np.concatenate([np.full(len(c[2]), weight) for c, weight in zip(clients, weights)])
    n, n_rows = a.shape[1], a.shape[0]
    model = LogisticRegression(
        C=n * n / (lam * n_rows) if lam else np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-14, max_iter=500
    ).fit(a, y, sample_weight=w)
    return {
        "name": name,
        "n_x": n_x,
        "intercept": intercept,
        "lambda": lam,
        "weights": weights,
        "clients": [{"x": x.ravel().tolist(), "s": s.tolist(), "y": y.tolist()} for x, s, y in clients],
        "theta": model.coef_.ravel().tolist(),
    }


print(json.dumps([
    case("the paper's lambda", 1, [60, 40], 3, False, [0.5, 0.5], 1e-4),
    case("an intercept and unequal weights", 2, [50, 30, 40], 4, True, [0.2, 0.7, 0.1], 1e-4),
    case("a client of weight zero", 3, [40, 40], 2, True, [1.0, 0.0], 1e-2),
    case("a strong regulariser", 4, [80], 5, False, [1.0], 10.0),
    case("none at all", 5, [120], 3, True, [1.0], 0.0),
], indent=1))
