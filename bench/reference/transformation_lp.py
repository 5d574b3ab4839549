"""Reference values for the linear program of the generator `transformation`, from scipy's HiGHS.

    pip install scipy==1.17.1 && python3 bench/reference/transformation_lp.py > FILE

with FILE = crates/equipoise-core/src/proxy/transformation/mapping/reference.json. Each value is the least distortion of a random
instance: cells on a grid, their shares by label and group, and every group's rate of new positive labels, and a limit on the shift of the
distribution.
"""

import itertools
import json

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array

EXCESS_COST = 100.0


def instance(
    seed: int,
    grid: tuple[int, ...],
    n_groups: int,
    max_distance: int,
    max_shift: float,
) -> dict:
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*map(range, grid)))
    distances = [sum(abs(a - b) for a, b in zip(one, other)) for one in cells for other in cells]
    counts = rng.poisson(rng.gamma(1.0, 30.0, size=(len(cells), 2, n_groups)))
    shares = counts / counts.sum()
    return {
        "n_groups": n_groups,
        "shares": shares.ravel().tolist(),
        "rates": [[group, float(shares[:, 1].sum())] for group in range(n_groups)],
        "distances": distances,
        "max_distance": max_distance,
        "max_shift": max_shift,
    }


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
    n_masses, n_changes = len(masses), 2 * n_cells
    excess = n_masses + n_changes
    n_variables = excess + 1
    sources = {s: row for row, s in enumerate(dict.fromkeys(s for s, _, _ in masses))}
    equal = lil_array((len(sources) + len(case["rates"]), n_variables))
    for column, (s, _, _) in enumerate(masses):
        equal[sources[s], column] = 1
    equal_to = [shares[s] for s in sources]
    for row, (group, rate) in enumerate(case["rates"], len(sources)):
        for column, (s, _, label) in enumerate(masses):
            equal[row, column] = label == 1 and s % n_groups == group
        equal_to.append(rate * shares[group::n_groups].sum())
    below, at_most = lil_array((2 * n_changes + 1, n_variables)), []
    before = shares.reshape(n_cells * 2, n_groups).sum(axis=1)
    for change in range(n_changes):
        row = 2 * change
        for column, (_, to, label) in enumerate(masses):
            if 2 * to + label == change:
                below[row, column], below[row + 1, column] = 1, -1
        below[row, n_masses + change] = below[row + 1, n_masses + change] = -1
        at_most += [before[change], -before[change]]
        below[2 * n_changes, n_masses + change] = 0.5
    below[2 * n_changes, excess] = -1
    at_most.append(case["max_shift"])
    objective = np.array(cost + [0] * n_changes + [EXCESS_COST], dtype=float)
    found = linprog(objective, below.tocsr(), at_most, equal.tocsr(), equal_to, method="highs")
    assert found.status == 0, found.message
    return float(objective[:n_masses] @ found.x[:n_masses])


def main() -> None:
    cases = [
        instance(1, (2,), 2, 1, 0.05),
        instance(4, (4, 3), 2, 1, 0.0),
        instance(6, (4, 4), 4, 1, 0.05),
        instance(8, (4, 4, 2), 4, 1, 0.01),
        instance(9, (2, 2), 2, 0, 0.0),
    ]
    values = [case | {"distortion": distortion(case)} for case in cases]
    print("[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]")


if __name__ == "__main__":
    main()
