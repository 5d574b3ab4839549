"""How our time grows with rows, features, clients and threads."""

import statistics

from .environment import say

REPEATS, BUDGET = 5, 15


def held(options):
    """Sizes of what does not grow."""
    return {"rows": 10_000 if options.quick else 100_000, "features": 16, "clients": 5}


def axes(options):
    """Name of what grows, and its values."""
    if options.quick:
        return {"rows": [1_000, 10_000], "features": [4, 16], "clients": [2, 20]}
    large = [10_000_000] if options.large else []
    return {
        "rows": [10_000, 30_000, 100_000, 300_000, 1_000_000] + large,
        "features": [4, 8, 16, 32, 64],
        "clients": [2, 5, 20, 100, 300, 1_000],
    }


def measure(env, options):
    """A list of points: what grows, its value, threads, seconds, counts."""
    points = []
    for axis, values in axes(options).items():
        for value in values:
            sizes = {**held(options), axis: value}
            say("scaling: " + ", ".join(f"{size:,} {name}" for name, size in sizes.items()))
            threads = sorted({1, env.threads})
            answers = env.example("scaling", *sizes.values(), REPEATS, BUDGET, *threads)
            for answer in answers:
                answer.update(axis=axis, value=value, median=statistics.median(answer["seconds"]))
                points.append(answer)
    return points
