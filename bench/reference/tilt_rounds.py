"""Weights of the reference implementation of the defense `tilt` (NumPy) on made-up rounds, for the tests of the Rust one.

python3 bench/reference/tilt_rounds.py FOLDER > crates/equipoise-core/src/defense/tilt/rounds.json

FOLDER holds the reference: tilt.py and nat_lab.py, which are not in this repository. Rows and models come from an integer generator and plain
arithmetic, so that `defense/tilt/tests/rounds.rs` makes the same ones to the last bit. Nothing is fitted: the models are made up too.
"""

import json
import sys

import numpy as np

D = 5  # features: x0 differs between the groups, x4 is a rare indicator


class Draw:
    def __init__(self, seed):
        self.state = seed * 7919 + 12345

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**53

    def normal(self):
        return (self.uniform() + self.uniform() + self.uniform() + self.uniform() - 2.0) * 1.75


def table(draw, n, groups, gap):
    x, s, y = [], [], []
    for _ in range(n):
        g = int(draw.uniform() * groups)
        row = [draw.normal() for _ in range(D - 1)] + [1.0 if draw.uniform() < 0.02 else 0.0]
        row[0] += gap * g / (groups - 1)
        t = 1.5 * (0.8 * row[0] + 0.7 * row[1] - 0.4 * row[2] + 0.5 * row[4])
        p = 0.5 + 0.5 * t / (1.0 + (t if t > 0 else -t))
        x.append(row), s.append(g), y.append(1.0 if draw.uniform() < p else -1.0)
    s = np.array(s)
    return np.c_[np.array(x), np.eye(groups)[s][:, 1:], np.ones(n)], s, np.array(y)


def model(draw, groups, gap, kind):
    """x0..x4, the indicators of groups 1, 2, ..., intercept."""
    theta = [b + 0.12 * draw.normal() for b in (0.8, 0.7, -0.4, 0.0, 0.5)]
    theta += [0.1 * draw.normal() - 0.8 * gap * g / (groups - 1) for g in range(1, groups)] + [0.1 * draw.normal() - 0.1]
    last = D + groups - 2
    if kind == "raw":
        theta[last] += 0.8 * gap + 0.6
    elif kind == "flip":
        theta = [-t for t in theta]
    elif kind == "useless":
        theta = [draw.normal() for _ in theta]
    elif kind == "whisper":
        theta = [0.000001 * 0.02 * t for t in theta]
        theta[last] += 0.000001
    elif kind == "constant":
        theta = [0.0 for _ in theta[:-1]] + [1000.0]
    elif kind == "rare":
        theta[4] = -40.0
    elif kind == "loud":
        theta = [1000.0 * t for t in theta]
        theta[last] += 500.0
    return theta


# seed, clients, groups, criterion, kind of the first clients, number of these, trusted rows and proxy rows of a client, gap
ROUNDS = [
    (1, 6, 2, "sp", "none", 0, 40, 900, 0.0), (2, 6, 2, "sp", "raw", 3, 40, 900, 1.0), (3, 6, 2, "sp", "flip", 2, 60, 300, 0.5),
    (4, 6, 2, "sp", "useless", 2, 40, 900, 0.8), (5, 6, 2, "sp", "whisper", 4, 60, 900, 0.0), (6, 6, 2, "sp", "constant", 1, 60, 900, 1.0),
    (7, 6, 2, "sp", "rare", 1, 30, 900, 0.0), (8, 6, 2, "sp", "loud", 2, 40, 900, 0.6), (9, 12, 2, "sp", "raw", 7, 20, 1500, 1.2),
    (10, 3, 2, "sp", "none", 0, 25, 900, 0.9), (11, 6, 2, "eo", "none", 0, 60, 900, 0.5), (12, 6, 2, "eo", "raw", 3, 60, 900, 1.0),
    (13, 6, 2, "eo", "flip", 2, 40, 300, 0.4), (14, 6, 2, "eo", "useless", 2, 40, 900, 0.8), (15, 6, 2, "eo", "whisper", 3, 60, 900, 0.0),
    (16, 12, 2, "eo", "raw", 6, 25, 1500, 0.7), (17, 5, 2, "eo", "rare", 2, 40, 900, 0.3), (18, 6, 2, "eodds", "none", 0, 60, 900, 0.5),
    (19, 6, 2, "eodds", "raw", 3, 60, 900, 1.0), (20, 8, 2, "eodds", "loud", 3, 60, 1500, 0.4), (21, 6, 4, "sp", "none", 0, 80, 900, 0.5),
    (22, 6, 4, "sp", "raw", 3, 80, 900, 1.0), (23, 6, 4, "sp", "whisper", 3, 80, 900, 0.0), (24, 6, 4, "eo", "raw", 2, 80, 900, 0.8),
    (25, 6, 4, "eo", "flip", 2, 80, 300, 0.4), (26, 6, 4, "eodds", "raw", 3, 80, 900, 0.9), (27, 6, 4, "eodds", "useless", 2, 80, 900, 0.5),
    (28, 6, 2, "sp", "raw", 6, 60, 900, 1.0), (29, 1, 2, "sp", "none", 0, 200, 900, 0.5), (30, 20, 2, "sp", "raw", 8, 15, 2500, 0.8),
    (31, 7, 2, "sp", "raw", 5, 120, 900, 2.0), (32, 6, 3, "eo", "rare", 2, 60, 900, 0.5), (33, 6, 2, "sp", "unfair-but-one", 5, 100, 900, 2.0),
]


def make(L, seed, K, groups, metric, kind, n_bad, n_root, n_rows, gap):
    draw = Draw(seed)
    roots = [table(draw, n_root, groups, gap) for _ in range(K)]
    proxies = [table(draw, n_rows + 10 * c, groups, gap) for c in range(K)]
    if kind == "unfair-but-one":  # the fair one knows next to nothing
        thetas = [model(draw, groups, gap, "raw" if c < n_bad else "useless") for c in range(K)]
        thetas[-1] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.05]
    else:
        thetas = [model(draw, groups, gap, kind if c < n_bad else "none") for c in range(K)]
    root = [np.concatenate([r[j] for r in roots]) for j in range(3)] + [np.repeat(np.arange(K), n_root)]
    sv = L.Server(proxies, [np.array(t) for t in thetas], root, "sp")
    sv.metric = metric
    return sv


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import nat_lab as L
    import tilt as E

    out = []
    for spec in ROUNDS:
        sv, info = make(L, *spec), {}
        w, theta = E.server(sv, info)
        named = dict(zip(("seed", "clients", "groups", "criterion", "kind", "unreliable", "root_rows", "proxy_rows", "gap"), spec))
        digits = lambda v: [float(f"{x:.12g}") for x in v]
        out.append({**named, "useful": digits(info["useful"]), "shift": digits(info["shift"]), "weights": digits(w), "theta": digits(theta),
                    "came_back": bool(info.get("came_back", False)), "limited": len(info["limited"]),
                    "levels": digits([c["level"] for c in info["contrasts"]]), "guard": E.guard(sv, theta)[0]})
        print(spec, np.round(w, 3), out[-1]["came_back"], out[-1]["limited"], out[-1]["guard"], file=sys.stderr)
    print("[\n" + ",\n".join(json.dumps(o) for o in out) + "\n]")
