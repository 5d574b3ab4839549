"""How our time grows with rows, features, clients and threads."""

import statistics

from .environment import say
from .machine import memory_bytes
from .plan import ENOUGH_MEMORY, GROWTH_ROWS, LARGE_GROWTH
from .wording import claim, growth, seconds, table

REPEATS, BUDGET = 5, 15
TITLE = "## How our time grows\n"
HELD = {"rows": 100_000, "features": 16, "clients": 5}


def held(options):
    """Sizes of what does not grow."""
    return {**HELD, "rows": 10_000} if options.quick else HELD


def axes(options):
    """Name of what grows, and its values."""
    if options.quick:
        return {"rows": [1_000, 10_000], "features": [4, 16], "clients": [2, 20]}
    large = [10_000_000] if memory_bytes() >= ENOUGH_MEMORY else []
    return {
        "rows": [10_000, 30_000, 100_000, 300_000, 1_000_000] + large,
        "features": [4, 8, 16, 32, 64],
        "clients": [2, 5, 20, 100, 300, 1_000],
    }


def measure(env, options):
    """Points: what grows, its value, threads, seconds, counts."""
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
    return {"points": points, "held": held(options)}


def section(answer):
    """A table per axis, and the chart."""
    grown, sizes = answer["points"], answer["held"]
    parts = [
        TITLE,
        "Gauss–Newton with default settings on made-up rows (`crates/equipoise-lab/examples/scaling.rs`); where nothing else is "
        f"said, {sizes['rows']:,} rows, {sizes['features']} features, {sizes['clients']} clients. Each size is another problem and takes another number of passes; "
        "a pass, one over all rows with Hessians, is timed by itself.\n",
        "![Seconds of a solve over rows, features and clients, with one thread and with two](scaling.svg)\n",
    ]
    most = max(point["threads"] for point in grown)
    for axis in dict.fromkeys(point["axis"] for point in grown):
        own = [point for point in grown if point["axis"] == axis]
        one = {point["value"]: point for point in own if point["threads"] == 1}
        all_threads = {point["value"]: point for point in own if point["threads"] == most}
        rows = [size(value, one[value], all_threads[value]) for value in one]
        columns = [f">{axis}", ">1 thread", f">{most} threads", ">gain", ">passes", ">pass, all threads", ">pass, per row", "stopped"]
        parts.append(table(columns, rows) + "\n")
    return "\n".join(parts)


def check(answer):
    """Growth with rows where clients are few, with all threads."""
    least, most = GROWTH_ROWS
    grown = answer.get("points", [])
    sizes = answer.get("held", HELD)
    words = (f"{sizes['clients']} clients: time of a whole solve per row, {most:,} rows against {least:,}", growth(LARGE_GROWTH))
    few, many = (of_size(grown, {**sizes, "rows": rows}) for rows in (least, most))
    if not few or not many:
        return [claim(*words)]
    ratio = (statistics.median(many) / most) / (statistics.median(few) / least)
    measured = f"{ratio:.2f}×: {seconds(statistics.median(few))} and {seconds(statistics.median(many))}"
    return [claim(*words, measured, abs(ratio - 1) <= LARGE_GROWTH)]


def of_size(grown, sizes):
    """Seconds of all solves of this size with all threads: a size may be on several axes."""
    threads = max((point["threads"] for point in grown), default=0)
    own = [p for p in grown if p["threads"] == threads and all(p[name] == size for name, size in sizes.items())]
    return [second for point in own for second in point["seconds"]]


def size(value, one, most):
    passes = most["counts"]["passes"]
    gain = f"{one['median'] / most['median']:.2f}×"
    per_pass = statistics.median(most["pass_seconds"])
    cells = [f"{value:,}", seconds(one["median"]), seconds(most["median"]), gain]
    return cells + [f"{passes:,}", seconds(per_pass), seconds(per_pass / most["rows"]), most["termination"]]
