"""Reference factors, solutions and projections for `linalg`: python3 linalg.py > linalg.json

Factors and projections are NumPy's (LAPACK). The solutions of Hilbert systems are exact: they are computed in rationals.
Made with NumPy 2.4.6.
"""
import json
from fractions import Fraction

import numpy as np


def triangle(a):
    return [float(a[i, j]) for i in range(len(a)) for j in range(i + 1)]


def factored(name, a, b):
    factor = np.linalg.cholesky(a)
    x = np.linalg.solve(a, b)
    return {"name": name, "n": len(a), "triangle": triangle(a), "b": b.tolist(), "lower": triangle(factor), "x": x.tolist()}


def random_spd(rng, n):
    g = rng.normal(size=(n, n + 3))
    return g @ g.T / n + 0.1 * np.eye(n)


def hilbert(n):
    """The exact solution for b = (1, …, 1), by Gauss-Jordan elimination."""
    rows = [[Fraction(1, i + j + 1) for j in range(n)] + [Fraction(1)] for i in range(n)]
    for k in range(n):
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [v - rows[i][k] * u for v, u in zip(rows[i], rows[k])]
    return {"n": n, "x": [float(row[n]) for row in rows]}


def projection(name, a):
    values, vectors = np.linalg.eigh(a)
    kept = vectors[:, values > 1e-10 * values.max()]
    return {"name": name, "n": len(a), "triangle": triangle(a), "projection": (kept @ kept.T).ravel().tolist()}


rng = np.random.default_rng(1)
levels = np.eye(3)[rng.integers(0, 3, size=50)]
data = np.column_stack([rng.normal(size=(50, 2)), levels, np.full(50, 3.0), rng.normal(size=50) * 100])
low_rank = rng.normal(size=(9, 4))
orthogonal = np.linalg.qr(rng.normal(size=(6, 6)))[0]
grades = 10.0 ** np.array([-6, -3, -1, 0, 2, 4, 6])
print(json.dumps({
    "factored": [
        factored("one entry", np.array([[2.0]]), np.array([3.0])),
        factored("random", random_spd(rng, 13), rng.normal(size=13)),
        factored("graded", grades[:, None] * random_spd(rng, 7) * grades, grades * rng.normal(size=7)),
    ],
    "hilbert": [hilbert(n) for n in (3, 6, 9)],
    "projections": [
        projection("one-hot columns and a constant", np.cov(data.T, bias=True)),
        projection("rank 4 of 9", low_rank @ low_rank.T),
        projection("eigenvalues around the limit", orthogonal * [1.0, 1e-3, 1e-9, 1e-11, 1e-13, 0.0] @ orthogonal.T),
    ],
}, indent=1))
