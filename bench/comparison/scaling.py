"""Solve time by rows, features, clients and threads."""

import statistics

from .environment import say
from .machine import memory_bytes
from .plan import MIN_MEMORY, GROWTH_ROWS, LARGE_GROWTH, OURS_GAUSS_NEWTON
from .wording import claim, growth, seconds, table

REPEATS, BUDGET = 5, 15
TITLE = "## Scaling\n"
HELD = {"rows": 100_000, "features": 16, "clients": 5}


def held(options):
    """The sizes that stay fixed while another one varies."""
    return {**HELD, "rows": 10_000} if options.quick else HELD


def axes(options):
    """The sizes that vary, and their values."""
    if options.quick:
        return {"rows": [1_000, 10_000], "features": [4, 16], "clients": [2, 20]}
    large = [10_000_000] if memory_bytes() >= MIN_MEMORY else []
    return {
        "rows": [10_000, 30_000, 100_000, 300_000, 1_000_000] + large,
        "features": [4, 8, 16, 32, 64],
        "clients": [2, 5, 20, 100, 300, 1_000],
    }


def measure(env, options):
    """A point per size and number of threads."""
    points = []
    for axis, values in axes(options).items():
        for value in values:
            sizes = {**held(options), axis: value}
            say("scaling: " + ", ".join(f"{size:,} {name}" for name, size in sizes.items()))
            threads = sorted({1, env.threads})
            answers = env.example("scaling", OURS_GAUSS_NEWTON, *sizes.values(), REPEATS, BUDGET, *threads)
            for answer in answers:
                answer.update(axis=axis, value=value, median=statistics.median(answer["seconds"]))
                points.append(answer)
    return {"points": points, "held": held(options)}


def section(answer):
    """The chart, and a table per axis."""
    grown, sizes = answer["points"], answer["held"]
    parts = [
        TITLE,
        "Gauss–Newton with default settings on synthetic rows (`crates/equipoise-lab/examples/scaling.rs`): "
        f"{sizes['rows']:,} rows, {sizes['features']} features and {sizes['clients']} clients, unless stated otherwise. Each size is a different problem and needs a different "
        "number of passes. A pass over all rows with Hessians is timed separately.\n",
        "![Solve time by rows, features and clients, with one thread and with two](scaling.svg)\n",
    ]
    max_threads = max(point["threads"] for point in grown)
    for axis in dict.fromkeys(point["axis"] for point in grown):
        own = [point for point in grown if point["axis"] == axis]
        one = {point["value"]: point for point in own if point["threads"] == 1}
        all_threads = {point["value"]: point for point in own if point["threads"] == max_threads}
        rows = [size(value, one[value], all_threads[value]) for value in one]
        columns = [f">{axis}", ">1 thread", f">{max_threads} threads", ">speed-up", ">passes", ">pass, all threads", ">pass, per row", "stopped"]
        parts.append(table(columns, rows) + "\n")
    return "\n".join(parts)


def check(answer):
    """Growth with the number of rows, with few clients and all threads."""
    min_rows, max_rows = GROWTH_ROWS
    grown = answer.get("points", [])
    sizes = answer.get("held", HELD)
    limit = (f"{sizes['clients']} clients: time of a solve per row, {max_rows:,} rows against {min_rows:,}", growth(LARGE_GROWTH))
    few, many = (of_size(grown, {**sizes, "rows": rows}) for rows in (min_rows, max_rows))
    if not few or not many:
        return [claim(*limit)]
    ratio = (statistics.median(many) / max_rows) / (statistics.median(few) / min_rows)
    measured = f"{ratio:.2f}×: {seconds(statistics.median(few))} and {seconds(statistics.median(many))}"
    return [claim(*limit, measured, abs(ratio - 1) <= LARGE_GROWTH)]


def of_size(grown, sizes):
    """The times of all solves of this size with all threads. A size can be on several axes."""
    threads = max((point["threads"] for point in grown), default=0)
    own = [p for p in grown if p["threads"] == threads and all(p[name] == size for name, size in sizes.items())]
    return [second for point in own for second in point["seconds"]]


def size(value, one, many):
    """A row of a table: one thread against many."""
    passes = many["counts"]["passes"]
    speed_up = f"{one['median'] / many['median']:.2f}×"
    per_pass = statistics.median(many["pass_seconds"])
    cells = [f"{value:,}", seconds(one["median"]), seconds(many["median"]), speed_up]
    return cells + [f"{passes:,}", seconds(per_pass), seconds(per_pass / many["rows"]), many["termination"]]
