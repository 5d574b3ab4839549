"""Reference values for the linear program of the generator `transformation`, from scipy's HiGHS.

    pip install scipy==1.17.1 && python3 bench/reference/transformation_lp.py > FILE

with FILE = crates/equipoise-core/src/proxy/transformation/mapping/reference.json. Each value is the least distortion of a random
instance: cells on a grid, their shares by label and group, and limits on discrimination, among all people or those of one label, and on the shift
of the distribution.
"""

import itertools
import json

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array

EXCESS_COST = 100.0
UNFAIR_COST = 10_000.0

# Which labels count.
CONDITIONS = {"all": [0, 1], "positives": [1], "negatives": [0]}


def instance(
    seed: int,
    grid: tuple[int, ...],
    n_groups: int,
    max_gap: float,
    max_distance: int,
    max_shift: float,
    conditions: tuple[str, ...] = ("all",),
) -> dict:
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*map(range, grid)))
    distances = [sum(abs(a - b) for a, b in zip(one, other)) for one in cells for other in cells]
    counts = rng.poisson(rng.gamma(1.0, 30.0, size=(len(cells), 2, n_groups)))
    shares = counts / counts.sum()
    return {
        "n_groups": n_groups,
        "shares": shares.ravel().tolist(),
        "limits": [limit for name in conditions for limit in limits(shares, CONDITIONS[name], max_gap)],
        "distances": distances,
        "max_distance": max_distance,
        "max_shift": max_shift,
    }


def limits(shares: np.ndarray, labels: list[int], max_gap: float) -> list[dict]:
    """Every group's rate must be that of all people together, who are judged by their own group's cells."""
    counted = shares[:, labels].sum(axis=1)  # by cell and group
    positive = shares[:, 1] / np.maximum(shares.sum(axis=1), 1e-300)
    rate = float((counted * positive).sum() / counted.sum())
    by_group = (counted / counted.sum(axis=0)).T
    return [{"group": g, "cells": cells.tolist(), "rate": rate, "max_gap": max_gap} for g, cells in enumerate(by_group)]


def distortion(case: dict) -> float:
    n_groups, shares = case["n_groups"], np.array(case["shares"])
    n_cells = len(shares) // (2 * n_groups)
    distances = np.array(case["distances"]).reshape(n_cells, n_cells)
    masses = [
        (source, to, label)
        for source in np.flatnonzero(shares > 0)
        for to in range(n_cells)
        if distances[source // n_groups // 2, to] <= case["max_distance"]
        for label in (0, 1)
    ]
    cost = [distances[s // n_groups // 2, to] + (label != s // n_groups % 2) for s, to, label in masses]
    n_masses, n_changes, n_limits = len(masses), 2 * n_cells, len(case["limits"])
    excess = n_masses + n_changes
    n_variables = excess + 1 + 2 * n_limits
    sources = {s: row for row, s in enumerate(dict.fromkeys(s for s, _, _ in masses))}
    equal = lil_array((len(sources), n_variables))
    for column, (s, _, _) in enumerate(masses):
        equal[sources[s], column] = 1
    equal_to = [shares[s] for s in sources]
    below, at_most = lil_array((2 * n_limits + 2 * n_changes + 1, n_variables)), []
    of_cell = shares.reshape(n_cells, 2, n_groups).sum(axis=1)
    for number, limit in enumerate(case["limits"]):
        for column, (s, _, label) in enumerate(masses):
            cell, group = s // n_groups // 2, s % n_groups
            if label == 1 and group == limit["group"]:
                share = limit["cells"][cell] / of_cell[cell, group]
                below[2 * number, column], below[2 * number + 1, column] = share, -share
        below[2 * number, excess + 1 + 2 * number] = below[2 * number + 1, excess + 2 + 2 * number] = -1
        at_most += [limit["rate"] + limit["max_gap"], -(limit["rate"] - limit["max_gap"])]
    before = shares.reshape(n_cells * 2, n_groups).sum(axis=1)
    for change in range(n_changes):
        row = 2 * n_limits + 2 * change
        for column, (_, to, label) in enumerate(masses):
            if 2 * to + label == change:
                below[row, column], below[row + 1, column] = 1, -1
        below[row, n_masses + change] = below[row + 1, n_masses + change] = -1
        at_most += [before[change], -before[change]]
        below[2 * n_limits + 2 * n_changes, n_masses + change] = 0.5
    below[2 * n_limits + 2 * n_changes, excess] = -1
    at_most.append(case["max_shift"])
    objective = np.array(cost + [0] * n_changes + [EXCESS_COST] + [UNFAIR_COST] * 2 * n_limits, dtype=float)
    found = linprog(objective, below.tocsr(), at_most, equal.tocsr(), equal_to, method="highs")
    assert found.status == 0, found.message
    return float(objective[:n_masses] @ found.x[:n_masses])


def main() -> None:
    cases = [
        instance(1, (2,), 2, 0.0, 1, 0.05),
        instance(2, (3, 2), 2, 0.02, 1, 0.05),
        instance(3, (4, 2), 3, 0.01, 1, 0.02),
        instance(4, (4, 3), 2, 0.0, 1, 0.0),
        instance(5, (4, 2, 2), 2, 0.05, 2, 0.01),
        instance(6, (4, 4), 4, 0.0, 1, 0.05),
        instance(7, (4, 4, 2), 2, 0.01, 1, 0.05),
        instance(8, (4, 4, 2), 4, 0.0, 1, 0.01),
        instance(9, (2, 2), 2, 0.0, 0, 0.0),
        instance(10, (2,), 2, 0.0, 1, 0.05, ("positives",)),
        instance(11, (4, 2), 3, 0.01, 1, 0.02, ("positives",)),
        instance(12, (4, 4, 2), 2, 0.0, 1, 0.05, ("positives",)),
        instance(13, (3, 2), 2, 0.02, 1, 0.0, ("negatives",)),
        instance(14, (4, 4), 4, 0.0, 1, 0.05, ("negatives",)),
        instance(15, (3, 3), 2, 0.0, 1, 0.05, ("positives", "negatives")),
        instance(16, (4, 2, 2), 3, 0.01, 1, 0.02, ("positives", "negatives")),
        instance(17, (2,), 3, 0.0, 1, 0.0, ("positives", "negatives")),
        instance(18, (4, 3), 2, 0.0, 1, 0.05, ("all", "positives")),
    ]
    values = [case | {"distortion": distortion(case)} for case in cases]
    print("[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]")


if __name__ == "__main__":
    main()
